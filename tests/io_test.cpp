#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "io/checkpoint.hpp"
#include "io/csv.hpp"
#include "io/files.hpp"
#include "io/vtk.hpp"

namespace ductile::io {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for every test, removed at its end.
class IoTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ductile-io-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_;
};

using Files = IoTest;
using Vtk = IoTest;
using CheckpointFile = IoTest;
using Csv = IoTest;

template <class Error, class Call>
std::string error_text(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, AWrittenFileReadsBackAndReplacesTheOldOne) {
  const std::string text("a\0b\n\xff", 5);
  write_whole(folder_ / "out.bin", "an older and longer content");
  write_whole(folder_ / "out.bin", text);
  EXPECT_EQ(read_whole(folder_ / "out.bin"), text);
  write_whole(folder_ / "empty", "");
  EXPECT_EQ(read_whole(folder_ / "empty"), "");
  EXPECT_EQ(files(), (std::vector<std::string>{"empty", "out.bin"}));
}

TEST_F(Files, PiecesAreJoined) {
  const std::vector<std::string_view> pieces{"one", "", "two", "three"};
  write_whole(folder_ / "out", pieces);
  EXPECT_EQ(read_whole(folder_ / "out"), "onetwothree");
}

/// A full disk: the unfinished file, whose name is known, is led to /dev/full, where every write ends with ENOSPC.
TEST_F(Files, AFullDiskLeavesTheOldFileAndSaysWhatToDo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const fs::path target = folder_ / "history.csv";
  write_whole(target, "old");
  fs::create_symlink("/dev/full", folder_ / fmt::format(".history.csv.tmp-{}", ::getpid()));
  const auto text = error_text<SimulationError>([&] { write_whole(target, std::string(2'500'000, 'x')); });
  for (const char* part : {target.c_str(), "No space left on device", "2.5 MB", "free space"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in: " << text;
  ASSERT_FALSE(fs::is_symlink(target));  // or the next line would read /dev/full, which never ends
  EXPECT_EQ(read_whole(target), "old");
  EXPECT_EQ(files(), std::vector<std::string>{"history.csv"});
}

/// The disk fails after a part of the file is on it.
TEST_F(Files, AWriteThatStopsHalfWayLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto text =
      error_text<SimulationError>([&] { write_whole(folder_ / "particles.vtp", std::string(300'000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
  EXPECT_NE(text.find("ulimit -f"), std::string::npos) << text;
  EXPECT_TRUE(files().empty());
}

TEST_F(Files, AMissingFolderIsNamed) {
  write_whole(folder_ / "file", "x");
  for (const fs::path& target : {folder_ / "gone" / "out", folder_ / "file" / "out"}) {
    const auto text = error_text<SimulationError>([&] { write_whole(target, "x"); });
    EXPECT_NE(text.find(target.string()), std::string::npos) << text;
    EXPECT_NE(text.find("folder is missing"), std::string::npos) << text;
  }
}

TEST_F(Files, ALinkIsFollowedAndStays) {
  fs::create_directory(folder_ / "far");
  write_whole(folder_ / "far" / "real", "old");
  fs::create_symlink("far/real", folder_ / "second");
  fs::create_symlink("second", folder_ / "first");
  write_whole(folder_ / "first", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "first"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "second"));
  EXPECT_EQ(read_whole(folder_ / "far" / "real"), "new");
  // What a link leads to need not exist yet; where it never ends, nothing is written.
  fs::create_symlink(folder_ / "far" / "later", folder_ / "ahead");
  write_whole(folder_ / "ahead", "made");
  EXPECT_EQ(read_whole(folder_ / "far" / "later"), "made");
  fs::create_symlink("circle", folder_ / "circle");
  const auto text = error_text<SimulationError>([&] { write_whole(folder_ / "circle", "x"); });
  EXPECT_NE(text.find("circle"), std::string::npos) << text;
  EXPECT_EQ(files(), (std::vector<std::string>{"ahead", "circle", "far", "first", "second"}));
}

TEST_F(Files, APipeIsWrittenAndStaysAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  write_whole(pipe, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
  char bytes[64] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 16);
  EXPECT_STREQ(bytes, "through the pipe");
  // As /dev/stdout or a shell's >(...): a link of /proc that leads to a pipe without a name.
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", ends[1]), folder_ / "stdout");
  write_whole(folder_ / "stdout", "without a name");
  EXPECT_TRUE(fs::is_symlink(folder_ / "stdout"));
  EXPECT_EQ(::read(ends[0], bytes, sizeof bytes), 14);
  for (const int descriptor : {reader, ends[0], ends[1]}) ::close(descriptor);
  EXPECT_EQ(files(), (std::vector<std::string>{"pipe", "stdout"}));
}

TEST_F(Files, ADeviceIsWrittenAndStaysADevice) {
  fs::create_symlink("/dev/null", folder_ / "null");
  write_whole(folder_ / "null", "gone");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  fs::create_symlink("/dev/full", folder_ / "full");
  const auto text = error_text<SimulationError>([&] { write_whole(folder_ / "full", "x"); });
  EXPECT_NE(text.find("No space left"), std::string::npos) << text;
}

TEST_F(Files, AFolderIsRefused) {
  fs::create_directory(folder_ / "folder");
  const auto text = error_text<SimulationError>([&] { write_whole(folder_ / "folder", "x"); });
  for (const char* part : {"folder", "Is a directory", "name of a file in it"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in: " << text;
  EXPECT_EQ(files(), std::vector<std::string>{"folder"});
}

TEST_F(Files, UnreadableInputIsNamed) {
  const auto missing = error_text<InputError>([&] { (void)read_whole(folder_ / "no.toml"); });
  EXPECT_NE(missing.find("no.toml: No such file"), std::string::npos) << missing;
  const auto is_folder = error_text<InputError>([&] { (void)read_whole(folder_); });
  EXPECT_NE(is_folder.find("Is a directory"), std::string::npos) << is_folder;
}

TEST_F(Files, OnlyLeftoversOfKilledRunsAreRemoved) {
  const std::vector<std::string> ours{".hidden", "a.tmp-12", ".b.tmp-", ".c.tmp-1x", "run.json", ".tmp-9"};
  for (const auto& name : ours) write_whole(folder_ / name, "keep");
  for (const char* name : {".run.json.tmp-1", ".a.b.tmp-99999"}) write_whole(folder_ / name, "drop");
  fs::create_directory(folder_ / ".folder.tmp-3");
  remove_stale_temporaries(folder_);
  auto expected = ours;
  expected.push_back(".folder.tmp-3");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(files(), expected);
  EXPECT_NO_THROW(remove_stale_temporaries(folder_ / "gone"));
}

TEST_F(Files, ASecondRunIsKeptOutOfTheFolder) {
  {
    const FolderLock first(folder_);
    const auto text = error_text<InputError>([&] { const FolderLock second(folder_); });
    EXPECT_NE(text.find("another run"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(const FolderLock after(folder_));
  EXPECT_TRUE(files().empty());
}

struct Frame {
  PointData positions;
  std::vector<PointData> data;
};

Frame some_particles(int count) {
  Frame frame{{"positions", 3, std::vector<float>{}}, {}};
  std::vector<double> tensor;
  std::vector<float> velocity;
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> body;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      std::get<std::vector<float>>(frame.positions.values).push_back(0.1F * static_cast<float>(i + k));
      velocity.push_back(-1.5F * static_cast<float>(i * k));
    }
    for (int k = 0; k < 9; ++k) tensor.push_back(1.0 / (i + 1) + k);
    id.push_back((std::int64_t{1} << 40) + i);
    body.push_back(i % 3);
  }
  frame.data = {{"velocity", 3, velocity}, {"cauchy_stress", 9, tensor}, {"id", 1, id}, {"body", 1, body}};
  return frame;
}

void expect_equal(vtkDataArray* array, const PointData& expected) {
  ASSERT_NE(array, nullptr) << expected.name;
  EXPECT_EQ(array->GetNumberOfComponents(), expected.components);
  std::visit(
      [&]<class Number>(const std::vector<Number>& values) {
        EXPECT_EQ(array->GetDataTypeSize(), static_cast<int>(sizeof(Number))) << expected.name;
        ASSERT_EQ(static_cast<std::size_t>(array->GetNumberOfValues()), values.size()) << expected.name;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto tuple = static_cast<vtkIdType>(i) / expected.components;
          const auto component = static_cast<int>(static_cast<vtkIdType>(i) % expected.components);
          // Integers here stay below 2^53, so a double holds them exactly.
          ASSERT_EQ(array->GetComponent(tuple, component), static_cast<double>(values[i])) << expected.name << " " << i;
        }
      },
      expected.values);
}

TEST_F(Vtk, VtksReaderGivesBackEveryValue) {
  for (const int count : {0, 1, 257}) {
    const auto frame = some_particles(count);
    write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0.125);
    const vtkNew<vtkXMLPolyDataReader> reader;
    reader->SetFileName((folder_ / "p.vtp").c_str());
    reader->Update();
    vtkPolyData* particles = reader->GetOutput();
    ASSERT_EQ(particles->GetNumberOfPoints(), count);
    EXPECT_EQ(particles->GetNumberOfVerts(), count);
    EXPECT_EQ(particles->GetNumberOfCells(), count);
    for (vtkIdType i = 0; i < count; ++i) {
      vtkIdType points = 0;
      const vtkIdType* point = nullptr;
      particles->GetVerts()->GetCellAtId(i, points, point);
      ASSERT_EQ(points, 1);
      ASSERT_EQ(point[0], i);
    }
    ASSERT_EQ(particles->GetPointData()->GetNumberOfArrays(), 4);
    for (const auto& expected : frame.data)
      expect_equal(particles->GetPointData()->GetArray(expected.name.c_str()), expected);
    if (count > 0) expect_equal(particles->GetPoints()->GetData(), frame.positions);
    vtkDataArray* time = particles->GetFieldData()->GetArray("TimeValue");
    ASSERT_NE(time, nullptr);
    EXPECT_EQ(time->GetComponent(0, 0), 0.125);
  }
}

TEST_F(Vtk, FramesReadBackWithNamesAndUnits) {
  auto frame = some_particles(57);
  frame.data[0].unit = "m/s";
  write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0.125);
  const ParticleFrame back = read_particles(folder_ / "p.vtp");
  EXPECT_EQ(back.particles, 57u);
  ASSERT_EQ(back.fields.size(), frame.data.size() + 1);
  EXPECT_EQ(back.fields[0].name, "position");
  EXPECT_EQ(back.fields[1].unit, "m/s");
  EXPECT_EQ(back.fields[2].unit, "");
  const auto expect_numbers = [](const ParticleFrame::Values& found, const PointData& expected) {
    EXPECT_EQ(found.components, expected.components);
    std::visit(
        [&](const auto& values) {
          ASSERT_EQ(found.numbers.size(), values.size());
          for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(found.numbers[i], static_cast<double>(values[i])) << found.name << " " << i;
        },
        expected.values);
  };
  expect_numbers(back.fields[0], frame.positions);
  for (const auto& expected : frame.data) {
    ASSERT_NE(back.find(expected.name), nullptr) << expected.name;
    expect_numbers(*back.find(expected.name), expected);
  }
  EXPECT_EQ(back.find("missing"), nullptr);
}

TEST_F(Vtk, DamagedResultsAreRefusedInOneSentence) {
  const auto frame = some_particles(57);
  write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0.125);
  const std::string whole = read_whole(folder_ / "p.vtp");
  for (const std::size_t size : {std::size_t(0), std::size_t(10), whole.size() / 2, whole.size() - 60}) {
    write_whole(folder_ / "cut.vtp", std::string_view(whole).substr(0, size));
    EXPECT_THROW((void)read_particles(folder_ / "cut.vtp"), InputError) << size;
  }
  EXPECT_THROW((void)read_particles(folder_ / "none.vtp"), InputError);
  write_whole(folder_ / "bad.pvd", "<VTKFile><Collection><DataSet timestep=\"0\"/></Collection></VTKFile>");
  EXPECT_THROW((void)read_collection(folder_ / "bad.pvd"), InputError);
  write_whole(folder_ / "bad.pvd", "<VTKFile><Coll");
  EXPECT_THROW((void)read_collection(folder_ / "bad.pvd"), InputError);
}

TEST_F(Vtk, TheFormatIsRawAppendedAndPlain) {
  const auto frame = some_particles(5);
  write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0);
  const auto text = read_whole(folder_ / "p.vtp");
  for (const char* part : {"byte_order=\"LittleEndian\"", "header_type=\"UInt64\"", "<AppendedData encoding=\"raw\">"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  for (const char* part : {"compressor", "Tensors=", "Scalars=", "Vectors="})
    EXPECT_EQ(text.find(part), std::string::npos) << part;
}

TEST_F(Vtk, TheSameParticlesGiveTheSameBytes) {
  const auto frame = some_particles(1000);
  write_particles(folder_ / "a.vtp", frame.positions, frame.data, 0.3);
  const auto copy = frame;
  write_particles(folder_ / "b.vtp", copy.positions, copy.data, 0.3);
  EXPECT_EQ(read_whole(folder_ / "a.vtp"), read_whole(folder_ / "b.vtp"));
  write_particles(folder_ / "b.vtp", copy.positions, copy.data, 0.4);
  EXPECT_NE(read_whole(folder_ / "a.vtp"), read_whole(folder_ / "b.vtp"));
}

TEST_F(Vtk, ADivergedStateCanStillBeWrittenAndRead) {
  auto frame = some_particles(3);
  std::get<std::vector<float>>(frame.data[0].values)[4] = std::numeric_limits<float>::quiet_NaN();
  std::get<std::vector<double>>(frame.data[1].values)[5] = std::numeric_limits<double>::infinity();
  write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0);
  const vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName((folder_ / "p.vtp").c_str());
  reader->Update();
  vtkPointData* data = reader->GetOutput()->GetPointData();
  EXPECT_TRUE(std::isnan(data->GetArray("velocity")->GetComponent(1, 1)));
  EXPECT_TRUE(std::isinf(data->GetArray("cauchy_stress")->GetComponent(0, 5)));
}

TEST_F(Vtk, ValuesThatDoNotFitTheParticlesAreRefused) {
  auto frame = some_particles(3);
  std::get<std::vector<float>>(frame.data[0].values).pop_back();
  EXPECT_THROW(write_particles(folder_ / "p.vtp", frame.positions, frame.data, 0), std::invalid_argument);
  EXPECT_TRUE(files().empty());
}

TEST_F(Vtk, TheCollectionReadsBack) {
  const std::vector<std::pair<double, std::string>> frames{{0, "particles/a.vtp"}, {0.1, "particles/b & \"c\".vtp"}};
  write_collection(folder_ / "p.pvd", frames);
  EXPECT_EQ(read_collection(folder_ / "p.pvd"), frames);
}

TEST_F(Vtk, TheCollectionListsTimesAndFiles) {
  const std::vector<std::pair<double, std::string>> frames{{0, "particles/a.vtp"}, {0.1, "x&\"<.vtp"}};
  write_collection(folder_ / "p.pvd", frames);
  EXPECT_EQ(read_whole(folder_ / "p.pvd"),
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
            "  <Collection>\n"
            "    <DataSet timestep=\"0\" part=\"0\" file=\"particles/a.vtp\"/>\n"
            "    <DataSet timestep=\"0.1\" part=\"0\" file=\"x&amp;&quot;&lt;.vtp\"/>\n"
            "  </Collection>\n"
            "</VTKFile>\n");
}

std::uint64_t crc64(std::string_view text) {
  Crc64 crc;
  crc.update(std::as_bytes(std::span(text.data(), text.size())));
  return crc.value();
}

TEST(Checksum, HasThePublishedValues) {
  // Check value of CRC-64/XZ in the catalogue of parametrised CRC algorithms.
  EXPECT_EQ(crc64("123456789"), 0x995DC9BBDF1939FA);
  EXPECT_EQ(crc64(""), 0U);
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::string text(100, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 37);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Crc64 crc;
    crc.update(std::as_bytes(std::span(text.data(), cut)));
    crc.update(std::as_bytes(std::span(text.data() + cut, text.size() - cut)));
    ASSERT_EQ(crc.value(), crc64(text)) << cut;
  }
}

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 + 7);
  return bytes;
}

Checkpoint some_checkpoint() {
  return {"5e1f", "host", {{"position", some_bytes(240)}, {"", {}}, {"step", some_bytes(8)}}};
}

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
  for (const auto& written : {some_checkpoint(), Checkpoint{}}) {
    write_checkpoint(folder_ / "c.bin", written);
    const auto read = read_checkpoint(folder_ / "c.bin");
    EXPECT_EQ(read.scene_digest, written.scene_digest);
    EXPECT_EQ(read.backend, written.backend);
    ASSERT_EQ(read.blocks.size(), written.blocks.size());
    for (std::size_t i = 0; i < read.blocks.size(); ++i) {
      EXPECT_EQ(read.blocks[i].name, written.blocks[i].name);
      EXPECT_EQ(read.blocks[i].bytes, written.blocks[i].bytes);
    }
  }
}

