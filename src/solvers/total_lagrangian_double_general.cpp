#include "solvers/total_lagrangian_impl.hpp"

namespace ductile {

template class TotalLagrangian<double, 4>;

}  // namespace ductile
