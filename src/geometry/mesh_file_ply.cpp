#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "geometry/binary_numbers.hpp"
#include "geometry/mesh_files.hpp"
#include "geometry/text_scanner.hpp"

namespace ductile::geometry {
namespace {

constexpr std::string_view export_again = "the file is damaged: export it again";

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };
enum class Coding { text, little_endian, big_endian };

struct Property {
  std::string name;
  bool list = false;
  Type type = Type::f32;       // of the value, or of the entries of a list
  Type count_type = Type::u8;  // of the length of a list
};

struct Element {
  std::string name;
  std::size_t count = 0;
  std::vector<Property> properties{};
};

struct Header {
  Coding coding = Coding::text;
  std::vector<Element> elements;
  std::size_t bytes = 0;  // of the header
  std::size_t lines = 0;
};

std::size_t bytes_of(Type type) {
  switch (type) {
    case Type::i8:
    case Type::u8:
      return 1;
    case Type::i16:
    case Type::u16:
      return 2;
    case Type::f64:
      return 8;
    default:
      return 4;
  }
}

bool is_whole(Type type) { return type != Type::f32 && type != Type::f64; }

Type parse_type(const TextScanner& text, std::string_view word) {
  struct Name {
    std::string_view classic, sized;
    Type type;
  };
  constexpr Name names[] = {{"char", "int8", Type::i8},      {"uchar", "uint8", Type::u8},
                            {"short", "int16", Type::i16},   {"ushort", "uint16", Type::u16},
                            {"int", "int32", Type::i32},     {"uint", "uint32", Type::u32},
                            {"float", "float32", Type::f32}, {"double", "float64", Type::f64}};
  for (const auto& name : names)
    if (word == name.classic || word == name.sized) return name.type;
  text.fail("unknown type of a property", "expected char, uchar, short, ushort, int, uint, float or double");
}

Property parse_property(TextScanner& text) {
  Property property;
  auto type = text.word();
  property.list = type == "list";
  if (property.list) {
    property.count_type = parse_type(text, text.word());
    if (!is_whole(property.count_type)) text.fail("the length of a list must be a whole number", export_again);
    type = text.word();
  }
  property.type = parse_type(text, type);
  property.name = text.word();
  return property;
}

Coding parse_format(TextScanner& text) {
  const auto word = text.word();
  if (word == "ascii") return Coding::text;
  if (word == "binary_little_endian") return Coding::little_endian;
  if (word == "binary_big_endian") return Coding::big_endian;
  text.fail("unknown PLY format", "expected ascii, binary_little_endian or binary_big_endian");
}

Header parse_header(std::string_view bytes, const std::string& name) {
  Header header;
  TextScanner text(bytes, name, {});
  if (!text.next_line() || text.word() != "ply")
    text.fail("this is no PLY file: it does not start with 'ply'", export_again);
  bool format_known = false;
  for (;;) {
    if (!text.next_line()) text.fail("the header has no 'end_header'", export_again);
    const auto keyword = text.word();
    if (keyword == "end_header") break;
    if (keyword == "comment" || keyword == "obj_info") continue;
    if (keyword == "format") {
      header.coding = parse_format(text);
      format_known = true;
    } else if (keyword == "element") {
      Element element{.name = std::string(text.word())};
      const auto count = text.integer(text.word());
      // Every record takes at least a byte.
      if (count < 0 || static_cast<std::size_t>(count) > bytes.size())
        text.fail(fmt::format("{} elements are more than the file can hold", count), export_again);
      element.count = static_cast<std::size_t>(count);
      header.elements.push_back(std::move(element));
    } else if (keyword == "property" && !header.elements.empty()) {
      header.elements.back().properties.push_back(parse_property(text));
    } else {
      text.fail("this line does not belong into the header of a PLY file", export_again);
    }
  }
  if (!format_known) text.fail("the header has no 'format' line", export_again);
  header.lines = text.line_number();
  header.bytes = bytes.size() - text.bytes_left();
  return header;
}

/// The values of a text body, in the order of the header.
class TextValues {
 public:
  TextValues(std::string_view bytes, const std::string& name, const Header& header)
      : text_(bytes.substr(header.bytes), name, {}, header.lines) {}

  double value(Type) { return text_.number(text_.word_across_lines()); }
  std::int64_t whole(Type) { return text_.integer(text_.word_across_lines()); }
  [[noreturn]] void fail(std::string_view what) const { text_.fail(what, export_again); }
  /// Skipped values may be anything.
  void skip(Type) { static_cast<void>(text_.word_across_lines()); }

 private:
  TextScanner text_;
};

/// The values of a binary body.
class BinaryValues {
 public:
  BinaryValues(std::string_view bytes, const std::string& name, const Header& header)
      : bytes_(bytes),
        name_(name),
        offset_(header.bytes),
        order_(header.coding == Coding::big_endian ? std::endian::big : std::endian::little) {}

