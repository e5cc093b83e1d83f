// SPDX-License-Identifier: MIT
//
// Goal: who gets Spillway by find_package, pkg-config or add_subdirectory has a program that logs.
// Method: install this build, configure and build small projects of others against it with the
// tools that they would use, run them and read their tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

using Arguments = std::vector<std::string>;

const fs::path& projects() {
  static const fs::path path = fs::path(SPILLWAY_SOURCE_DIR) / "tests/package";
  return path;
}

ProcessResult run_to_end(const ProcessOptions& options) {
  return run(options, {}, std::chrono::minutes(10));
}

/// True if it ended well; otherwise what it said is in the test's output.
bool is_well(const ProcessOptions& options) {
  const ProcessResult result = run_to_end(options);
  EXPECT_EQ(result.exit_code, 0) << options.argv.front() << ": " << result.out << result.err;
  return result.exit_code == 0;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

Arguments configure_arguments(const fs::path& source, const fs::path& build,
                              const Arguments& more) {
  Arguments arguments = {SPILLWAY_CMAKE, "-G", SPILLWAY_GENERATOR};
  arguments.insert(arguments.end(), {"-S", source.string(), "-B", build.string()});
  arguments.push_back(std::string("-DCMAKE_CXX_COMPILER=") + SPILLWAY_CXX);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

bool is_built(const fs::path& source, const fs::path& build, const Arguments& more) {
  return is_well({.argv = configure_arguments(source, build, more)}) &&
         is_well({.argv = {SPILLWAY_CMAKE, "--build", build.string(), "--parallel", "2"}});
}

class Package : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::string_view(SPILLWAY_SANITIZERS).empty()) {
      GTEST_SKIP() << "nobody installs libraries that need a sanitizer in each program";
    }
  }

  /// Installs for /opt/spillway but elsewhere, as those do who make packages. The answer is where
  /// it lies: not where it was made for.
  fs::path install() {
    const fs::path stage = directory.path("stage");
    EXPECT_TRUE(is_well(
        {.argv = {SPILLWAY_CMAKE, "--install", SPILLWAY_BINARY_DIR, "--prefix", "/opt/spillway"},
         .env = {{"DESTDIR", stage.string()}}}));
    return stage / "opt/spillway";
  }

  /// What `program` logs when it is run in a directory of its own.
  std::string logged_by(const fs::path& program) {
    const fs::path place = directory.path(program.filename().string() + "-runs-here");
    fs::create_directory(place);
    EXPECT_TRUE(is_well({.argv = {program.string()}, .working_directory = place}));
    return RawSqlite(place / "logs.db")
        .value("SELECT json_group_array(json_array(level, context, message)) FROM logs");
  }

  /// Runs a line that makes $OUT as one would type it, with this package among those known.
  std::string build_by_shell(const std::string& name, const std::string& line) {
    std::string program = directory.path(name);
    EXPECT_TRUE(
        is_well({.argv = {"/bin/sh", "-c", line},
                 .env = {{"PKG_CONFIG_PATH", (install() / SPILLWAY_LIBDIR / "pkgconfig").string()},
                         {"CXX", SPILLWAY_CXX},
                         {"OUT", program}},
                 .working_directory = projects()}));
    return program;
  }

  ProcessResult configure_only(const std::string& wish, const Arguments& more) {
    Arguments arguments = {"-DCMAKE_PREFIX_PATH=" + install().string(), "-DWISH=" + wish};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_to_end({.argv = configure_arguments(projects() / "only_configure",
                                                   directory.path("build"), arguments)});
  }

  const TempDir directory;
};

TEST_F(Package, IsFoundByCMakeForTheCompiledAndTheHeaderOnlySpdlog) {
  const fs::path build = directory.path("build");
  ASSERT_TRUE(
      is_built(projects() / "find_package", build, {"-DCMAKE_PREFIX_PATH=" + install().string()}));
  EXPECT_EQ(logged_by(build / "shop"), R"([["INFO","shop","order 42 by the compiled spdlog"]])");
  EXPECT_EQ(logged_by(build / "shop_header_only"),
            R"([["INFO","shop","order 42 by the header-only spdlog"]])");
}

