#if defined(DUCTILE_BACKEND_DPCPP_JIT)

#include <fmt/format.h>

#include <sycl/kernel_bundle.hpp>
#include <sycl/version.hpp>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/jit.hpp"
#include "runtime/queue.hpp"

namespace ductile {

std::string backend_name() { return "dpcpp-jit"; }

std::string backend_compiler() {
  return fmt::format("DPC++ {} at run time (host code: g++ {})", __SYCL_COMPILER_VERSION, __VERSION__);
}

namespace {

void set_default(const char* variable, const std::string& value) { setenv(variable, value.c_str(), /*overwrite=*/0); }

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

/// The CPU compiler's automatic vectorisation across work-items; see docs/devices.md for what it gains and costs.
constexpr const char* vectorizer = "CL_CONFIG_CPU_VECTORIZER_MODE";
constexpr const char* threads_variable = "DPCPP_CPU_NUM_CUS";

/// Compiled kernels stay here between runs. The runtime doesn't count the vectoriser's mode among what makes two
/// programs different, so each mode has a folder.
std::string cache_folder() {
  std::filesystem::path base = environment("XDG_CACHE_HOME");
  if (base.empty() && !environment("HOME").empty()) base = std::filesystem::path(environment("HOME")) / ".cache";
  if (base.empty()) return "";
  return base / "ductile" / ("dpcpp-jit-vectorizer-" + environment(vectorizer));
}

}  // namespace

namespace backend {

void prepare(int threads) {
  static bool done = false;
  if (done) return;
  done = true;
  if (threads > 0) setenv(threads_variable, std::to_string(threads).c_str(), /*overwrite=*/1);
  set_default("OCL_ICD_FILENAMES", DUCTILE_DPCPP_LIB "/libintelocl.so");
  set_default(vectorizer, "0");
  if (const std::string folder = cache_folder(); !folder.empty()) {
    set_default("SYCL_CACHE_PERSISTENT", "1");
    set_default("SYCL_CACHE_DIR", folder);
  }
}

int threads() {
  const int asked = std::atoi(environment(threads_variable).c_str());
  return asked > 0 ? asked : static_cast<int>(std::thread::hardware_concurrency());
}

std::vector<sycl::device> devices() {
  prepare(0);
  std::vector<sycl::device> usable;
  try {
    for (auto& device : sycl::device::get_devices())
      if (device.ext_oneapi_can_build(sycl::ext::oneapi::experimental::source_language::sycl)) usable.push_back(device);
  } catch (const sycl::exception& error) {
    throw DeviceError(fmt::format("The DPC++ runtime failed to list its devices: {}", error.what()));
  }
  if (usable.empty())
    throw DeviceError(
        fmt::format("The DPC++ runtime found no device that it can compile for. Its CPU driver is expected as {}: "
                    "`tools/setup --python` installs it. OCL_ICD_FILENAMES and ONEAPI_DEVICE_SELECTOR, if set, "
                    "must let it through.",
                    environment("OCL_ICD_FILENAMES")));
  return usable;
}

void compile_kernels(const sycl::queue& queue, bool double_precision) { jit::prepare(queue, double_precision); }

}  // namespace backend

namespace jit {
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

enum class Kind { single_precision, double_precision, neutral };

Kind kind_of(const KernelType& type) {
  if (has_word(type.name, "double")) return Kind::double_precision;
  return has_word(type.name, "float") ? Kind::single_precision : Kind::neutral;
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
  for (const Header& header : headers()) text += fmt::format("#include \"{}\"\n", header.path);
  text += entry_point;
  for (const std::size_t number : numbers) {
    const KernelType& type = kernel_types()[number];
    text += fmt::format(
        "static_assert(sizeof({0}) == {1} && alignof({0}) == {2}, \"host and device lay out this kernel "
        "differently\");\n",
        type.name, type.size, type.alignment);
  }
  return text;
}

/// The kernels compiled so far for one device.
class Program {
 public:
  Program(const sycl::context& context, const sycl::device& device)
      : context_(context), device_(device), kernels_(kernel_types().size()) {}

