// SPDX-License-Identifier: MIT
//
// Goal: the programs of examples/ that log through spdlog say and store what a reader expects.
// Method: run each in an empty directory, compare what it says word for word, and read its table by
// SQLite's own library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/sanitizers.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace spillway::testing {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SinkExamples : public ::testing::Test {
 protected:
  [[nodiscard]] ProcessOptions program(const std::string& name) const {
    return {.argv = {std::string(SPILLWAY_EXAMPLES) + "/" + name},
            .working_directory = directory.path()};
  }

  // Runs it; it has to end well and to complain of nothing.
  [[nodiscard]] std::string output_of(const std::string& name) const {
    const ProcessResult result = run(program(name));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }

  [[nodiscard]] std::string value(const std::string& sql) const {
    return RawSqlite(directory.path("logs.db")).value(sql);
  }

  // One line for each row of a program with one process, in the order of the calls.
  [[nodiscard]] std::string table() const {
    return value(
        "SELECT group_concat(line, '') FROM (SELECT level || ' ' || context || ': ' || message || "
        "char(10) AS line FROM logs ORDER BY seq)");
  }

  void break_the_database() const { std::filesystem::create_directory(directory.path("logs.db")); }

  // Sends SIGTERM and waits for the end.
  static ProcessResult tell_to_stop(Subprocess& process) {
    // The thread sanitizer of clang 14 loses one signal of a few hundred.
    int attempts = kHasSanitizer ? 5 : 1;
    do {
      process.send_signal(SIGTERM);
    } while (!process.wait_for_text("records stored\n", seconds(10)) && --attempts > 0);
    return process.wait(seconds(30), Subprocess::Stdin::kClose);
  }

  TempDir directory;
};

TEST_F(SinkExamples, AProgramThatEndsRightAfterItsOnlyCallHasItsRow) {
  const auto began = steady_clock::now();
  EXPECT_EQ(output_of("drop_in"), "");
  const auto took = steady_clock::now() - began;
  EXPECT_EQ(table(), "INFO app: order 42 placed\n");
  if (!kHasSanitizer) {
    EXPECT_LT(took, seconds(1));
  }
}

TEST_F(SinkExamples, TheDropInHasUnder15Lines) {
  std::ifstream source(SPILLWAY_DROP_IN);
  ASSERT_TRUE(source.is_open());
  EXPECT_LT(std::count(std::istreambuf_iterator<char>(source), {}, '\n'), 15);
}

TEST_F(SinkExamples, TheConsoleHasItsLinesWhateverTheLevelOfTheDatabase) {
  EXPECT_EQ(output_of("console_and_database"),
            "info  order 42 placed\n"
            "debug for the console alone\n"
            "info  for the console alone, too\n"
            "error payment 42 failed: card declined\n");
  EXPECT_EQ(table(),
            "INFO shop: order 42 placed\n"
            "ERROR shop: payment 42 failed: card declined\n");
}

TEST_F(SinkExamples, TheStructuredLoggerHasItsFieldsInBothPlaces) {
  const std::string payment = R"({"type":"std::runtime_error","what":"cannot charge 4242",)"
                              R"("cause":{"type":"std::out_of_range","what":"no such card"}})";
  EXPECT_EQ(output_of("structured"),
            "info  shop.orders: order placed request=r-17 region=eu order=42 total=9.99 "
            "item={\"name\":\"blue lamp\",\"count\":2} tags=[\"new\",1]\n"
            "error shop.orders: payment failed request=r-17 region=eu error=" +
                payment +
                " token=\"[redacted]\"\n"
                "debug shop: logged from now on after=1.5\n");
  EXPECT_EQ(table(),
            "INFO shop.orders: order placed\n"
            "ERROR shop.orders: payment failed\n"
            "DEBUG shop: logged from now on\n");
  EXPECT_EQ(value("SELECT fields FROM logs WHERE level = 'ERROR'"),
            R"({"request":"r-17","region":"eu","error":)" + payment + R"(,"token":"[redacted]"})");
}

TEST_F(SinkExamples, TheConsoleHasItsLinesWhenTheDatabaseCannotBeUsed) {
  break_the_database();
  const ProcessResult result = run(program("console_and_database"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("error payment 42 failed: card declined\n"));
  EXPECT_THAT(result.err, HasSubstr("2 records lost"));
}

TEST_F(SinkExamples, OptionsNameAnotherTableAndTakeTheDiagnostics) {
  EXPECT_EQ(output_of("options"), "");
  EXPECT_EQ(value("SELECT message FROM app_logs"), "started");
  std::filesystem::remove(directory.path("logs.db"));
  break_the_database();
  EXPECT_THAT(run(program("options")).err,
              HasSubstr("app-log: log writes paused for 60 s: config"));
}

TEST_F(SinkExamples, ShutdownStoresWhatWasLoggedBeforeAndAfterTheSignal) {
  Subprocess process(program("shutdown"));
  ASSERT_TRUE(process.wait_for_text("working\n", seconds(30)));
  const ProcessResult result = tell_to_stop(process);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "working\n2 of 2 records stored\n");
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_EQ(table(),
            "INFO worker: started\n"
            "INFO worker: stopping after signal 15\n");
}

TEST_F(SinkExamples, ShutdownTellsWhatIsMissing) {
  break_the_database();
  Subprocess process(program("shutdown"));
  ASSERT_TRUE(process.wait_for_text("working\n", seconds(30)));
  const ProcessResult result = tell_to_stop(process);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "working\n0 of 2 records stored\n");
  EXPECT_THAT(result.err, HasSubstr("2 skipped, 0 in doubt\n"));
}

// The program that was started ends at once; its child goes on with the same stdout.
TEST_F(SinkExamples, TheDaemonKeepsWhatEachOfItsProcessesLogged) {
  if (kHasSanitizer) {
    GTEST_SKIP() << "its allocator's locks, unlike malloc's, stay locked over a fork (clang 14)";
  }
  Subprocess process(program("daemon"));
  EXPECT_EQ(process.wait(seconds(30), Subprocess::Stdin::kClose).exit_code, 0);
  ASSERT_TRUE(process.wait_for_text("stored\n", seconds(30)));
  EXPECT_EQ(process.out(), "all stored\n");
  EXPECT_THAT(process.err(), IsEmpty());
  EXPECT_EQ(value("SELECT group_concat(line, '') FROM (SELECT level || ' ' || context || ': ' || "
                  "message || char(10) AS line FROM logs ORDER BY message)"),
            "INFO daemon: daemon ends, its worker ended with 0\n"
            "INFO daemon: daemon runs\n"
            "INFO daemon: starting\n"
            "INFO daemon: worker logs\n");
  EXPECT_EQ(value("SELECT count(DISTINCT writer) FROM logs"), "3");
  EXPECT_EQ(value("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace spillway::testing
