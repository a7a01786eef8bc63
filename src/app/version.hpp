#pragma once

namespace ductile::app {

inline constexpr const char* version = DUCTILE_VERSION;

}  // namespace ductile::app
