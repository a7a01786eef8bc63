#if defined(DUCTILE_BACKEND_DPCPP_JIT)

#include "runtime/jit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <sycl/kernel_bundle.hpp>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace ductile::jit {
namespace {

namespace syclex = sycl::ext::oneapi::experimental;

std::vector<Header>& headers() {
  static std::vector<Header> all;
  return all;
}

std::vector<KernelType>& kernel_types() {
  static std::vector<KernelType> all;
  return all;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto part_of_name = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if (!part_of_name(at - 1) && !part_of_name(at + word.size())) return true;
  return false;
}

/// The arguments of a template as it is spelled: "A<B, C<D, E> >" has "B" and "C<D, E>".
std::vector<std::string_view> template_arguments(std::string_view name) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' && depth++ == 0) begin = i + 1;
    if (const bool last = name[i] == '>' && --depth == 0; last || (name[i] == ',' && depth == 1)) {
      while (name[begin] == ' ') ++begin;
      std::size_t end = i;
      while (name[end - 1] == ' ') --end;
      arguments.push_back(name.substr(begin, end - begin));
      begin = i + 1;
    }
  }
  return arguments;
}

/// Which kernels are compiled together. A run uses one precision and few of the many materials, and compiling all would
/// take minutes. So kernels fall into groups by the precision they name, and by their variant: a class that is template
/// argument of at least three different kernels, as materials are. Kernels without a variant are used by nearly every
/// run.
struct Group {
  enum Precision { neutral, single_precision, double_precision };
  Precision precision = neutral;
  std::string_view variant;
};

std::vector<Group> group_kernels() {
  constexpr std::size_t kernels_of_a_variant = 3;
  std::map<std::string_view, std::set<std::string_view>> users;
  for (const KernelType& type : kernel_types())
    for (const auto argument : template_arguments(type.name))
      if (argument.find("::") != std::string_view::npos)
        users[argument].insert(type.name.substr(0, type.name.find('<')));
  std::vector<Group> groups;
  for (const KernelType& type : kernel_types()) {
    Group group;
    // Sums in double precision over single-precision particles belong to the single-precision run.
    if (has_word(type.name, "float"))
      group.precision = Group::single_precision;
    else if (has_word(type.name, "double"))
      group.precision = Group::double_precision;
    for (const auto argument : template_arguments(type.name))
      if (const auto found = users.find(argument); found != users.end() && found->second.size() >= kernels_of_a_variant)
        group.variant = argument;
    groups.push_back(group);
  }
  return groups;
}

/// Where the headers live for the run-time compiler. Not a real folder.
constexpr const char* virtual_root = "/ductile-kernels";

constexpr const char* entry_point = R"(
namespace ductile_jit {
template <class Kernel>
SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void run(Kernel kernel, std::size_t count) {
  const std::size_t i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id();
  if (i < count) kernel(i);
}
}
)";

std::string function_name(const KernelType& type) { return fmt::format("ductile_jit::run<{}>", type.name); }

/// The asserts also make the compiler complete each type: it crashes on a template that is only named.
std::string program_text(const std::vector<std::size_t>& numbers) {
  std::string text;
  // In angle brackets: with quotes the compiler would look in the user's folder first.
  for (const Header& header : headers()) text += fmt::format("#include <{}>\n", header.path);
  text += entry_point;
  for (const std::size_t number : numbers) {
    const KernelType& type = kernel_types()[number];
    text += fmt::format("static_assert(sizeof({0}) == {1} && alignof({0}) == {2}, \"{3}\");\n", type.name, type.size,
                        type.alignment, "host and device lay out this kernel differently");
  }
  return text;
}

using Bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

Bundle build(const sycl::context& context, const sycl::device& device, const std::string& text,
             const std::vector<std::string>& names) {
  syclex::include_files files;
  for (const Header& header : headers())
    files.add(fmt::format("{}/{}", virtual_root, header.path), std::string(header.text));
  const syclex::properties properties{
      syclex::build_options{std::vector<std::string>{"-std=c++20", "-O3", fmt::format("-I{}", virtual_root),
                                                     "-fno-fast-math", "-ffp-contract=fast"}},
      syclex::registered_names{names}};
  auto source =
      syclex::create_kernel_bundle_from_source(context, syclex::source_language::sycl, text, syclex::properties{files});
  return syclex::build(source, std::vector<sycl::device>{device}, properties);
}

