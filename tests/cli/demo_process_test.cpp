// SPDX-License-Identifier: MIT
//
// Goal: the demonstration shows what it promises, on every machine that can run it.
// Method: run demo/run.sh as the README says, once as it is and once with a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Demo : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/sqlite3", X_OK) != 0) {
      GTEST_SKIP() << "needs the sqlite3 shell";
    }
  }

  // TMPDIR, so that what it leaves behind can be seen.
  [[nodiscard]] ProcessResult show(std::vector<std::string> arguments = {}) const {
    const std::string bin = std::filesystem::path(SPILLWAY_PROGRAM).parent_path();
    std::vector<std::string> argv = {"/bin/bash", SPILLWAY_DEMO, bin};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run({.argv = argv, .env = {{"TMPDIR", directory.path().string()}}}, {}, seconds(40));
  }

  TempDir directory;
};

const auto kShowsItAll =
    AllOf(ContainsRegex("Log persistence paused while SQLite was busy, [0-9]+ skipped"),
          HasSubstr("\"issued\":"), HasSubstr("ERROR"));

TEST_F(Demo, ShowsARealOverloadAndAnAccountThatHolds) {
  const ProcessResult result = show();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, kShowsItAll);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(Demo, TakesTheLinesOfAFile) {
  const std::filesystem::path input = std::filesystem::path(directory.path()) / "input.log";
  std::ofstream stream(input);
  for (int i = 0; i < 5'000; ++i) {
    stream << "Mar  3 07:08:09 host1 sshd[" << i << "]: login refused\n";
  }
  stream.close();
  const ProcessResult result = show({input.string()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("login refused"));
  EXPECT_THAT(result.out,
              ContainsRegex("Log persistence paused while SQLite was busy, [0-9]+ skipped"));
}

}  // namespace
}  // namespace spillway::testing
