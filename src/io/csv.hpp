#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ductile::io {

/// A table of numbers with named columns, kept as the text of its file: writing a long history costs one write.
/// Numbers have the fewest digits that read back to the same double.
class CsvTable {
 public:
  explicit CsvTable(std::vector<std::string> columns);
  /// Throws InputError with file and line where it is not a table of numbers. The text stays byte for byte.
  [[nodiscard]] static CsvTable read(const std::filesystem::path& file);

  void add(const std::vector<double>& row);
  /// Drops all rows after the first `rows`.
  void truncate(std::size_t rows);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// All values of one column; throws InputError with the known names.
  [[nodiscard]] std::vector<double> column(std::string_view name) const;

 private:
  CsvTable() = default;

  std::vector<std::string> columns_;
  std::string text_;
  std::size_t header_size_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace ductile::io
