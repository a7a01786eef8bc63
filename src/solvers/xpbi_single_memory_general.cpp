#include "solvers/xpbi_general.hpp"

namespace ductile {

template void Xpbi<float, true>::sweep_general(Group&, MultiplierKind, Vec4<float>*, float*);

}  // namespace ductile