/// Without the flush to disk of write_whole, which a thousand damaged copies need not wait for. The old file goes first
/// because ext4 flushes a file that is truncated and written again.
void put(const fs::path& file, std::string_view bytes) {
  fs::remove(file);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string refusal(const fs::path& file) {
  return error_text<InputError>([&] { (void)read_checkpoint(file); });
}

TEST_F(CheckpointFile, EveryTruncationIsRefused) {
  write_checkpoint(folder_ / "c.bin", some_checkpoint());
  const auto whole = read_whole(folder_ / "c.bin");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(folder_ / "cut.bin", whole.substr(0, length));
    ASSERT_NE(refusal(folder_ / "cut.bin").find("cut short"), std::string::npos) << length;
  }
  put(folder_ / "cut.bin", whole + "x");
  EXPECT_NE(refusal(folder_ / "cut.bin").find("damaged"), std::string::npos);
}

/// The file is short enough to turn every bit of it.
TEST_F(CheckpointFile, EveryTurnedBitIsRefused) {
  write_checkpoint(folder_ / "c.bin", some_checkpoint());
  const auto whole = read_whole(folder_ / "c.bin");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    auto damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put(folder_ / "d.bin", damaged);
    ASSERT_NE(refusal(folder_ / "d.bin"), "") << "bit " << bit;
  }
}