/// The kernels compiled so far for one device.
class Program {
 public:
  explicit Program(const sycl::queue& queue)
      : context_(queue.get_context()),
        device_(queue.get_device()),
        groups_(group_kernels()),
        kernels_(kernel_types().size()) {}

  [[nodiscard]] bool is_for(const sycl::queue& queue) const {
    return queue.get_context() == context_ && queue.get_device() == device_;
  }
  void compile(const Group& wanted);
  /// The kernel and its work-group size.
  const std::pair<sycl::kernel, std::size_t>& get(std::size_t number) {
    if (!kernels_[number]) compile(groups_[number]);
    if (!kernels_[number])
      throw DeviceError(fmt::format("The device \"{}\" has no double precision, which {} needs.",
                                    device_.get_info<sycl::info::device::name>(), kernel_types()[number].name));
    return *kernels_[number];
  }

 private:
  [[nodiscard]] bool is_due(std::size_t number, const Group& wanted) const;
  [[nodiscard]] std::size_t preferred_group(bool heavy) const {
    if (heavy) return device_.is_cpu() ? 1 : 32;
    return device_.is_cpu() ? 64 : 256;
  }

  sycl::context context_;
  sycl::device device_;
  std::vector<Group> groups_;
  std::vector<std::optional<std::pair<sycl::kernel, std::size_t>>> kernels_;
};

/// Besides the group itself: what has no variant, and what has no precision.
bool Program::is_due(std::size_t number, const Group& wanted) const {
  static const bool all_variants = std::getenv("DUCTILE_COMPILE_ALL") != nullptr;
  const Group& group = groups_[number];
  const bool precision = group.precision == wanted.precision || group.precision == Group::neutral;
  const bool variant = group.variant.empty() || group.variant == wanted.variant || all_variants;
  const bool possible = device_.has(sycl::aspect::fp64) || !has_word(kernel_types()[number].name, "double");
  return !kernels_[number] && precision && variant && possible;
}

void Program::compile(const Group& wanted) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    if (is_due(i, wanted)) numbers.push_back(i);
  // In an order that no linker changes: the cache goes by the text.
  std::sort(numbers.begin(), numbers.end(),
            [](std::size_t a, std::size_t b) { return kernel_types()[a].name < kernel_types()[b].name; });
  std::vector<std::string> names;
  for (const std::size_t number : numbers) names.push_back(function_name(kernel_types()[number]));
  if (names.empty()) return;
  try {
    Bundle bundle = build(context_, device_, program_text(numbers), names);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const sycl::kernel kernel = bundle.ext_oneapi_get_kernel(names[k]);
      const auto most = kernel.get_info<sycl::info::kernel_device_specific::work_group_size>(device_);
      kernels_[numbers[k]].emplace(kernel, std::min(preferred_group(kernel_types()[numbers[k]].heavy), most));
    }
  } catch (const sycl::exception& error) {
    throw DeviceError(fmt::format("The kernels don't compile for the device \"{}\":\n{}",
                                  device_.get_info<sycl::info::device::name>(), error.what()));
  }
}

Program& program_of(const sycl::queue& queue) {
  // Never destroyed: at exit the driver may be gone before its kernels.
  static auto& programs = *new std::vector<Program>;
  for (Program& program : programs)
    if (program.is_for(queue)) return program;
  return programs.emplace_back(queue);
}

}  // namespace

Headers::Headers(std::initializer_list<Header> added) { headers().insert(headers().end(), added); }

void prepare(const sycl::queue& queue, bool double_precision) {
  program_of(queue).compile({double_precision ? Group::double_precision : Group::single_precision, {}});
}

namespace detail {

std::size_t add_kernel(const KernelType& type) {
  kernel_types().push_back(type);
  return kernel_types().size() - 1;
}

sycl::event submit(sycl::queue& queue, std::size_t count, std::size_t number, const void* argument) {
  const auto& [kernel, group] = program_of(queue).get(number);
  const std::size_t items = (count + group - 1) / group * group;
  return queue.submit([&, &run = kernel, size = group](sycl::handler& handler) {
    handler.set_arg(0, syclex::raw_kernel_arg(argument, kernel_types()[number].size));
    handler.set_arg(1, count);
    handler.parallel_for(sycl::nd_range<1>(items, size), run);
  });
}

}  // namespace detail
}  // namespace ductile::jit

#endif
