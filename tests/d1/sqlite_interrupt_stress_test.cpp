// SPDX-License-Identifier: MIT
//
// Goal: a call that waits for a lock or runs long ends soon after its cancel or deadline.
// Method: another connection holds the write lock, or the statement never ends; a second thread
// cancels after a while. Real time, with bounds wide enough for a loaded machine.
#include <spillway/sqlite_database.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

#include <chrono>
#include <thread>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::open_file;
using testing::RawSqlite;
using testing::run;

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

class SqliteInterrupt : public testing::SqliteFile {
 protected:
  void SetUp() override { ASSERT_TRUE(run(*database, {{"CREATE TABLE t(a)"}}).has_value()); }

  struct Answer {
    Status status;
    std::chrono::steady_clock::duration time;
  };

  Answer timed(const std::string& sql, const ExecuteOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const Status status = run(*database, {{sql}}, options).status();
    return {status, std::chrono::steady_clock::now() - begin};
  }

  // Calls `sql` and cancels it after 50 ms.
  Answer cancelled(const std::string& sql, ExecuteOptions options) {
    std::stop_source source;
    options.cancel = source.get_token();
    const std::jthread canceller([&source] {
      std::this_thread::sleep_for(milliseconds(50));
      source.request_stop();
    });
    return timed(sql, options);
  }

  std::unique_ptr<SqliteDatabase> database = open_file(path);
};

TEST_F(SqliteInterrupt, ACancelEndsTheWaitForALock) {
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const Answer answer = cancelled("INSERT INTO t VALUES(1)", {.lock_wait = seconds(60)});
  EXPECT_EQ(answer.status.code(), StatusCode::kCancelled) << answer.status.to_string();
  EXPECT_EQ(answer.status.execution(), Execution::kNo);
  EXPECT_LT(answer.time, seconds(10));
  ASSERT_EQ(other.exec("COMMIT"), SQLITE_OK);
  EXPECT_TRUE(run(*database, {{"INSERT INTO t VALUES(1)"}}).has_value());
}

TEST_F(SqliteInterrupt, ACancelEndsARunningStatement) {
  const Answer answer = cancelled(kEndless, {});
  EXPECT_EQ(answer.status.code(), StatusCode::kCancelled) << answer.status.to_string();
  EXPECT_LT(answer.time, seconds(10));
  EXPECT_TRUE(run(*database, {{"INSERT INTO t VALUES(1)"}}).has_value());
}

TEST_F(SqliteInterrupt, TheDeadlineEndsTheWaitForALockBeforeTheLockWait) {
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const Answer answer = timed(
      "INSERT INTO t VALUES(1)",
      {.deadline = Clock::system().steady_now() + milliseconds(100), .lock_wait = seconds(60)});
  EXPECT_EQ(answer.status.code(), StatusCode::kOverload) << answer.status.to_string();
  EXPECT_GE(answer.time, milliseconds(50));
  EXPECT_LT(answer.time, seconds(10));
}

TEST_F(SqliteInterrupt, WaitsForTheLockAsLongAsItIsTold) {
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const Answer answer = timed("INSERT INTO t VALUES(1)", {.lock_wait = milliseconds(150)});
  EXPECT_EQ(answer.status.code(), StatusCode::kOverload);
  EXPECT_GE(answer.time, milliseconds(150));
  EXPECT_LT(answer.time, seconds(10));
}

TEST_F(SqliteInterrupt, GetsTheLockThatIsGivenUpInTheMeantime) {
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const std::jthread releaser([&other] {
    std::this_thread::sleep_for(milliseconds(50));
    other.exec("COMMIT");
  });
  EXPECT_TRUE(timed("INSERT INTO t VALUES(1)", {.lock_wait = seconds(60)}).status.is_ok());
}

TEST_F(SqliteInterrupt, ANewFileGetsItsWalAsSoonAsAReaderHasLeftIt) {
  const std::string file = directory.path("new.db");
  RawSqlite reader(file);  // As one that has just begun to make the file, and looks at it.
  ASSERT_EQ(reader.exec("PRAGMA page_size=16384; PRAGMA auto_vacuum=INCREMENTAL; BEGIN"),
            SQLITE_OK);
  ASSERT_EQ(reader.value("SELECT count(*) FROM sqlite_schema"), "0");
  const std::jthread leaver([&reader] {
    std::this_thread::sleep_for(milliseconds(50));
    reader.exec("COMMIT");
  });
  const auto opened = open_file(file, OpenMode::kCreate, {.busy_timeout = seconds(20)});
  EXPECT_EQ(testing::value_of(*opened, "PRAGMA journal_mode"), Value("wal"));
}

}  // namespace
}  // namespace spillway
