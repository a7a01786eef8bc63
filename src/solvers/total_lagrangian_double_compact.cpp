#include "solvers/total_lagrangian_impl.hpp"

namespace ductile {

template class TotalLagrangian<double, 3>;

}  // namespace ductile
