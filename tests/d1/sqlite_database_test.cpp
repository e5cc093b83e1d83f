// SPDX-License-Identifier: MIT
#include <spillway/sqlite_database.h>
#include <spillway/testing/fake_clock.h>

#include <gmock/gmock.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

#include <atomic>
#include <cmath>
#include <limits>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using testing::count_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::open_file;
using testing::RawSqlite;
using testing::run;
using testing::value_of;

// Moves on by a millisecond at each look, so that time passes within one call too.
class TickingClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const noexcept override { return {}; }
  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return SteadyTime(milliseconds(++looks_));
  }

 private:
  mutable std::atomic<std::int64_t> looks_{0};
};

class SqliteDatabaseTest : public testing::SqliteFile {
 protected:
  Status status_of(std::vector<Statement> statements, const ExecuteOptions& options = {}) {
    return run(*database, std::move(statements), options).status();
  }

  std::unique_ptr<SqliteDatabase> database = open_file(path);
};

Value echo(Database& database, const Value& value) {
  return value_of(database, "SELECT ?", {value});
}

// Through a table, because a value that is only echoed never takes SQLite's storage format.
Value stored(Database& database, const Value& value) {
  EXPECT_TRUE(run(database, {{"CREATE TABLE IF NOT EXISTS v(x)"},
                             {"DELETE FROM v"},
                             {"INSERT INTO v VALUES(?)", {{value}}}})
                  .has_value());
  return value_of(database, "SELECT x FROM v");
}

TEST_F(SqliteDatabaseTest, GivesEveryValueBackUnchanged) {
  const double denormal = std::numeric_limits<double>::denorm_min();
  const Value values[] = {
      std::monostate(),
      std::numeric_limits<std::int64_t>::min(),
      std::numeric_limits<std::int64_t>::max(),
      (std::int64_t{1} << 53) + 1,
      0.1,
      denormal,
      -std::numeric_limits<double>::max(),
      std::string(),
      std::string("a\0b\0", 4),
      std::string("\xF0\x9F\x8C\x8A Überlauf"),
      Blob(),
      Blob{std::byte{0}, std::byte{255}},
  };
  for (const Value& value : values) {
    EXPECT_EQ(stored(*database, value), value);
    EXPECT_EQ(echo(*database, value), value);
  }
}

TEST_F(SqliteDatabaseTest, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(std::get<double>(echo(*database, -0.0))));
}

TEST_F(SqliteDatabaseTest, RefusesNumbersThatNoDatabaseCanHold) {
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const Status status = status_of({{"SELECT ?, ?", {{std::int64_t{1}, number}}}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("value 2"));
  }
}

TEST_F(SqliteDatabaseTest, GivesOneResultForEachStatement) {
  const auto results =
      run(*database, {{"CREATE TABLE t(a INTEGER PRIMARY KEY, b)"},
                      {"INSERT INTO t(b) VALUES(?)", {{"x"}, {"y"}, {"z"}}},
                      {"UPDATE t SET b = 'w' WHERE a > ?", {{std::int64_t{1}}}},
                      {"SELECT a, b FROM t WHERE a = ?", {{std::int64_t{3}}, {std::int64_t{1}}}},
                      {"SELECT a AS k, b AS k FROM t WHERE 0"}})
          .value();
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[1].meta.changes, 3);
  EXPECT_EQ(results[1].meta.last_row_id, 3);
  EXPECT_EQ(results[2].meta.changes, 2);
  EXPECT_THAT(results[3].rows, ElementsAre(Row{std::int64_t{3}, "w"}, Row{std::int64_t{1}, "x"}));
  EXPECT_EQ(results[3].meta.changes, 0);
  EXPECT_THAT(results[4].columns, ElementsAre("k", "k"));
  EXPECT_TRUE(results[4].rows.empty());
}

TEST_F(SqliteDatabaseTest, CountsTheChangesOfTriggers) {
  const auto results = run(*database, {{"CREATE TABLE t(a)"},
                                       {"CREATE TABLE u(a)"},
                                       {"CREATE TRIGGER g AFTER INSERT ON t BEGIN "
                                        "INSERT INTO u VALUES(new.a); END"},
                                       {"INSERT INTO t VALUES(1), (2)"}})
                           .value();
  EXPECT_EQ(results[3].meta.changes, 4);
}

TEST_F(SqliteDatabaseTest, GivesTheRowsOfReturning) {
  const auto results = run(*database, {{"CREATE TABLE t(a)"},
                                       {"INSERT INTO t VALUES(?) RETURNING a", {{"x"}, {"y"}}}})
                           .value();
  EXPECT_THAT(results[1].rows, ElementsAre(Row{"x"}, Row{"y"}));
}