  double value(Type type) {
    const double number = next(type);
    if (!std::isfinite(number)) fail("a coordinate is not finite");
    return number;
  }
  std::int64_t whole(Type type) { return static_cast<std::int64_t>(next(type)); }
  void skip(Type type) { next(type); }
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("{}: byte {}: {}\n    {}", name_, offset_, what, export_again));
  }

 private:
  /// Every type of the format fits a double exactly.
  double next(Type type) {
    if (bytes_.size() - offset_ < bytes_of(type)) fail("the file ends too early");
    const auto start = offset_;
    offset_ += bytes_of(type);
    switch (type) {
      case Type::i8:
        return stored_number<std::int8_t>(bytes_, start, order_);
      case Type::u8:
        return stored_number<std::uint8_t>(bytes_, start, order_);
      case Type::i16:
        return stored_number<std::int16_t>(bytes_, start, order_);
      case Type::u16:
        return stored_number<std::uint16_t>(bytes_, start, order_);
      case Type::i32:
        return stored_number<std::int32_t>(bytes_, start, order_);
      case Type::u32:
        return stored_number<std::uint32_t>(bytes_, start, order_);
      case Type::f32:
        return double{stored_number<float>(bytes_, start, order_)};
      case Type::f64:
        return stored_number<double>(bytes_, start, order_);
    }
    return 0;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t offset_;
  std::endian order_;
};

/// A list that nobody reads, or a value.
template <class Values>
void skip_property(Values& values, const Property& property) {
  std::int64_t count = 1;
  if (property.list) count = values.whole(property.count_type);
  if (count < 0) values.fail("the length of a list is negative");
  for (std::int64_t entry = 0; entry < count; ++entry) values.skip(property.type);
}

template <class Values>
void read_vertices(Values& values, const Element& element, TriangleSoup& soup) {
  soup.vertices.reserve(element.count);
  for (std::size_t v = 0; v < element.count; ++v) {
    Eigen::Vector3d p = Eigen::Vector3d::Zero();
    for (const auto& property : element.properties) {
      if (!property.list && property.name == "x") {
        p.x() = values.value(property.type);
      } else if (!property.list && property.name == "y") {
        p.y() = values.value(property.type);
      } else if (!property.list && property.name == "z") {
        p.z() = values.value(property.type);
      } else {
        skip_property(values, property);
      }
    }
    soup.vertices.push_back(p);
  }
}

bool is_corner_list(const Property& property) {
  return property.list && (property.name == "vertex_indices" || property.name == "vertex_index");
}

template <class Values>
void read_faces(Values& values, const Element& element, std::size_t vertices, TriangleSoup& soup) {
  std::vector<std::uint32_t> corners;
  for (std::size_t f = 0; f < element.count; ++f)
    for (const auto& property : element.properties) {
      if (!is_corner_list(property)) {
        skip_property(values, property);
        continue;
      }
      const auto size = values.whole(property.count_type);
      if (size < 3) values.fail("a face has fewer than three corners");
      corners.clear();
      for (std::int64_t corner = 0; corner < size; ++corner) {
        const auto index = values.whole(property.type);
        if (index < 0 || static_cast<std::size_t>(index) >= vertices)
          values.fail(fmt::format("a face uses vertex {}, but the indices go from 0 to {}", index,
                                  static_cast<std::int64_t>(vertices) - 1));
        corners.push_back(static_cast<std::uint32_t>(index));
      }
      soup.add_polygon(corners);
    }
}

template <class Values>
TriangleSoup read_body(Values values, const Header& header) {
  std::size_t vertices = 0;
  for (const auto& element : header.elements)
    if (element.name == "vertex") vertices = element.count;
  TriangleSoup soup;
  for (const auto& element : header.elements) {
    if (element.name == "vertex") {
      read_vertices(values, element, soup);
    } else if (element.name == "face") {
      read_faces(values, element, vertices, soup);
    } else {
      for (std::size_t record = 0; record < element.count; ++record)
        for (const auto& property : element.properties) skip_property(values, property);
    }
  }
  return soup;
}

/// One vertex element with x, y and z, and one face element with its list of corners, each property once: what the
/// readers above rely on.
void check_header(const Header& header, const std::string& name) {
  const auto fail = [&](std::string_view what) {
    throw InputError(
        fmt::format("{}: {}\n    a mesh needs 'element vertex' with properties x, y, z and 'element face' "
                    "with 'property list uchar int vertex_indices'; export it so",
                    name, what));
  };
  int vertex_elements = 0, face_elements = 0;
  for (const auto& element : header.elements) {
    if (element.count > 0 && element.properties.empty()) fail("an element has no property");
    int coordinates[3] = {0, 0, 0}, lists = 0;
    for (const auto& property : element.properties) {
      for (int axis = 0; axis < 3; ++axis)
        coordinates[axis] += !property.list && property.name == std::string_view("xyz").substr(std::size_t(axis), 1);
      lists += is_corner_list(property) && is_whole(property.type);
      if (is_corner_list(property) && !is_whole(property.type)) fail("the vertex indices are not whole numbers");
    }
    vertex_elements += element.name == "vertex";
    face_elements += element.name == "face";
    if (element.name == "vertex" && !(coordinates[0] == 1 && coordinates[1] == 1 && coordinates[2] == 1))
      fail("a vertex does not have one x, one y and one z");
    if (element.name == "face" && lists != 1) fail("a face does not have one list of vertex indices");
  }
  if (vertex_elements != 1) fail("the header does not declare one element 'vertex'");
  if (face_elements != 1) fail("the header does not declare one element 'face'");
}

}  // namespace

TriangleSoup read_ply(std::string_view bytes, const std::string& name) {
  const auto header = parse_header(bytes, name);
  check_header(header, name);
  if (header.coding == Coding::text) return read_body(TextValues(bytes, name, header), header);
  return read_body(BinaryValues(bytes, name, header), header);
}

}  // namespace ductile::geometry
