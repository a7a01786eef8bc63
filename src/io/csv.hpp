#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.hpp"

namespace ductile::io {

/// A table of numbers with named columns, as it was read from a file.
class CsvTable {
 public:
  /// Throws InputError with file and line where it is not a table of numbers. The text stays byte for byte.
  [[nodiscard]] static CsvTable read(const std::filesystem::path& file);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// All values of one column; throws InputError with the known names.
  [[nodiscard]] std::vector<double> column(std::string_view name) const;
  /// Size of the text up to the end of the first `rows` rows.
  [[nodiscard]] std::size_t size_of(std::size_t rows) const;

 private:
  std::vector<std::string> columns_;
  std::string text_;
  std::size_t header_size_ = 0;
  std::size_t rows_ = 0;
};

/// A table of numbers that grows row by row; memory holds only what is not on disk yet. Numbers have the fewest digits
/// that read back to the same double.
class CsvFile {
 public:
  CsvFile(std::filesystem::path file, std::vector<std::string> columns);

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  void add(const std::vector<double>& row);
  /// Goes on behind the first `rows` rows of the table on disk. Throws InputError where they are not there.
  void go_on(std::size_t rows);
  /// Puts all rows on disk: the file is replaced whole or, with SimulationError, not at all.
  void write();

 private:
  std::vector<std::string> columns_;
  GrowingFile file_;
  std::string pending_;
  std::size_t rows_ = 0;
};

}  // namespace ductile::io
