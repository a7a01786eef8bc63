#include "solvers/xpbi_general.hpp"

namespace ductile {

template void Xpbi<float, false>::sweep_general(Group&, MultiplierKind, Vec4<float>*, float*);

}  // namespace ductile
