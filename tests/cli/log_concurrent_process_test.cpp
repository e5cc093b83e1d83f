// SPDX-License-Identifier: MIT
//
// Goal: many processes may start at once on a database that does not exist yet.
// Method: rounds of eight, each round on a new file; none may fail and none may lose a row.
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

constexpr int kRounds = 50;
constexpr int kProcesses = 8;

ProcessOptions log(const TempDir& directory, const std::string& name, int number) {
  return {.argv = {SPILLWAY_PROGRAM, "log", "--db", "sqlite:" + name, "--context",
                   std::to_string(number)},
          .working_directory = directory.path()};
}

void run_round(const TempDir& directory, const std::string& name) {
  std::vector<std::unique_ptr<Subprocess>> processes;
  processes.reserve(kProcesses);
  for (int i = 0; i < kProcesses; ++i) {
    processes.push_back(std::make_unique<Subprocess>(log(directory, name, i)));
  }
  for (const auto& process : processes) {
    process->feed("one\ntwo\nthree\n");
    process->close_stdin();
  }
  for (const auto& process : processes) {
    const ProcessResult result = process->wait(std::chrono::seconds(60), Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  }
}

TEST(LogConcurrent, StartsEightAtOnceOnANewFileWithoutAFailureOrALostRow) {
  const TempDir directory;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = std::to_string(round) + ".db";
    run_round(directory, name);
    ASSERT_EQ(query_number(directory.path() / name,
                           "SELECT count(DISTINCT context || message) FROM logs "
                           "WHERE context <> 'spillway'"),
              kProcesses * 3)
        << "round " << round;
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace spillway::testing
