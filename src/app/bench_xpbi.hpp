#pragma once

#include <utility>

#include "app/bench.hpp"
#include "app/bench_case.hpp"

namespace ductile::app {

[[nodiscard]] std::vector<std::pair<std::string, std::string>> xpbi_bench_cases();
template <class Real>
[[nodiscard]] BenchResult bench_xpbi(Queue& queue, const BenchOptions& options, const std::string& name);

}  // namespace ductile::app
