// SPDX-License-Identifier: MIT
//
// Goal: while another process holds the database's lock, the program in front is not stopped, the
// database is left in peace, and at the end every line is in the table or named in a gap row.
// Method: real processes, a real lock and real time; the account is taken from SQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/sanitizers.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::StartsWith;

constexpr milliseconds kLineInterval(20);  // 50 lines a second.
constexpr int kErrorEvery = 20;            // 5 %.
// A pipe holds 64 KiB: with lines of 4 KiB a program that stops reading stops the one in front of
// it within half a second, and the test sees it.
const std::string kPadding = ' ' + std::string(4'000, 'x');

class LogOverload : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "x.db"; }

  [[nodiscard]] ProcessOptions log(const std::string& write_pause) const {
    return {.argv = {SPILLWAY_PROGRAM, "log", "--db", "sqlite:x.db", "--write-pause", write_pause,
                     "--error-interval", "1s"},
            .working_directory = directory.path()};
  }

  [[nodiscard]] ProcessOptions lock_holder() const {
    return {.argv = {SPILLWAY_LOCK_HOLDER, file().string()}};
  }

  // A database with its tables, so that nothing but the lock is in the way.
  void create_table() const {
    ASSERT_EQ(run(log("1s")).exit_code, 0);
    ASSERT_TRUE(std::filesystem::exists(file()));
  }

  // Feeds lines for `duration` at their times and notes the longest write.
  void feed_for(Subprocess& process, milliseconds duration) {
    const auto begin = steady_clock::now();
    for (auto due = begin; due < begin + duration; due += kLineInterval) {
      std::this_thread::sleep_until(due);
      const std::string level = lines % kErrorEvery == 0 ? "ERROR" : "INFO";
      const std::string line = level + " line " + std::to_string(lines) + kPadding + "\n";
      const auto before = steady_clock::now();
      ASSERT_TRUE(process.feed(line));
      longest_write = std::max(longest_write, steady_clock::now() - before);
      ++lines;
    }
  }

  [[nodiscard]] std::int64_t rows() const {
    return query_number(file(), "SELECT count(*) FROM logs WHERE context <> 'spillway'");
  }
  [[nodiscard]] std::int64_t named_in_gap_rows() const {
    return query_number(file(),
                        "SELECT sum(json_extract(fields, '$.total')) FROM logs "
                        "WHERE context = 'spillway' AND json_extract(fields, '$.kind') = 'gap'");
  }
  void expect_that_no_line_is_missing() const {
    EXPECT_EQ(rows() + named_in_gap_rows(), lines);
    EXPECT_EQ(query_number(file(),
                           "SELECT count(DISTINCT message) FROM logs "
                           "WHERE context <> 'spillway'"),
              rows());
  }

  TempDir directory;
  std::int64_t lines = 0;
  steady_clock::duration longest_write{};
};

// The closing line agrees with itself: issued = stored + all of skipped + in_doubt + …
void expect_balance(const std::string& closing_line) {
  const auto at = [&](const char* key) {
    return json_number(closing_line, std::string("$.") + key);
  };
  EXPECT_EQ(at("issued"),
            at("stored") + at("skipped") + at("in_doubt") + at("dead_lettered") + at("spooled"))
      << closing_line;
}

