// SPDX-License-Identifier: MIT
//
// Goal: what docs/lifecycle.md says of each way to end a program, a thread, a logger or a plug-in.
// Method: run the programs of lifecycle/, which log in an empty directory and end in the way that
// their argument names; look at how they ended and how long it took, and read the table by SQLite's
// own library. What they log stays in memory until the end that is tested: nothing gets into the
// table because it was waited for long enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/sanitizers.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Far more than any case takes, and less than the 5 s that a close may.
constexpr milliseconds kSoon{2000};

class Lifecycle : public ::testing::Test {
 protected:
  [[nodiscard]] ProcessOptions program(std::vector<std::string> argv) const {
    return {.argv = std::move(argv), .working_directory = directory.path()};
  }
  [[nodiscard]] ProcessOptions ending(const std::string& name) const {
    return program({SPILLWAY_LIFECYCLE_PROGRAM, name});
  }

  // Runs it, and it has to end within `limit`.
  static ProcessResult run_within(milliseconds limit, const ProcessOptions& options) {
    const auto began = steady_clock::now();
    ProcessResult result = run(options);
    const auto took = steady_clock::now() - began;
    EXPECT_FALSE(result.has_timed_out);
    if (!kHasSanitizer) {
      EXPECT_LT(took, limit);
    }
    return result;
  }

  // Of a program that has to end well and soon, and to leave a sound file.
  [[nodiscard]] std::string output_of(const ProcessOptions& options) const {
    const ProcessResult result = run_within(kSoon, options);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, IsEmpty());
    expect_sound_file();
    return result.out;
  }

  [[nodiscard]] std::string value(const std::string& sql) const {
    return RawSqlite(directory.path("logs.db")).value(sql);
  }
  [[nodiscard]] int rows() const { return std::stoi(value("SELECT count(*) FROM logs")); }
  static bool has_locked(RawSqlite& other) {
    return other.exec("PRAGMA journal_mode=WAL; CREATE TABLE other(x); BEGIN IMMEDIATE") == 0;
  }
  // In the order of the calls, of one process.
  [[nodiscard]] std::string messages() const {
    return value("SELECT group_concat(message) FROM (SELECT message FROM logs ORDER BY seq)");
  }

  // No writer has a row twice, or left one out.
  void expect_sound_file() const {
    EXPECT_EQ(value("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(value("SELECT writer FROM logs GROUP BY writer HAVING count(*) <> max(seq) OR "
                    "count(DISTINCT seq) <> count(*)"),
              "none");
  }

  TempDir directory;
};

// Everything is kept.

class EndingThatKeeps : public Lifecycle, public ::testing::WithParamInterface<const char*> {};

