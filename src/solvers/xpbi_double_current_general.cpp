#include "solvers/xpbi_general.hpp"

namespace ductile {

template void Xpbi<double, false>::sweep_general(Group&, MultiplierKind, Vec4<double>*, double*);

}  // namespace ductile
