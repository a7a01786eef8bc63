// Compiled on its own by the check hostsycl.vectorises: the host back end is worth having only if the compiler turns a
// plain streaming kernel into vector instructions.
#include <sycl/sycl.hpp>

namespace {

struct Triad {
  const float* a;
  const float* b;
  float* c;

  void operator()(std::size_t i) const { c[i] = a[i] + 3.0f * b[i]; }
};

}  // namespace

void triad(sycl::queue& queue, const float* a, const float* b, float* c, std::size_t size) {
  queue.parallel_for(sycl::range<1>(size), Triad{a, b, c});
}
