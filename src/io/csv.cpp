#include "io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "common/error.hpp"
#include "io/files.hpp"

namespace ductile::io {
namespace {

/// Quoted as in RFC 4180 where a comma, quote or line end demands it.
std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

template <class Form>
std::string joined(const std::vector<std::string>& names, std::string_view separator, Form form) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += separator;
    text += form(names[i]);
  }
  return text;
}

/// Takes the names of the header line and returns its length with the line end; 0 when there is no whole header.
std::size_t take_header(std::string_view text, std::vector<std::string>& names) {
  names.assign(1, "");
  bool inside_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool doubled = c == '"' && inside_quotes && i + 1 < text.size() && text[i + 1] == '"';
    if (doubled)
      names.back() += text[++i];
    else if (c == '"')
      inside_quotes = !inside_quotes;
    else if (c == ',' && !inside_quotes)
      names.emplace_back();
    else if (c == '\n' && !inside_quotes)
      return i + 1;
    else
      names.back() += c;
  }
  return 0;
}

/// Calls use(column, value) for each number of a line (without its end); returns false where it is not `columns`
/// numbers.
template <class Use>
bool take_row(std::string_view line, std::size_t columns, Use use) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t column = 0; column < columns; ++column) {
    double value = 0;
    const auto [rest, failure] = std::from_chars(at, end, value);
    if (failure != std::errc{}) return false;
    use(column, value);
    const bool last = column + 1 == columns;
    if (last) return rest == end;
    if (rest == end || *rest != ',') return false;
    at = rest + 1;
  }
  return line.empty();
}

}  // namespace

CsvTable CsvTable::read(const std::filesystem::path& file) {
  CsvTable table;
  table.text_ = read_whole(file);
  table.header_size_ = take_header(table.text_, table.columns_);
  if (table.header_size_ == 0)
    throw InputError(fmt::format("{}:1: a line of column names was expected", file.string()));
  std::string_view rest = std::string_view(table.text_).substr(table.header_size_);
  while (!rest.empty()) {
    const auto length = rest.find('\n');
    const auto line = rest.substr(0, length);
    if (length == std::string_view::npos || !take_row(line, table.columns_.size(), [](std::size_t, double) {}))
      throw InputError(fmt::format("{}:{}: {} numbers and a line end were expected", file.string(), table.rows_ + 2,
                                   table.columns_.size()));
    rest.remove_prefix(length + 1);
    ++table.rows_;
  }
  return table;
}

std::size_t CsvTable::size_of(std::size_t rows) const {
  std::size_t end = header_size_;
  for (std::size_t i = 0; i < std::min(rows, rows_); ++i) end = text_.find('\n', end) + 1;
  return end;
}

std::vector<double> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end())
    throw InputError(fmt::format("no column \"{}\"\n    known: {}", name, joined(columns_, ", ", std::identity{})));
  const auto wanted = static_cast<std::size_t>(found - columns_.begin());
  std::vector<double> values;
  values.reserve(rows_);
  std::string_view rest = std::string_view(text_).substr(header_size_);
  for (std::size_t row = 0; row < rows_; ++row) {
    const auto length = rest.find('\n');
    take_row(rest.substr(0, length), columns_.size(), [&](std::size_t column, double value) {
      if (column == wanted) values.push_back(value);
    });
    rest.remove_prefix(length + 1);
  }
  return values;
}

CsvFile::CsvFile(std::filesystem::path file, std::vector<std::string> columns)
    : columns_(std::move(columns)), file_(std::move(file)) {
  if (columns_.empty()) throw std::invalid_argument("a table needs at least one column");
  pending_ = joined(columns_, ",", quoted) + '\n';
}

void CsvFile::add(const std::vector<double>& row) {
  if (row.size() != columns_.size())
    throw std::invalid_argument(fmt::format("a row of {} numbers for {} columns", row.size(), columns_.size()));
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) pending_ += ',';
    fmt::format_to(std::back_inserter(pending_), "{}", row[i]);
  }
  pending_ += '\n';
  ++rows_;
}

void CsvFile::go_on(std::size_t rows) {
  const auto refusal = [&](const std::string& why) {
    return InputError(
        fmt::format("{} can't be gone on with: {}. Put back the file that the run wrote, or start the run "
                    "again with --force.",
                    path().string(), why));
  };
  if (!std::filesystem::exists(path())) throw refusal("it is missing");
  const auto table = [&] {
    try {
      return CsvTable::read(path());
    } catch (const InputError& error) {
      throw refusal(error.what());
    }
  }();
  if (table.columns() != columns_) throw refusal("its columns are not those of this run");
  if (table.rows() < rows)
    throw refusal(fmt::format("the checkpoint counts {} rows in it, it has {}", rows, table.rows()));
  file_.go_on(table.size_of(rows));
  pending_.clear();
  rows_ = rows;
}

void CsvFile::write() {
  file_.write(pending_);
  pending_.clear();
}

}  // namespace ductile::io