TEST_F(SqliteDatabaseTest, SaysBothNumbersWhenTheValuesAreTooFewOrTooMany) {
  const Status few = status_of({{"SELECT ?, ?", {{"a", "b"}, {"a"}}}});
  EXPECT_EQ(few.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(few.message(), "row 2: the statement has 2 parameters, but 1 value was given");
  const Status none = status_of({{"SELECT ?"}});
  EXPECT_EQ(none.message(), "the statement has 1 parameter, but 0 values were given");
  EXPECT_EQ(status_of({{"SELECT 1", {{"a"}}}}).code(), StatusCode::kInvalidArgument);
}

TEST_F(SqliteDatabaseTest, RefusesTextThatIsNotExactlyOneStatement) {
  for (const std::string sql : {"", "  ;\n", "-- nothing", "/* nothing */ ;", "/* open"}) {
    EXPECT_EQ(status_of({{sql}}).message(), "no SQL statement in the text") << sql;
  }
  for (const std::string sql : {"SELECT 1; SELECT 2", "SELECT 1;--\nx", "SELECT 1; /* */ 2"}) {
    EXPECT_EQ(status_of({{sql}}).message(), "more than one SQL statement in one text") << sql;
  }
  EXPECT_EQ(status_of({{std::string("SELECT 1\0", 9)}}).message(), "the SQL text holds NUL");
  EXPECT_EQ(status_of({}).code(), StatusCode::kInvalidArgument);
}

TEST_F(SqliteDatabaseTest, TakesBlanksAndCommentsAroundAStatement) {
  EXPECT_TRUE(status_of({{"\n-- one\n SELECT 1 ; /* ; */ -- end"}}).is_ok());
}

TEST_F(SqliteDatabaseTest, LeavesTransactionsToTheCallItself) {
  for (const char* sql : {"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s"}) {
    const Status status = status_of({{"CREATE TABLE IF NOT EXISTS t(a)"}, {sql}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << sql;
  }
  EXPECT_EQ(status_of({{"SELECT * FROM t"}}).code(), StatusCode::kSchema);
}

TEST_F(SqliteDatabaseTest, DoesNotStartAfterTheDeadlineOrACancel) {
  testing::FakeClock clock;
  const auto timed = open_file(directory.path("y.db"), OpenMode::kCreate, {.clock = &clock});
  const Status late =
      run(*timed, {{"CREATE TABLE t(a)"}}, {.deadline = clock.steady_now()}).status();
  EXPECT_EQ(late.code(), StatusCode::kCancelled);
  EXPECT_EQ(late.execution(), Execution::kNo);

  std::stop_source source;
  source.request_stop();
  const Status cancelled =
      run(*timed, {{"CREATE TABLE t(a)"}}, {.cancel = source.get_token()}).status();
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled);
  EXPECT_TRUE(run(*timed, {{"CREATE TABLE t(a)"}}).has_value());
}

TEST_F(SqliteDatabaseTest, AnswersBusyAtOnceWhenToldNotToWait) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}}).is_ok());
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const Status status =
      status_of({{"INSERT INTO t VALUES(1)"}}, {.lock_wait = milliseconds::zero()});
  EXPECT_EQ(status.code(), StatusCode::kOverload);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.message(), "database is locked");
  ASSERT_EQ(other.exec("COMMIT"), SQLITE_OK);
  EXPECT_TRUE(status_of({{"INSERT INTO t VALUES(1)"}}, {.lock_wait = milliseconds(0)}).is_ok());
}

TEST_F(SqliteDatabaseTest, ReadsWhileAnotherHoldsTheWriteLock) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}}).is_ok());
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  EXPECT_TRUE(status_of({{"SELECT count(*) FROM t"}, {"PRAGMA table_info(t)"}},
                        {.lock_wait = milliseconds::zero()})
                  .is_ok());
}

TEST_F(SqliteDatabaseTest, ADatabaseForReadingRefusesToWrite) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}}).is_ok());
  const auto reader = open_file(path, OpenMode::kReadOnly);
  EXPECT_EQ(count_of(*reader, "t"), 0);
  const Status status = run(*reader, {{"INSERT INTO t VALUES(1)"}}).status();
  EXPECT_EQ(status.code(), StatusCode::kConfig);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(count_of(*reader, "t"), 0);
}

TEST_F(SqliteDatabaseTest, MeasuresTheTimeWithItsClock) {
  const TickingClock clock;
  const auto timed = open_file(directory.path("y.db"), OpenMode::kCreate, {.clock = &clock});
  EXPECT_EQ(run(*timed, {{"SELECT 1"}}).value()[0].meta.duration, milliseconds(1));
}

TEST_F(SqliteDatabaseTest, EndsARunningStatementAtTheDeadline) {
  const TickingClock clock;
  const auto timed = open_file(directory.path("y.db"), OpenMode::kCreate, {.clock = &clock});
  const Status status = run(*timed,
                            {{"CREATE TABLE t(a)"},
                             {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                              "SELECT max(i) FROM n"}},
                            {.deadline = clock.steady_now() + milliseconds(50)})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kTransient);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.message(), "deadline passed; rolled back");
  EXPECT_EQ(run(*timed, {{"SELECT * FROM t"}}).status().code(), StatusCode::kSchema);
}

TEST_F(SqliteDatabaseTest, LooksAtTheDeadlineBetweenTheRows) {
  const TickingClock clock;
  const auto timed = open_file(directory.path("y.db"), OpenMode::kCreate, {.clock = &clock});
  ASSERT_TRUE(run(*timed, {{"CREATE TABLE t(a)"}}).has_value());
  const Statement insert{"INSERT INTO t VALUES(?)", std::vector<Row>(100, Row{std::int64_t{1}})};
  const auto insert_within = [&](milliseconds time) {
    return run(*timed, {insert}, {.deadline = clock.steady_now() + time}).status().code();
  };
  EXPECT_EQ(insert_within(milliseconds(50)), StatusCode::kTransient);
  EXPECT_EQ(count_of(*timed, "t"), 0);
  EXPECT_EQ(insert_within(milliseconds(1000)), StatusCode::kOk);
  EXPECT_EQ(count_of(*timed, "t"), 100);
}

TEST_F(SqliteDatabaseTest, DescribesItself) {
  const DatabaseTraits traits = database->traits();
  EXPECT_EQ(traits.name, "SQLite");
  EXPECT_EQ(traits.dialect, Dialect::kSqlite);
  EXPECT_FALSE(traits.does_retry);
  EXPECT_GT(traits.limits.value_bytes_max, 2'000'000U);
}

}  // namespace
}  // namespace spillway