/// Overwrites a number and makes the checksum fit again: now the parser itself has to hold.
template <class Number>
std::string forged(std::string file, std::size_t at, Number number) {
  std::memcpy(file.data() + at, &number, sizeof number);
  const std::uint64_t crc = crc64(std::string_view(file).substr(0, file.size() - 8));
  std::memcpy(file.data() + file.size() - 8, &crc, 8);
  return file;
}

TEST_F(CheckpointFile, AForgedLengthIsRefusedBeforeItIsAllocated) {
  write_checkpoint(folder_ / "c.bin", some_checkpoint());
  const auto whole = read_whole(folder_ / "c.bin");
  constexpr std::uint32_t all32 = ~std::uint32_t{0};
  // Places: 12 number of blocks, 24 length of the digest, 40 length of the first name, 52 and 64 sizes of two blocks.
  const std::vector<std::pair<std::string, std::string>> cases{
      {forged(whole, 12, all32), "more blocks than the file can hold"},
      {forged(whole, 24, all32), "a name is longer than the file"},
      {forged(whole, 40, all32), "a name is longer than the file"},
      {forged(whole, 52, ~std::uint64_t{0}), "a block is longer than the file"},
      {forged(forged(whole, 52, std::uint64_t{240}), 64, ~std::uint64_t{239}), "a block is longer than the file"},
      {forged(whole, 64, std::uint64_t{200}), "a block is longer than the file"},
      {forged(whole, 52, std::uint64_t{239}), "do not fill the file"},
      {forged(whole, 64, std::uint64_t{1}), "do not fill the file"}};
  for (const auto& [bytes, why] : cases) {
    put(folder_ / "d.bin", bytes);
    const auto text = refusal(folder_ / "d.bin");
    EXPECT_NE(text.find(why), std::string::npos) << "expected: " << why << ", got: " << text;
  }
}