TEST_F(LogOverload, LosesNoLineUncountedWhileAnotherProcessHoldsTheLock) {
  create_table();
  Subprocess process(log("3s"));
  feed_for(process, seconds(2));
  {
    Subprocess holder(lock_holder());
    feed_for(process, seconds(8));
    EXPECT_EQ(holder.out(), "locked\n");
    EXPECT_EQ(holder.wait(seconds(10), Subprocess::Stdin::kClose).exit_code, 0);
  }
  feed_for(process, seconds(6));
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(longest_write, milliseconds(kHasSanitizer ? 1'000 : 100));

  expect_that_no_line_is_missing();
  EXPECT_GE(named_in_gap_rows(), 300);  // The gate was closed for most of eight seconds …
  EXPECT_GE(rows(), 200);               // … and open for the rest.
  EXPECT_EQ(query_number(file(),
                         "SELECT count(*) FROM logs WHERE message LIKE "
                         "'Log persistence paused while SQLite was busy, % skipped'"),
            query_number(file(), "SELECT count(*) FROM logs WHERE context = 'spillway'"));
  EXPECT_EQ(json_number(result.out, "$.issued"), lines);
  EXPECT_EQ(json_number(result.out, "$.stored"), rows());
  EXPECT_EQ(json_number(result.out, "$.skipped"), named_in_gap_rows());
  EXPECT_EQ(json_number(result.out, "$.unreported"), 0);
  expect_balance(result.out);
}

TEST_F(LogOverload, TriesOnceForEachErrorIntervalOfAPause) {
  create_table();
  Subprocess process(log("1h"));
  Subprocess holder(lock_holder());
  ASSERT_TRUE(holder.wait_for_text("locked", seconds(10)));
  constexpr int kSeconds = 5;
  feed_for(process, seconds(kSeconds));
  EXPECT_EQ(holder.wait(seconds(10), Subprocess::Stdin::kClose).exit_code, 0);
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_that_no_line_is_missing();
  EXPECT_EQ(json_number(result.out, "$.pauses"), 1);
  // One begins the pause, one for each interval, and at close the held ERROR and the gap row.
  EXPECT_LE(json_number(result.out, "$.attempts"), 1 + kSeconds + 2) << result.out;
  EXPECT_GE(json_number(result.out, "$.attempts"), 3) << result.out;
}

TEST_F(LogOverload, EndsWithSixWhenTheLockOutlastsTheClose) {
  create_table();
  Subprocess holder(lock_holder());
  ASSERT_TRUE(holder.wait_for_text("locked", seconds(10)));
  const auto begin = steady_clock::now();
  const ProcessResult result = run(log("3s"), "INFO one\nERROR two\nINFO three\n");
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_THAT(result.err, StartsWith("spillway: "));
  EXPECT_THAT(result.out, StartsWith("{\"issued\":3,\"stored\":0,"));
  EXPECT_EQ(json_number(result.out, "$.unreported") + json_number(result.out, "$.in_doubt"), 3);
  expect_balance(result.out);
}

TEST_F(LogOverload, WaitsAtTheEndForALockThatIsGivenBackInTime) {
  create_table();
  Subprocess holder(lock_holder());
  ASSERT_TRUE(holder.wait_for_text("locked", seconds(10)));
  Subprocess process(log("30s"));
  ASSERT_TRUE(process.feed("INFO one\nINFO two\nINFO three\n"));
  process.close_stdin();
  std::this_thread::sleep_for(milliseconds(2'500));
  EXPECT_EQ(holder.wait(seconds(10), Subprocess::Stdin::kClose).exit_code, 0);
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kKeepOpen);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs WHERE context <> 'spillway'") +
                query_number(file(),
                             "SELECT coalesce(sum(json_extract(fields, '$.total')), 0) FROM logs "
                             "WHERE context = 'spillway'"),
            3);
}

TEST_F(LogOverload, TakesALockAtStartForAnOverloadAndNotForAnError) {
  create_table();
  Subprocess holder(lock_holder());
  ASSERT_TRUE(holder.wait_for_text("locked", seconds(10)));
  Subprocess process(log("1s"));
  feed_for(process, seconds(3));
  EXPECT_EQ(holder.wait(seconds(10), Subprocess::Stdin::kClose).exit_code, 0);
  feed_for(process, seconds(3));
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_that_no_line_is_missing();
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs WHERE message LIKE 'INFO line 299 %'"),
            1);
}

TEST_F(LogOverload, EndsAtOnceAtTheSecondSignal) {
  create_table();
  Subprocess holder(lock_holder());
  ASSERT_TRUE(holder.wait_for_text("locked", seconds(10)));
  Subprocess process(log("3s"));
  ASSERT_TRUE(process.wait_for_handler(SIGTERM, Subprocess::Handler::kInstalled, seconds(60)));
  feed_for(process, milliseconds(200));
  process.send_signal(SIGTERM);  // Now it tries to write what it has, waiting for the lock.
  ASSERT_TRUE(process.wait_for_handler(SIGTERM, Subprocess::Handler::kGone, seconds(60)));
  process.send_signal(SIGTERM);
  const ProcessResult result = process.wait(seconds(60), Subprocess::Stdin::kKeepOpen);
  EXPECT_FALSE(result.has_timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
}

}  // namespace
}  // namespace spillway::testing