TEST_F(Package, IsFoundByPkgConfig) {
  const std::string program = build_by_shell(
      "shop", "$CXX -std=c++20 shop.cpp $(pkg-config --cflags --libs spillway) -o $OUT");
  EXPECT_EQ(logged_by(program), R"([["INFO","shop","order 42 by the compiled spdlog"]])");
}

TEST_F(Package, IsFoundByPkgConfigForTheHeaderOnlySpdlog) {
  const std::string program =
      build_by_shell("shop",
                     "$CXX -std=c++20 -DSPDLOG_FMT_EXTERNAL shop.cpp "
                     "$(pkg-config --cflags --libs spillway-sinks fmt) -o $OUT");
  EXPECT_EQ(logged_by(program), R"([["INFO","shop","order 42 by the header-only spdlog"]])");
}

TEST_F(Package, IsAPartOfAnotherProjectInAPathWithABlank) {
  const fs::path source = directory.path("my shop");
  const fs::path build = source / "build";
  fs::create_directories(source / "third_party");
  fs::copy_file(projects() / "add_subdirectory/CMakeLists.txt", source / "CMakeLists.txt");
  fs::copy_file(projects() / "shop.cpp", source / "shop.cpp");
  fs::create_directory_symlink(SPILLWAY_SOURCE_DIR, source / "third_party/spillway");
  // Only what a user must have: none of what our tests and our program need. Each library as one
  // source file, as some have it: that takes a fourth of the time.
  ASSERT_TRUE(
      is_built(source, build,
               {"-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
                "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON",
                "-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON"}));
  EXPECT_EQ(logged_by(build / "shop"), R"([["INFO","shop","order 42 by a spdlog of its own"]])");
  // What that project installs is its own affair.
  EXPECT_TRUE(is_well({.argv = {SPILLWAY_CMAKE, "--install", build.string(), "--prefix",
                                directory.path("installed")}}));
  EXPECT_FALSE(fs::exists(directory.path("installed")));
}

TEST_F(Package, SaysThatSpdlogIsMissing) {
  const ProcessResult result =
      configure_only("COMPONENTS;spdlog", {"-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("spillway::spdlog needs spdlog 1.10 or newer"));
}

TEST_F(Package, NeedsNoSpdlogForThePipelineAlone) {
  const ProcessResult result =
      configure_only("COMPONENTS;sinks", {"-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("spillway::spdlog is there")));
}

TEST_F(Package, SaysThatThereIsNoSuchComponent) {
  const ProcessResult result = configure_only("COMPONENTS;sink", {});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("there is no component sink;"));
}

TEST_F(Package, IsNotTakenForAnotherMinorVersion) {
  const ProcessResult result = configure_only("0.0", {});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("version: " SPILLWAY_VERSION));
}

TEST_F(Package, BringsTheManualAndTheExamplesOfItsPrograms) {
  const fs::path installed = install();
  if (!fs::exists(installed / "bin/spillway")) {
    GTEST_SKIP() << "built without its programs";
  }
  const fs::path share = installed / "share";
  EXPECT_TRUE(fs::exists(share / "man/man8/spillway-retention.8"));
  for (const char* example : {"retention.toml", "spillway-retention.cron",
                              "spillway-retention.service", "spillway-retention.timer"}) {
    EXPECT_TRUE(fs::exists(share / "doc/spillway/examples" / example)) << example;
  }
}

TEST_F(Package, NamesNoPathOfTheMachineThatBuiltIt) {
  std::size_t texts = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(install())) {
    // Debug information in a library or a program may name the sources; a crontab has its PATH.
    if (!entry.is_regular_file() || entry.path().extension() == ".a" ||
        entry.path().extension() == ".cron" || entry.path().parent_path().filename() == "bin") {
      continue;
    }
    const std::string text = text_of(entry.path());
    for (const char* place : {SPILLWAY_SOURCE_DIR, SPILLWAY_BINARY_DIR, "/opt/spillway", "/usr/"}) {
      EXPECT_THAT(text, Not(HasSubstr(place))) << entry.path();
    }
    ++texts;
  }
  EXPECT_GT(texts, 10U);
}

}  // namespace
}  // namespace spillway::testing