TEST_F(CheckpointFile, RandomDamageOfTheTableNeverCrashes) {
  write_checkpoint(folder_ / "c.bin", some_checkpoint());
  const auto whole = read_whole(folder_ / "c.bin");
  std::mt19937 random(1);
  const std::size_t table_end = whole.size() - 8 - 248;
  for (int trial = 0; trial < 1000; ++trial) {
    const std::size_t at = 12 + random() % (table_end - 12);
    put(folder_ / "d.bin", forged(whole, at, static_cast<std::uint8_t>(random())));
    // A changed letter of a name is a valid file and comes back with all its bytes.
    try {
      std::size_t total = 0;
      for (const auto& block : read_checkpoint(folder_ / "d.bin").blocks) total += block.bytes.size();
      ASSERT_EQ(total, 248U);
    } catch (const InputError&) {
    }
  }
}

/// A result of each format that was ever released stays readable: tests/data/formats/VERSION was written by
/// `ductile run tests/data/formats/VERSION/scene.toml -o ...`, eight particles in free fall for four steps of 1 ms.
TEST(OldFormats, StayReadable) {
  std::size_t versions = 0;
  for (const auto& entry : fs::directory_iterator(DUCTILE_TEST_DATA "/formats")) {
    ++versions;
    const fs::path result = entry.path() / "result";
    const auto checkpoint = read_checkpoint(result / "checkpoint.bin");
    EXPECT_EQ(checkpoint.backend, "host");
    EXPECT_EQ(checkpoint.scene_digest.size(), 64u);
    const auto position = std::find_if(checkpoint.blocks.begin(), checkpoint.blocks.end(),
                                       [](const auto& block) { return block.name == "position"; });
    ASSERT_NE(position, checkpoint.blocks.end());
    EXPECT_EQ(position->bytes.size(), 8 * 4 * sizeof(double));
    const auto history = CsvTable::read(result / "history.csv");
    EXPECT_EQ(history.rows(), 5u);
    // Symplectic Euler in double precision: m g t downwards.
    EXPECT_NEAR(history.column("momentum_z").back(), -8 * 9.81 * 4e-3, 1e-12);
    EXPECT_EQ(CsvTable::read(result / "probes.csv").rows(), 5u);
    const auto frames = read_collection(result / "particles.pvd");
    ASSERT_EQ(frames.size(), 3u);
    for (const auto& [time, name] : frames) {
      const auto frame = read_particles(result / name);
      ASSERT_EQ(frame.particles, 8u);
      const auto* velocity = frame.find("velocity");
      ASSERT_NE(velocity, nullptr);
      for (std::size_t k = 2; k < 24; k += 3) EXPECT_NEAR(velocity->numbers[k], -9.81 * time, 1e-12);
    }
    EXPECT_NE(read_whole(result / "run.json").find("\"status\": \"finished\""), std::string::npos);
  }
  EXPECT_GE(versions, 1u);
}