  [[nodiscard]] bool is_for(const sycl::queue& queue) const {
    return queue.get_context() == context_ && queue.get_device() == device_;
  }
  void compile(Kind wanted);
  /// The kernel and its work-group size.
  const std::pair<sycl::kernel, std::size_t>& get(std::size_t number) {
    if (!kernels_[number]) compile(kind_of(kernel_types()[number]));
    return *kernels_[number];
  }

 private:
  sycl::context context_;
  sycl::device device_;
  std::vector<std::optional<std::pair<sycl::kernel, std::size_t>>> kernels_;
};

sycl::kernel_bundle<sycl::bundle_state::executable> build(const sycl::context& context, const sycl::device& device,
                                                          const std::string& text,
                                                          const std::vector<std::string>& names) {
  syclex::include_files files;
  for (const Header& header : headers())
    files.add(fmt::format("{}/{}", virtual_root, header.path), std::string(header.text));
  const std::vector<std::string> options = {"-std=c++20", "-O3", fmt::format("-I{}", virtual_root), "-fno-fast-math",
                                            "-ffp-contract=fast"};
  try {
    auto source = syclex::create_kernel_bundle_from_source(context, syclex::source_language::sycl, text,
                                                           syclex::properties{files});
    return syclex::build(source, std::vector<sycl::device>{device},
                         syclex::properties{syclex::build_options{options}, syclex::registered_names{names}});
  } catch (const sycl::exception& error) {
    throw DeviceError(fmt::format("The kernels don't compile for the device \"{}\":\n{}",
                                  device.get_info<sycl::info::device::name>(), error.what()));
  }
}

void Program::compile(Kind wanted) {
  if (wanted == Kind::double_precision && !device_.has(sycl::aspect::fp64))
    throw DeviceError(
        fmt::format("The device \"{}\" has no double precision. Use solver.precision = \"single\" or "
                    "another device.",
                    device_.get_info<sycl::info::device::name>()));
  std::vector<std::size_t> numbers;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Kind kind = kind_of(kernel_types()[i]);
    if (kernels_[i] || (kind != wanted && kind != Kind::neutral)) continue;
    numbers.push_back(i);
    names.push_back(function_name(kernel_types()[i]));
  }
  if (numbers.empty()) return;
  auto bundle = build(context_, device_, program_text(numbers), names);
  const std::size_t preferred = device_.is_cpu() ? 64 : 256;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const sycl::kernel kernel = bundle.ext_oneapi_get_kernel(names[k]);
    const auto most = kernel.get_info<sycl::info::kernel_device_specific::work_group_size>(device_);
    kernels_[numbers[k]].emplace(kernel, std::min(preferred, most));
  }
}

Program& program_of(const sycl::queue& queue) {
  // Never destroyed: at exit the driver may be gone before its kernels.
  static auto& programs = *new std::vector<Program>;
  for (Program& program : programs)
    if (program.is_for(queue)) return program;
  return programs.emplace_back(queue.get_context(), queue.get_device());
}

}  // namespace

Headers::Headers(std::initializer_list<Header> added) { headers().insert(headers().end(), added); }

void prepare(const sycl::queue& queue, bool double_precision) {
  program_of(queue).compile(double_precision ? Kind::double_precision : Kind::single_precision);
}

namespace detail {

std::size_t add_kernel(const KernelType& type) {
  kernel_types().push_back(type);
  return kernel_types().size() - 1;
}

sycl::event submit(sycl::queue& queue, std::size_t count, std::size_t number, const void* argument) {
  const auto& [kernel, group] = program_of(queue).get(number);
  const std::size_t items = (count + group - 1) / group * group;
  return queue.submit([&](sycl::handler& handler) {
    handler.set_arg(0, syclex::raw_kernel_arg(argument, kernel_types()[number].size));
    handler.set_arg(1, count);
    handler.parallel_for(sycl::nd_range<1>(items, group), kernel);
  });
}

}  // namespace detail
}  // namespace jit
}  // namespace ductile

#endif
