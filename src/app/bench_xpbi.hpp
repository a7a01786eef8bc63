#pragma once

#include "app/bench_case.hpp"

namespace ductile::app {

[[nodiscard]] BenchCases xpbi_bench_cases();
template <class Real>
[[nodiscard]] BenchResult bench_xpbi(Queue& queue, const BenchOptions& options, const std::string& name);

}  // namespace ductile::app
