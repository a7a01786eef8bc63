#include "solvers/xpbi_impl.hpp"

namespace ductile {

template class Xpbi<float, false>;

}  // namespace ductile
