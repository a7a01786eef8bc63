#include "io/vtk.hpp"

#include <fmt/format.h>
#include <vtkAOSDataArrayTemplate.h>
#include <vtkCellArray.h>
#include <vtkCommand.h>
#include <vtkDoubleArray.h>
#include <vtkErrorCode.h>
#include <vtkExecutive.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkTypeInt32Array.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <sstream>
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
        if (!data.unit.empty()) array->GetInformation()->Set(vtkDataArray::UNITS_LABEL(), data.unit.c_str());
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

/// Keeps VTK's own complaint, so that it can be part of ours instead of standing on the terminal.
class Complaints : public vtkCommand {
 public:
  static Complaints* New() { return new Complaints; }
  void Execute(vtkObject*, unsigned long, void*) override { any = true; }
  bool any = false;
};

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
  const vtkNew<Complaints> complaints;
  writer->AddObserver(vtkCommand::ErrorEvent, complaints);
  const bool written = writer->Write() != 0;
  if (writer->GetErrorCode() == ENOMEM) throw std::bad_alloc();
  if (!written || complaints->any || writer->GetErrorCode() != vtkErrorCode::NoError)
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

/// VTK's reader takes the raw data of a file that was cut as zeros, without a word.
bool ends_whole(const std::filesystem::path& file) {
  constexpr std::string_view last = "</VTKFile>";
  std::ifstream stream(file, std::ios::binary);
  std::string tail(32, '\0');
  stream.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  stream.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return stream && tail.find(last) != std::string::npos;
}

ParticleFrame::Values values_of(vtkDataArray* array, const std::string& name) {
  ParticleFrame::Values values;
  values.name = name;
  values.components = array->GetNumberOfComponents();
  if (const char* unit = array->GetInformation()->Get(vtkDataArray::UNITS_LABEL())) values.unit = unit;
  values.numbers.resize(static_cast<std::size_t>(array->GetNumberOfValues()));
  const auto components = static_cast<std::size_t>(values.components);
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
    array->GetTuple(i, &values.numbers[static_cast<std::size_t>(i) * components]);
  return values;
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

const ParticleFrame::Values* ParticleFrame::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

ParticleFrame read_particles(const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why) { throw InputError(fmt::format("{}: {}", file.string(), why)); };
  if (!std::filesystem::is_regular_file(file)) refuse("the file is missing");
  if (!ends_whole(file)) refuse("it is damaged, or not a .vtp file");
  const vtkNew<vtkXMLPolyDataReader> reader;
  const vtkNew<Complaints> complaints;
  reader->AddObserver(vtkCommand::ErrorEvent, complaints);
  reader->AddObserver(vtkCommand::WarningEvent, complaints);
  reader->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, complaints);
  reader->SetReaderErrorObserver(complaints);
  reader->SetParserErrorObserver(complaints);
  reader->SetFileName(file.c_str());
  reader->Update();
  vtkPolyData* data = reader->GetOutput();
  if (complaints->any || reader->GetErrorCode() != vtkErrorCode::NoError || data->GetPoints() == nullptr)
    refuse("it is damaged, or not a .vtp file");
  ParticleFrame frame;
  frame.particles = static_cast<std::size_t>(data->GetNumberOfPoints());
  frame.fields.push_back(values_of(data->GetPoints()->GetData(), "position"));
  if (frame.fields.back().unit.empty())
    frame.fields.back().unit.assign(1, 'm');  // not = "m": g++ 12 warns of an overlap that can't be
  for (int k = 0; k < data->GetPointData()->GetNumberOfArrays(); ++k)
    if (vtkDataArray* array = data->GetPointData()->GetArray(k))
      frame.fields.push_back(values_of(array, array->GetName() == nullptr ? "" : array->GetName()));
  return frame;
}

std::vector<std::pair<double, std::string>> read_collection(const std::filesystem::path& file) {
  const std::string text = read_whole(file);
  const vtkNew<vtkXMLDataParser> parser;
  const vtkNew<Complaints> complaints;
  parser->AddObserver(vtkCommand::ErrorEvent, complaints);
  std::istringstream stream(text);
  parser->SetStream(&stream);
  if (parser->Parse() == 0 || complaints->any)
    throw InputError(fmt::format("{}: it is damaged, or not a .pvd file", file.string()));
  vtkXMLDataElement* collection = parser->GetRootElement()->FindNestedElementWithName("Collection");
  std::vector<std::pair<double, std::string>> frames;
  for (int k = 0; collection != nullptr && k < collection->GetNumberOfNestedElements(); ++k) {
    vtkXMLDataElement* entry = collection->GetNestedElement(k);
    double time = 0;
    const char* name = entry->GetAttribute("file");
    if (entry->GetScalarAttribute("timestep", time) == 0 || name == nullptr)
      throw InputError(fmt::format("{}: entry {} lacks its time or file", file.string(), k));
    frames.emplace_back(time, name);
  }
  return frames;
}

}  // namespace ductile::io