TEST_F(CheckpointFile, ForeignAndOtherVersionsAreNamed) {
  write_whole(folder_ / "c.bin", "<?xml version=\"1.0\"?>, surely not a checkpoint");
  EXPECT_NE(refusal(folder_ / "c.bin").find("not a checkpoint"), std::string::npos);
  EXPECT_NE(refusal(folder_ / "none.bin").find("No such file"), std::string::npos);
  EXPECT_NE(refusal(folder_), "");
  write_checkpoint(folder_ / "c.bin", some_checkpoint());
  auto bytes = read_whole(folder_ / "c.bin");
  for (const auto& [version, word] : {std::pair(0, "older"), std::pair(2, "newer")}) {
    bytes[8] = static_cast<char>(version);
    write_whole(folder_ / "d.bin", bytes);
    const auto text = refusal(folder_ / "d.bin");
    EXPECT_NE(text.find(fmt::format("version is {}, {}", version, word)), std::string::npos) << text;
  }
}

TEST_F(Csv, NumbersReadBackToTheSameDouble) {
  const std::vector<double> values{0,   -0.0, 1, 0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -123456789.125,
                                   1e22};
  CsvFile table(folder_ / "t.csv", {"n", "value"});
  for (std::size_t i = 0; i < values.size(); ++i) table.add({static_cast<double>(i), values[i]});
  table.write();
  const auto read = CsvTable::read(folder_ / "t.csv");
  EXPECT_EQ(read.rows(), values.size());
  const auto column = read.column("value");
  ASSERT_EQ(column.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(column[i], values[i]);
    EXPECT_EQ(std::signbit(column[i]), std::signbit(values[i]));
  }
}

