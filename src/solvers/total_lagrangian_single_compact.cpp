#include "solvers/total_lagrangian_impl.hpp"

namespace ductile {

template class TotalLagrangian<float, 3>;

}  // namespace ductile
