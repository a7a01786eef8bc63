#include "solvers/xpbi_impl.hpp"

namespace ductile {

template class Xpbi<double, true>;

}  // namespace ductile
