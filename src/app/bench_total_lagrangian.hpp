#pragma once

#include "app/bench_case.hpp"

namespace ductile::app {

[[nodiscard]] BenchCases total_lagrangian_bench_cases();
template <class Real>
[[nodiscard]] BenchResult bench_total_lagrangian(Queue& queue, const BenchOptions& options, const std::string& name);

}  // namespace ductile::app
