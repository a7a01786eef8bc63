// `ductile validate` as a user meets it. The studies themselves are run by tools/test.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/validate.hpp"
#include "common/error.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ductile;

class Validate : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ductile_validate_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    for (const char* file :
         {"validation/validate.py", ".venv/bin/python", "build/host/ductile", "build/host/ductile_fem"})
      write(file);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "x";
  }
  [[nodiscard]] std::vector<std::string> command(const app::ValidateOptions& options) const {
    return app::validation_command(options, root_, root_ / "build/host/ductile");
  }
  template <class Error>
  void expect_error(const std::string& part, const app::ValidateOptions& options = {}) const {
    try {
      (void)command(options);
      FAIL() << "no error that says " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  fs::path root_;
};

TEST_F(Validate, HandsItsOptionsOn) {
  app::ValidateOptions options;
  options.studies = {"rotation", "column"};
  options.output = root_ / "out";
  options.quick = true;
  const auto words = command(options);
  EXPECT_EQ(words.front(), root_ / ".venv/bin/python");
  EXPECT_EQ(std::vector<std::string>(words.end() - 2, words.end()), options.studies);
  for (const std::string& word : {std::string("--quick"), (root_ / "build/host/ductile_fem").string()})
    EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
}

TEST_F(Validate, NamesTheOtherBackEndWhenThereIsOne) {
  const auto has_other = [](const auto& words) {
    return std::find(words.begin(), words.end(), "--other") != words.end();
  };
  EXPECT_FALSE(has_other(command({})));
  write("build/dpcpp-jit/ductile");
  EXPECT_TRUE(has_other(command({})));
}

TEST_F(Validate, SaysHowToMakeTheEnvironment) {
  fs::remove_all(root_ / ".venv");
  expect_error<DeviceError>("tools/setup --python");
}

TEST_F(Validate, SaysHowToBuildTheReference) {
  fs::remove(root_ / "build/host/ductile_fem");
  expect_error<DeviceError>("tools/build");
}

TEST_F(Validate, InstalledProgramsNameTheSourceTree) {
  const fs::path installed = root_.string() + "_installed/bin/ductile";
  for (const fs::path& root : {root_, root_ / "removed"}) {
    try {
      (void)app::validation_command({}, root, installed);
      FAIL() << "no error for " << root;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("source tree"), std::string::npos) << error.what();
    }
  }
}

TEST_F(Validate, KeepsAnEarlierReport) {
  write("out/report.html");
  std::ofstream(root_ / "out/results.json") << R"({"studies": []})";
  app::ValidateOptions options;
  options.output = root_ / "out";
  expect_error<InputError>("--force", options);
  options.force = true;
  EXPECT_NO_THROW((void)command(options));
  options.force = false;
  options.update = true;
  const auto words = command(options);
  EXPECT_NE(std::find(words.begin(), words.end(), "--update"), words.end());
}

TEST_F(Validate, KeepsFilesThatAreNoReport) {
  app::ValidateOptions options;
  options.output = root_ / "out";
  fs::create_directories(options.output);
  EXPECT_NO_THROW((void)command(options));
  write("out/README.md");
  expect_error<InputError>("other files", options);
  write("out/results.json");
  options.update = true;
  expect_error<InputError>("other files", options);
  options.force = true;
  EXPECT_NO_THROW((void)command(options));
}

TEST_F(Validate, RefusesAFileForItsFolder) {
  app::ValidateOptions options;
  options.output = root_ / "out";
  options.force = true;
  write("out");
  expect_error<InputError>("is a file", options);
}

}  // namespace