TEST_F(Csv, TheTextIsShortAndPlain) {
  CsvFile table(folder_ / "t.csv", {"step", "time", "tip.x"});
  table.add({1, 0.1, 100000});
  table.add({2, 0.2, std::nan("")});
  table.write();
  EXPECT_EQ(read_whole(folder_ / "t.csv"), "step,time,tip.x\n1,0.1,100000\n2,0.2,nan\n");
  EXPECT_THROW(table.add({1, 2}), std::invalid_argument);
}

TEST_F(Csv, ATableCutAndContinuedIsTheTableOfOneRun) {
  const auto add = [](CsvFile& table, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) table.add({static_cast<double>(i), std::sin(i)});
    table.write();
  };
  CsvFile straight(folder_ / "straight.csv", {"step", "x"});
  add(straight, 0, 100);
  const auto whole = read_whole(folder_ / "straight.csv");
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{57}, std::size_t{100}}) {
    write_whole(folder_ / "t.csv", whole);
    CsvFile resumed(folder_ / "t.csv", {"step", "x"});
    resumed.go_on(kept);
    ASSERT_EQ(resumed.rows(), kept);
    add(resumed, kept, 80);
    add(resumed, std::max<std::size_t>(kept, 80), 100);
    EXPECT_EQ(read_whole(folder_ / "t.csv"), whole) << kept;
  }
}

