// SPDX-License-Identifier: MIT
//
// Goal: whatever fails within a call, nothing of the call is left and the next one works.
// Method: a first statement that would leave a row, then a failure of each kind (one by SQLite's
// own means, lock, full file), then a look at the table and one more call.
#include <spillway/sqlite_database.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

namespace spillway {
namespace {

using testing::count_of;
using testing::open_file;
using testing::RawSqlite;
using testing::run;

class SqliteTransaction : public testing::SqliteFile {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        run(*database, {{"CREATE TABLE t(a INTEGER PRIMARY KEY, b NOT NULL CHECK(b <> 'bad'),"
                         " c REFERENCES t(a) DEFERRABLE INITIALLY DEFERRED)"}})
            .has_value());
  }

  // The failure of `then` after a row was inserted.
  Status fail_after_a_row(std::vector<Statement> then, const ExecuteOptions& options = {}) {
    then.insert(then.begin(), {"INSERT INTO t(b) VALUES('first')"});
    return run(*database, std::move(then), options).status();
  }

  void expect_untouched_and_usable() {
    RawSqlite other(path);
    // Before the next call: a connection that is not back in autocommit still holds its lock.
    EXPECT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
    EXPECT_EQ(other.exec("COMMIT"), SQLITE_OK);
    EXPECT_EQ(count_of(*database, "t"), 0);
    EXPECT_TRUE(run(*database, {{"INSERT INTO t(b) VALUES('x')"}}).has_value());
    EXPECT_EQ(count_of(*database, "t"), 1);
    EXPECT_EQ(other.exec("DELETE FROM t"), SQLITE_OK);
  }

  std::unique_ptr<SqliteDatabase> database = open_file(path);
};

TEST_F(SqliteTransaction, LeavesNothingAfterEachKindOfError) {
  struct Case {
    std::vector<Statement> then;
    StatusCode expected;
  };
  const Case cases[] = {
      {{{"INSERT INTO t(b) VALUES(?)", {{"ok"}, {"bad"}}}}, StatusCode::kConstraint},
      {{{"INSERT INTO t(b) VALUES(NULL)"}}, StatusCode::kConstraint},
      {{{"INSERT INTO t(a, b) VALUES(1, 'again')"}}, StatusCode::kConstraint},
      {{{"INSERT INTO t(a, b) VALUES('text', 'x')"}}, StatusCode::kConstraint},
      {{{"INSERT INTO missing VALUES(1)"}}, StatusCode::kSchema},
      {{{"INSERT INTO t(z) VALUES(1)"}}, StatusCode::kSchema},
      {{{"SELECT abs(-9223372036854775808)"}}, StatusCode::kPermanent},
      {{{"SELEC 1"}}, StatusCode::kPermanent},
      {{{"SELECT zeroblob(1000000001)"}}, StatusCode::kTooBig},
      {{{"SELECT ?", {{"one", "two"}}}}, StatusCode::kInvalidArgument},
      {{{"COMMIT"}}, StatusCode::kInvalidArgument},
      {{{"VACUUM"}}, StatusCode::kPermanent},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.then.front().sql);
    const Status status = fail_after_a_row(each.then);
    EXPECT_EQ(status.code(), each.expected) << status.to_string();
    EXPECT_EQ(status.execution(), Execution::kNo);
    expect_untouched_and_usable();
  }
}

TEST_F(SqliteTransaction, RollsBackACommitThatAConstraintRefuses) {
  const Status status = fail_after_a_row({{"INSERT INTO t(b, c) VALUES('x', 99)"}});
  EXPECT_EQ(status.code(), StatusCode::kConstraint) << status.to_string();
  expect_untouched_and_usable();
}

TEST_F(SqliteTransaction, RollsBackACommitThatFindsTheFileBusy) {
  // With a rollback journal a reader keeps the commit from happening, not the statements before.
  RawSqlite(path).exec("PRAGMA journal_mode=DELETE");
  database = nullptr;
  ASSERT_EQ(RawSqlite(path).value("PRAGMA journal_mode=DELETE"), "delete");
  database = open_file(path);
  RawSqlite reader(path);
  ASSERT_EQ(reader.exec("BEGIN"), SQLITE_OK);
  ASSERT_EQ(reader.value("SELECT count(*) FROM t"), "0");

  const Status status = fail_after_a_row({}, {.lock_wait = std::chrono::milliseconds::zero()});
  EXPECT_EQ(status.code(), StatusCode::kOverload) << status.to_string();
  EXPECT_EQ(status.execution(), Execution::kNo);

  ASSERT_EQ(reader.exec("COMMIT"), SQLITE_OK);
  expect_untouched_and_usable();
}

TEST_F(SqliteTransaction, RollsBackWhenTheFileIsFullAndWorksWhenThereIsRoomAgain) {
  ASSERT_TRUE(run(*database, {{"PRAGMA max_page_count=4"}}).has_value());
  const Status status = fail_after_a_row({{"INSERT INTO t(b) VALUES(zeroblob(1000000))"}});
  EXPECT_EQ(status.code(), StatusCode::kStorageFull) << status.to_string();
  EXPECT_EQ(status.execution(), Execution::kNo);
  expect_untouched_and_usable();
}

}  // namespace
}  // namespace spillway
