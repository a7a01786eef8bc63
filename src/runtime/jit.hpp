#pragma once

// Kernels compiled at run time. The host compiler never sees device code: it notes the name of every kernel type that
// is launched somewhere in the program, and the first launch hands those that a run needs, with the text of the kernel
// headers (which is part of the program), to the compiler inside the DPC++ runtime.

#include <sycl/sycl.hpp>

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace ductile::jit {

/// A header for the run-time compiler: its path as in #include, and its text.
struct Header {
  std::string_view path, text;
};

/// Makes headers known before main(); one static object per set, in a source file that the build generates.
struct Headers {
  Headers(std::initializer_list<Header> headers);
};

/// What the run-time compiler has to know about a kernel type. Size and alignment are checked there: both compilers
/// must lay out the struct alike.
struct KernelType {
  std::string_view name;
  std::size_t size, alignment;
  bool heavy;  ///< few, long work-items
};

namespace detail {

template <class Kernel>
constexpr const char* pretty_name() {
  return __PRETTY_FUNCTION__;
}

/// The type as C++ spells it, cut out of "... [with Kernel = NAME]".
template <class Kernel>
constexpr std::string_view type_name() {
  constexpr std::string_view text = pretty_name<Kernel>();
  constexpr std::string_view before = "Kernel = ";
  constexpr std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.size() - begin - 1);
}

constexpr bool nameable(std::string_view name) {
  for (const std::string_view part : {"{anonymous}", "(anonymous", "<lambda", "(lambda", "<unnamed"})
    if (name.find(part) != std::string_view::npos) return false;
  return true;
}

/// Notes the kernel type; returns its number.
std::size_t add_kernel(const KernelType& type);

template <class Kernel>
concept Heavy = requires {
  Kernel::heavy;
};

/// Set before main() for every kernel type of the program: used by submit(), hence instantiated.
template <class Kernel>
inline const std::size_t kernel_number = add_kernel({type_name<Kernel>(), sizeof(Kernel), alignof(Kernel),
                                                     Heavy<Kernel>});

sycl::event submit(sycl::queue& queue, std::size_t count, std::size_t kernel_number, const void* kernel);

}  // namespace detail

/// Compiles what nearly every run in this precision uses, unless that has been done. Kernels for one material are
/// compiled when they are first launched.
void prepare(const sycl::queue& queue, bool double_precision);

/// Runs kernel(i) for i in [0, count).
template <class Kernel>
sycl::event submit(sycl::queue& queue, std::size_t count, const Kernel& kernel) {
  static_assert(detail::nameable(detail::type_name<Kernel>()),
                "a kernel compiled at run time needs a type that a header of kernels/ names: no lambdas in it");
  return detail::submit(queue, count, detail::kernel_number<Kernel>, &kernel);
}

}  // namespace ductile::jit