TEST_F(Csv, ATableGrowsOverItsRemovedName) {
  CsvFile table(folder_ / "t.csv", {"x"});
  table.add({1});
  table.write();
  fs::remove(folder_ / "t.csv");
  table.add({2});
  table.write();
  EXPECT_EQ(read_whole(folder_ / "t.csv"), "x\n1\n2\n");
}

/// Rows that could not be written are written with the next ones.
TEST_F(Csv, AFullDiskLosesNoRow) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  CsvFile table(folder_ / "t.csv", {"x"});
  table.add({1});
  table.write();
  fs::create_symlink("/dev/full", folder_ / fmt::format(".t.csv.tmp-{}", ::getpid()));
  table.add({2});
  EXPECT_THROW(table.write(), SimulationError);
  EXPECT_EQ(read_whole(folder_ / "t.csv"), "x\n1\n");
  table.add({3});
  table.write();
  EXPECT_EQ(read_whole(folder_ / "t.csv"), "x\n1\n2\n3\n");
}

TEST_F(Csv, AwkwardColumnNamesSurvive) {
  const std::vector<std::string> names{"a,b", "say \"x\"", "two\nlines", "plain", ""};
  CsvFile table(folder_ / "t.csv", names);
  table.add({1, 2, 3, 4, 5});
  table.write();
  const auto read = CsvTable::read(folder_ / "t.csv");
  EXPECT_EQ(read.columns(), names);
  EXPECT_EQ(read.column("two\nlines"), std::vector<double>{3});
  const auto text = error_text<InputError>([&] { (void)read.column("none"); });
  EXPECT_NE(text.find("plain"), std::string::npos) << text;
}

TEST_F(Csv, ADamagedTableIsRefusedWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ":1:"},           {"a,b", ":1:"},           {"a,b\n1,2\n3\n", ":3:"}, {"a,b\n1,2,3\n", ":2:"},
      {"a,b\n1,x\n", ":2:"}, {"a,b\n1,2\n3,4", ":3:"}, {"a,b\n1,2\n\n", ":3:"},  {"a,b\n1,2 \n", ":2:"}};
  for (const auto& [content, place] : cases) {
    write_whole(folder_ / "t.csv", content);
    const auto text = error_text<InputError>([&] { (void)CsvTable::read(folder_ / "t.csv"); });
    EXPECT_NE(text.find("t.csv" + place), std::string::npos) << content << " gave: " << text;
  }
}

}  // namespace
}  // namespace ductile::io