TEST_P(EndingThatKeeps, StoresEveryRecordOnce) {
  EXPECT_EQ(output_of(ending(GetParam())), "");
  EXPECT_EQ(rows(), 10'000);
}

INSTANTIATE_TEST_SUITE_P(
    Lifecycle, EndingThatKeeps,
    ::testing::Values("return_from_main", "exit_from_main", "exit_deep_inside",
                      "exit_on_another_thread", "exit_while_the_stack_holds_the_logger",
                      "exit_while_a_thread_holds_the_logger", "exit_with_a_forgotten_logger",
                      "quick_exit_after_flush", "bare_exit_after_flush", "bare_exit_after_close",
                      "spdlog_shutdown", "shutdown_while_held", "drop_all", "drop_all_while_held",
                      "last_reference_goes", "threads_end", "thread_local_object_goes",
                      "atexit_before_the_logger", "atexit_after_the_logger"),
    [](const auto& ending) { return std::string(ending.param); });

TEST_F(Lifecycle, ReturningFromMainStoresTheOnlyCallOfAProgramWithinASecond) {
  const ProcessResult result = run_within(seconds(1), ending("only_call_with_defaults"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(messages(), "the only call");
}

TEST_F(Lifecycle, AnObjectThatGoesBeforeTheGlobalLoggerMayLog) {
  EXPECT_EQ(output_of(program({SPILLWAY_LIFECYCLE_LOGGER_FIRST})), "");
  EXPECT_EQ(messages(), "main,atexit,the service goes");
}

TEST_F(Lifecycle, AnObjectThatOutlivesTheGlobalLoggerMayLogByItsOwnHold) {
  EXPECT_EQ(output_of(program({SPILLWAY_LIFECYCLE_SERVICE_FIRST})), "");
  EXPECT_EQ(messages(), "main,atexit,the service goes");
}

// What is in memory is lost.

class EndingThatLoses : public Lifecycle,
                        public ::testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(EndingThatLoses, KeepsWhatWasFlushedAndNoMore) {
  const auto& [name, signal_number] = GetParam();
  const ProcessResult result = run_within(kSoon, ending(name));
  EXPECT_EQ(result.signal, signal_number);
  EXPECT_EQ(result.exit_code, signal_number == 0 ? 0 : -1);
  EXPECT_EQ(rows(), 5'000);
  expect_sound_file();
}

INSTANTIATE_TEST_SUITE_P(Lifecycle, EndingThatLoses,
                         ::testing::Values(std::pair("bare_exit", 0), std::pair("quick_exit", 0),
                                           std::pair("abort", SIGABRT),
                                           std::pair("segmentation_fault", SIGSEGV),
                                           std::pair("kill", SIGKILL)),
                         [](const auto& ending) { return std::string(ending.param.first); });

TEST_F(Lifecycle, AKillWhileItWritesLeavesAllThatAFlushHasConfirmed) {
  Subprocess process(ending("log_until_killed"));
  ASSERT_TRUE(process.wait_for_text("4500 stored\n", seconds(60)));
  process.send_signal(SIGKILL);
  const ProcessResult result = process.wait(seconds(30), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.signal, SIGKILL);
  const std::size_t last_line = result.out.rfind('\n', result.out.size() - 2) + 1;
  EXPECT_GE(rows(), std::atoi(result.out.c_str() + last_line));
  expect_sound_file();
}

TEST_F(Lifecycle, DaemonLosesWhatWasNotFlushedBeforeItAndKeepsWhatFollows) {
  if (kHasSanitizer) {
    GTEST_SKIP() << "its allocator's locks, unlike malloc's, stay locked over a fork (clang 14)";
  }
  Subprocess process(ending("daemon_without_flush"));
  EXPECT_EQ(process.wait(seconds(30), Subprocess::Stdin::kClose).exit_code, 0);
  ASSERT_TRUE(process.wait_for_text("daemon ends\n", seconds(30)));
  EXPECT_THAT(process.err(), IsEmpty());
  EXPECT_EQ(value("SELECT count(*) FROM logs WHERE level = 'INFO'"), "5000");
  EXPECT_EQ(value("SELECT group_concat(message) FROM logs WHERE level = 'WARN'"),
            "from the daemon");
  expect_sound_file();
}

// A database that does not help.

TEST_F(Lifecycle, AHangingDatabaseDelaysTheEndByNoMoreThanTheCloseTimeout) {
  const ProcessResult result = run_within(kSoon, ending("hanging_database"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("closed before all was in the table"));
}

TEST_F(Lifecycle, ALockedDatabaseDelaysTheEndByNoMoreThanTheCloseTimeout) {
  RawSqlite other(directory.path("logs.db"));
  ASSERT_TRUE(has_locked(other));
  const ProcessResult result = run_within(kSoon, ending("locked_database"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("closed before all was in the table: 1 records lost"));
}

TEST_F(Lifecycle, ManySinksDelayTheEndByNoMoreThanOneAndSoDoesSomebodysLongerClose) {
  RawSqlite other(directory.path("logs.db"));
  ASSERT_TRUE(has_locked(other));
  const ProcessResult result =
      run_within(milliseconds(1600), ending("locked_database_of_many_sinks"));
  EXPECT_EQ(result.exit_code, 0);
}

// The end comes from within, or amid something else.

TEST_F(Lifecycle, AnEndFromWithinThePipelineSaysWhatIsLost) {
  const ProcessResult result = run_within(kSoon, ending("exit_in_the_diagnostic_callback"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("the process ends from within the log pipeline"));
}

TEST_F(Lifecycle, AnEndWhileACallbackDropsALoggerIsOrderly) {
  for (int i = 0; i < 20; ++i) {
    const ProcessResult result =
        run_within(kSoon, ending("exit_while_a_callback_drops_the_logger"));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(rows(), i + 1);
  }
}

// Calls after close.

TEST_F(Lifecycle, CallsAfterCloseAreCountedAndASecondCloseDoesNothing) {
  EXPECT_EQ(output_of(ending("log_after_close")), "10000 stored, 4000 after close\n");
  EXPECT_EQ(rows(), 10'000);
}

// Plug-ins.

TEST_F(Lifecycle, APlugInThatIsStoppedBeforeItIsUnloadedKeepsItsRecords) {
  EXPECT_EQ(output_of(program({SPILLWAY_LIFECYCLE_PLUGIN_HOST, SPILLWAY_LIFECYCLE_PLUGIN, "stop"})),
            "still loaded\n");
  EXPECT_EQ(messages(), "the plug-in worked");
}

TEST_F(Lifecycle, APlugInThatIsNotStoppedStaysLoadedAndKeepsItsRecords) {
  EXPECT_EQ(
      output_of(program({SPILLWAY_LIFECYCLE_PLUGIN_HOST, SPILLWAY_LIFECYCLE_PLUGIN, "leave"})),
      "still loaded\n");
  EXPECT_EQ(messages(), "the plug-in worked");
}

}  // namespace
}  // namespace spillway::testing
