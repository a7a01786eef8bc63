#pragma once

#include <string>
#include <vector>

namespace ductile::app {

/// Writes to standard error. Work goes on when nobody can read it: a closed terminal, a full disk.
void tell(const std::string& text) noexcept;

/// Columns padded to their widest cell; the first is left-aligned, the others right-aligned. The first row is the head.
[[nodiscard]] std::string format_table(const std::vector<std::vector<std::string>>& rows);
/// "850 ms", "12.3 s", "4 min 10 s", "2 h 05 min"
[[nodiscard]] std::string format_seconds(double seconds);
/// "12.3 MB", "1.45 GB"
[[nodiscard]] std::string format_bytes(double bytes);
/// "950", "12.3 k", "10.4 M"
[[nodiscard]] std::string format_count(double count);

}  // namespace ductile::app
