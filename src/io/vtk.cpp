#include "io/vtk.hpp"

#include <fmt/format.h>
#include <vtkAOSDataArrayTemplate.h>
#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkErrorCode.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkTypeInt32Array.h>
#include <vtkXMLPolyDataWriter.h>

#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "common/error.hpp"
#include "io/files.hpp"

namespace ductile::io {
namespace {

std::size_t size_of(const PointData& data) {
  return std::visit([](const auto& values) { return values.size(); }, data.values);
}

/// A view of the values, not a copy: `data` must outlive it.
vtkSmartPointer<vtkDataArray> view(const PointData& data, std::size_t particles) {
  if (size_of(data) != particles * static_cast<std::size_t>(data.components))
    throw std::invalid_argument(fmt::format("{} holds {} numbers, not {} for each of {} particles", data.name,
                                            size_of(data), data.components, particles));
  return std::visit(
      [&]<class Number>(const std::vector<Number>& values) -> vtkSmartPointer<vtkDataArray> {
        const auto array = vtkSmartPointer<vtkAOSDataArrayTemplate<Number>>::New();
        array->SetName(data.name.c_str());
        array->SetNumberOfComponents(data.components);
        constexpr int keep_ownership = 1;  // VTK must not free it; the writer only reads it
        array->SetArray(const_cast<Number*>(values.data()), static_cast<vtkIdType>(values.size()), keep_ownership);
        return array;
      },
      data.values);
}

/// One vertex per particle, so that ParaView draws, selects and thresholds particles without a filter before.
vtkSmartPointer<vtkCellArray> vertices(std::size_t particles) {
  const auto count = static_cast<vtkIdType>(particles);
  const vtkNew<vtkTypeInt32Array> offsets, points;  // 32 bits: half the size of VTK's default
  offsets->SetNumberOfValues(count + 1);
  points->SetNumberOfValues(count);
  std::iota(offsets->GetPointer(0), offsets->GetPointer(0) + count + 1, 0);
  std::iota(points->GetPointer(0), points->GetPointer(0) + count, 0);
  const auto cells = vtkSmartPointer<vtkCellArray>::New();
  cells->SetData(offsets, points);
  return cells;
}

/// The .vtp as bytes: raw appended, uncompressed, little endian, 64-bit block headers.
std::string serialized(vtkPolyData* particles, const std::filesystem::path& file) {
  const vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(particles);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetCompressorTypeToNone();
  writer->SetByteOrderToLittleEndian();
  writer->SetHeaderTypeToUInt64();
  writer->WriteToOutputStringOn();
  if (writer->Write() == 0 || writer->GetErrorCode() != vtkErrorCode::NoError)
    throw SimulationError(fmt::format("cannot write {}: VTK could not encode it (its error code is {})", file.string(),
                                      writer->GetErrorCode()));
  return writer->GetOutputString();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace

void write_particles(const std::filesystem::path& file, const PointData& positions, std::span<const PointData> data,
                     double time) {
  if (positions.components != 3) throw std::invalid_argument("positions have three components");
  const std::size_t count = size_of(positions) / 3;
  if (count >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::invalid_argument("more particles than 32-bit vertices can name");
  const vtkNew<vtkPoints> points;
  points->SetData(view(positions, count));
  const vtkNew<vtkPolyData> particles;
  particles->SetPoints(points);
  particles->SetVerts(vertices(count));
  // Plain arrays: none is marked as active scalars, vectors or tensors, which filters would pick up unasked.
  for (const auto& quantity : data) particles->GetPointData()->AddArray(view(quantity, count));
  const vtkNew<vtkDoubleArray> time_value;  // the name that ParaView and VTK's readers look for
  time_value->SetName("TimeValue");
  time_value->InsertNextValue(time);
  particles->GetFieldData()->AddArray(time_value);
  write_whole(file, serialized(particles, file));
}

void write_collection(const std::filesystem::path& file, std::span<const std::pair<double, std::string>> frames) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  for (const auto& [time, name] : frames)
    fmt::format_to(std::back_inserter(text), "    <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", time,
                   escaped(name));
  text += "  </Collection>\n</VTKFile>\n";
  write_whole(file, text);
}

}  // namespace ductile::io
