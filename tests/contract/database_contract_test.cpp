// SPDX-License-Identifier: MIT
//
// Goal: all kinds of databases keep the promises of database.h, in the same words and classes.
// Method: one suite, run on each kind. Values have a suite of their own beside this one.
#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/contract/database_source.h"

namespace spillway {
namespace {

using testing::Access;
using testing::DatabaseContract;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Statements = std::vector<Statement>;

class DatabaseStatements : public DatabaseContract {
 protected:
  std::int64_t count_of(const std::string& table) {
    const Value count = value_of("SELECT count(*) FROM " + table);
    return std::holds_alternative<std::int64_t>(count) ? std::get<std::int64_t>(count) : -1;
  }
};

Row integer(std::int64_t value) { return {value}; }

// Results.

TEST_P(DatabaseStatements, GivesOneResultForEachStatementInOrder) {
  const auto results = run({{"CREATE TABLE t(a INTEGER PRIMARY KEY, b)"},
                            {"INSERT INTO t(b) VALUES(?)", {{"x"}, {"y"}, {"z"}}},
                            {"SELECT b FROM t ORDER BY a DESC"},
                            {"UPDATE t SET b = 'w' WHERE a > ?", {integer(1)}},
                            {"SELECT a, b FROM t WHERE a = ?", {integer(3), integer(1)}},
                            {"DELETE FROM t"}});
  ASSERT_TRUE(results.has_value()) << results.error().to_string();
  ASSERT_THAT(*results, SizeIs(6));
  EXPECT_THAT((*results)[0].columns, IsEmpty());
  EXPECT_EQ((*results)[1].meta.changes, 3);
  EXPECT_EQ((*results)[1].meta.last_row_id, 3);
  EXPECT_THAT((*results)[2].rows, ElementsAre(Row{"z"}, Row{"y"}, Row{"x"}));
  EXPECT_EQ((*results)[2].meta.changes, 0);
  EXPECT_EQ((*results)[3].meta.changes, 2);
  EXPECT_THAT((*results)[4].rows,
              ElementsAre(Row{std::int64_t{3}, "w"}, Row{std::int64_t{1}, "x"}));
  EXPECT_EQ((*results)[5].meta.changes, 3);
}

TEST_P(DatabaseStatements, KeepsDuplicateColumnNames) {
  const StatementResult result = query("SELECT 1 AS a, 'x' AS a, 2 AS b, 3 AS a");
  EXPECT_THAT(result.columns, ElementsAre("a", "a", "b", "a"));
  EXPECT_THAT(result.rows,
              ElementsAre(Row{std::int64_t{1}, "x", std::int64_t{2}, std::int64_t{3}}));
}

TEST_P(DatabaseStatements, KeepsNamesThatLookLikeNumberedDuplicates) {
  EXPECT_THAT(query("SELECT 1 AS \"a:1\", 2 AS a, 3 AS a").columns, ElementsAre("a:1", "a", "a"));
  EXPECT_THAT(query("SELECT 1 AS \"a:1\"").columns, ElementsAre("a:1"));
  EXPECT_THAT(query("SELECT 1 AS \"\", 2 AS \"x\"\"y\", 3 AS \"\xC3\x9C\"").columns,
              ElementsAre("", "x\"y", "\xC3\x9C"));
}

TEST_P(DatabaseStatements, KnowsTheColumnsOfAnEmptyResult) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a, b)"}}).is_ok());
  for (const char* sql : {"SELECT * FROM t", "SELECT a, b FROM t WHERE a = 'none'"}) {
    const StatementResult result = query(sql);
    EXPECT_THAT(result.columns, ElementsAre("a", "b")) << sql;
    EXPECT_THAT(result.rows, IsEmpty()) << sql;
  }
  EXPECT_THAT(query("INSERT INTO t SELECT 1, 2 WHERE 0 RETURNING b, a").columns,
              ElementsAre("b", "a"));
}

TEST_P(DatabaseStatements, ReadsInManyShapes) {
  const auto one_to = [](std::int64_t last) {
    std::vector<Row> rows;
    for (std::int64_t number = 1; number <= last; ++number) {
      rows.push_back(integer(number));
    }
    return rows;
  };
  EXPECT_EQ(rows_of("VALUES(1), (2), (3)"), one_to(3));
  EXPECT_EQ(rows_of("SELECT 2 UNION ALL SELECT 1 UNION SELECT 1 ORDER BY 1"), one_to(2));
  EXPECT_EQ(rows_of("WITH a(x) AS (SELECT 1), b(x) AS (SELECT x + 1 FROM a) "
                    "SELECT x FROM a UNION ALL SELECT x FROM b"),
            one_to(2));
  EXPECT_EQ(rows_of("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                    "SELECT i FROM n",
                    integer(1000)),
            one_to(1000));
  EXPECT_EQ(rows_of("SELECT value FROM json_each('[1,2,3,4]') LIMIT ? OFFSET ?",
                    {std::int64_t{2}, std::int64_t{0}}),
            one_to(2));
  EXPECT_EQ(rows_of("  select x from (select 1 as x) ;  -- the end"), one_to(1));
  EXPECT_EQ(rows_of("/* first */ SELECT 1"), one_to(1));
  EXPECT_EQ(rows_of("SELECT\r\n1\r\n"), one_to(1));
}

TEST_P(DatabaseStatements, KeepsTheOrderOfTheRows) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a INTEGER, b)"},
                         {"INSERT INTO t SELECT value, value % 7 FROM json_each(?)",
                          {{"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"}}}})
                  .is_ok());
  EXPECT_THAT(rows_of("SELECT a FROM t ORDER BY b DESC, a DESC LIMIT 4"),
              ElementsAre(integer(13), integer(6), integer(12), integer(5)));
  const std::vector<Row> down = rows_of("SELECT a FROM t ORDER BY a DESC");
  ASSERT_THAT(down, SizeIs(16));
  EXPECT_TRUE(std::is_sorted(down.rbegin(), down.rend()));
}

TEST_P(DatabaseStatements, TakesAHundredColumns) {
  std::string names = "c0";
  for (int column = 1; column < 100; ++column) {
    names += ", c" + std::to_string(column);
  }
  const StatementResult result = last_of({{"CREATE TABLE wide(" + names + ")"},
                                          {"INSERT INTO wide(c0, c99) VALUES(1, 'x')"},
                                          {"SELECT " + names + " FROM wide"}});
  ASSERT_THAT(result.columns, SizeIs(100));
  EXPECT_EQ(result.columns.back(), "c99");
  EXPECT_EQ(result.rows.at(0).front(), Value(std::int64_t{1}));
  EXPECT_EQ(result.rows.at(0).back(), Value("x"));
  EXPECT_THAT(query("SELECT * FROM wide").rows, SizeIs(1));
}

TEST_P(DatabaseStatements, MakesOneResultOfManyParameterRows) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}}).is_ok());
  std::vector<Row> rows;
  for (std::int64_t number = 0; number < 200; ++number) {
    rows.push_back(integer(number));
  }
  EXPECT_EQ(last_of({{"INSERT INTO t VALUES(?)", rows}}).meta.changes, 200);
  EXPECT_EQ(count_of("t"), 200);
  EXPECT_EQ(last_of({{"SELECT ?", rows}}).rows, rows);
  EXPECT_THAT(last_of({{"SELECT 1", {{}, {}}}}).rows, SizeIs(2));
}

TEST_P(DatabaseStatements, SeesInOneCallWhatItHasWrittenBefore) {
  EXPECT_THAT(
      last_of({{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES('x')"}, {"SELECT a FROM t"}}).rows,
      ElementsAre(Row{"x"}));
}

TEST_P(DatabaseStatements, LetsAStatementAskWhatTheOneBeforeItDid) {
  EXPECT_THAT(last_of({{"CREATE TABLE t(a INTEGER PRIMARY KEY)"},
                       {"INSERT INTO t VALUES(8), (9)"},
                       {"SELECT changes(), last_insert_rowid()"}})
                  .rows,
              ElementsAre(Row{std::int64_t{2}, std::int64_t{9}}));
}

TEST_P(DatabaseStatements, NoticesThatATableHasChanged) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES('x')"}}).is_ok());
  EXPECT_THAT(query("SELECT * FROM t").columns, ElementsAre("a"));
  ASSERT_TRUE(status_of({{"ALTER TABLE t ADD COLUMN b DEFAULT 'y'"}}).is_ok());
  const StatementResult wider = query("SELECT * FROM t");
  EXPECT_THAT(wider.columns, ElementsAre("a", "b"));
  EXPECT_THAT(wider.rows, ElementsAre(Row{"x", "y"}));
  ASSERT_TRUE(status_of({{"ALTER TABLE t RENAME COLUMN b TO c"}}).is_ok());
  EXPECT_THAT(query("SELECT * FROM t").columns, ElementsAre("a", "c"));
}

// Changes.

TEST_P(DatabaseStatements, CountsNoChangeForARowThatWasThere) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a PRIMARY KEY, b)"}}).is_ok());
  const Statements insert = {{"INSERT INTO t VALUES(?, ?) ON CONFLICT(a) DO NOTHING",
                              {{std::int64_t{1}, "x"}, {std::int64_t{2}, "y"}}}};
  EXPECT_EQ(last_of(insert).meta.changes, 2);
  EXPECT_EQ(last_of(insert).meta.changes, 0);
  EXPECT_EQ(last_of({{"INSERT INTO t VALUES(1, 'z') ON CONFLICT(a) DO UPDATE SET b = excluded.b"}})
                .meta.changes,
            1);
  EXPECT_EQ(value_of("SELECT b FROM t WHERE a = 1"), Value("z"));
}

TEST_P(DatabaseStatements, CountsTheChangesOfTriggers) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"},
                         {"CREATE TABLE u(a)"},
                         {"CREATE TRIGGER g AFTER INSERT ON t BEGIN\n  INSERT INTO u VALUES(new.a);"
                          "\n  UPDATE u SET a = a;\nEND"}})
                  .is_ok());
  EXPECT_EQ(last_of({{"INSERT INTO t VALUES(1)"}}).meta.changes, 3);
  EXPECT_EQ(count_of("u"), 1);
}

TEST_P(DatabaseStatements, GivesTheLastRowId) {
  EXPECT_EQ(last_of({{"CREATE TABLE t(a INTEGER PRIMARY KEY)"}, {"INSERT INTO t VALUES(41), (42)"}})
                .meta.last_row_id,
            42);
}

TEST_P(DatabaseStatements, GivesTheRowsOfReturning) {
  const StatementResult result =
      last_of({{"CREATE TABLE t(a, b)"},
               {"INSERT INTO t VALUES(?, ?) RETURNING b, a", {{"x", "y"}, {"z", "w"}}}});
  EXPECT_THAT(result.columns, ElementsAre("b", "a"));
  EXPECT_THAT(result.rows, ElementsAre(Row{"y", "x"}, Row{"w", "z"}));
  EXPECT_EQ(result.meta.changes, 2);
}

// All or nothing.

TEST_P(DatabaseStatements, RunsAllStatementsOrNone) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a UNIQUE)"}}).is_ok());
  const Status missing =
      status_of({{"INSERT INTO t VALUES(1)"}, {"INSERT INTO t VALUES(2)"}, {"DELETE FROM none"}});
  EXPECT_EQ(missing.code(), StatusCode::kSchema);
  EXPECT_EQ(missing.execution(), Execution::kNo);
  EXPECT_EQ(count_of("t"), 0);
  EXPECT_EQ(status_of({{"INSERT INTO t VALUES(?)", {integer(1), integer(2), integer(1)}}}).code(),
            StatusCode::kConstraint);
  EXPECT_EQ(count_of("t"), 0);
  EXPECT_TRUE(status_of({{"INSERT INTO t VALUES(?)", {integer(1), integer(2)}}}).is_ok());
  EXPECT_EQ(count_of("t"), 2);
}

TEST_P(DatabaseStatements, TakesTheSchemaBackToo) {
  EXPECT_FALSE(status_of({{"CREATE TABLE t(a)"}, {"SELEC"}}).is_ok());
  EXPECT_EQ(status_of({{"SELECT * FROM t"}}).code(), StatusCode::kSchema);
}

TEST_P(DatabaseStatements, LeavesTransactionsToTheCallItself) {
  for (const char* sql :
       {"BEGIN", "begin immediate", "COMMIT", "END", "ROLLBACK", "SAVEPOINT s", "RELEASE s"}) {
    const Status status = status_of({{"CREATE TABLE IF NOT EXISTS t(a)"}, {sql}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << sql;
    EXPECT_EQ(status.execution(), Execution::kNo) << sql;
  }
  EXPECT_EQ(status_of({{"SELECT * FROM t"}}).code(), StatusCode::kSchema);
}

// Refusals.

TEST_P(DatabaseStatements, RefusesTextThatIsNotExactlyOneStatement) {
  for (const std::string sql : {"", "  ;\n", "-- nothing", "/* nothing */ ;", "/* open"}) {
    EXPECT_EQ(status_of({{sql}}).code(), StatusCode::kInvalidArgument) << sql;
  }
  for (const std::string sql : {"SELECT 1; SELECT 2", "SELECT 1;--\nx", "SELECT 1; /* */ 2"}) {
    EXPECT_EQ(status_of({{sql}}).code(), StatusCode::kInvalidArgument) << sql;
  }
  EXPECT_EQ(status_of({{std::string("SELECT 1\0", 9)}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status_of({}).code(), StatusCode::kInvalidArgument);
}

TEST_P(DatabaseStatements, TakesBlanksAndCommentsAroundAStatement) {
  for (const char* sql : {"SELECT 1;", "SELECT 1 ;;", "\n-- one\n SELECT 1 ; /* ; */ -- end",
                          "SELECT ';' -- ; '", "SELECT 1 /* open"}) {
    EXPECT_TRUE(status_of({{sql}}).is_ok()) << sql << ": " << status_of({{sql}}).to_string();
  }
}

TEST_P(DatabaseStatements, SaysBothNumbersWhenTheValuesAreTooFewOrTooMany) {
  const Status few = status_of({{"SELECT ?, ?", {{"a", "b"}, {"a"}}}});
  EXPECT_EQ(few.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(few.message(), "row 2: the statement has 2 parameters, but 1 value was given");
  EXPECT_EQ(status_of({{"SELECT ?"}}).message(),
            "the statement has 1 parameter, but 0 values were given");
  EXPECT_EQ(status_of({{"SELECT 1", {{"a"}}}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status_of({{"SELECT ?3", {{"a"}}}}).code(), StatusCode::kInvalidArgument);
}

TEST_P(DatabaseStatements, ClassifiesWhatTheEngineRefuses) {
  ASSERT_TRUE(status_of({{"CREATE TABLE p(id INTEGER PRIMARY KEY)"},
                         {"CREATE TABLE t(a INTEGER PRIMARY KEY, u UNIQUE, n NOT NULL DEFAULT 1, "
                          "c CHECK(c > 0), f REFERENCES p(id))"},
                         {"INSERT INTO t(a, u) VALUES(1, 'u')"}})
                  .is_ok());
  struct Case {
    const char* sql;
    StatusCode code;
    const char* text;
  };
  const Case cases[] = {
      {"SELEC 1", StatusCode::kPermanent, "syntax error"},
      {"SELECT (1", StatusCode::kPermanent, "incomplete input"},
      {"SELECT missing(1)", StatusCode::kPermanent, "no such function: missing"},
      {"SELECT * FROM none", StatusCode::kSchema, "no such table: none"},
      {"SELECT none FROM t", StatusCode::kSchema, "no such column: none"},
      {"INSERT INTO t(none) VALUES(1)", StatusCode::kSchema, "has no column named none"},
      {"INSERT INTO t(a) VALUES(1)", StatusCode::kConstraint, "UNIQUE constraint failed: t.a"},
      {"INSERT INTO t(u) VALUES('u')", StatusCode::kConstraint, "UNIQUE constraint failed: t.u"},
      {"INSERT INTO t(n) VALUES(NULL)", StatusCode::kConstraint, "NOT NULL constraint failed"},
      {"INSERT INTO t(c) VALUES(0)", StatusCode::kConstraint, "CHECK constraint failed"},
      {"INSERT INTO t(a) VALUES('x')", StatusCode::kConstraint, "datatype mismatch"},
      {"CREATE TABLE t(a)", StatusCode::kPermanent, "table t already exists"},
  };
  for (const Case& one : cases) {
    const Status status = status_of({{one.sql}});
    EXPECT_EQ(status.code(), one.code) << one.sql << ": " << status.to_string();
    EXPECT_EQ(status.execution(), Execution::kNo) << one.sql;
    EXPECT_THAT(status.message(), HasSubstr(one.text)) << one.sql;
  }
  EXPECT_EQ(count_of("t"), 1);
}

TEST_P(DatabaseStatements, RefusesMoreParametersThanItTakes) {
  const std::size_t limit = database->traits().limits.parameters_max;
  const auto with = [&](std::size_t count) {
    std::string list = "SELECT 1 WHERE 1 IN (?";
    for (std::size_t i = 1; i < count; ++i) {
      list += ",?";
    }
    return status_of({{list + ")", {Row(count, std::int64_t{1})}}});
  };
  EXPECT_TRUE(with(100).is_ok()) << with(100).to_string();
  const Status refused = with(limit + 1);
  EXPECT_EQ(refused.code(), StatusCode::kTooBig) << refused.to_string();
  EXPECT_EQ(refused.execution(), Execution::kNo);
}

TEST_P(DatabaseStatements, RefusesTextsAndValuesOverItsLimits) {
  const DatabaseLimits limits = database->traits().limits;
  constexpr std::size_t kReach = 10'000'000;  // SQLite's own limits would take gigabytes.
  if (limits.sql_bytes_max > kReach || limits.value_bytes_max > kReach) {
    GTEST_SKIP() << "the limits are out of a test's reach";
  }
  const Status text = status_of({{"SELECT 1" + std::string(limits.sql_bytes_max, ' ') + "+ 1"}});
  EXPECT_EQ(text.code(), StatusCode::kTooBig);
  EXPECT_EQ(text.execution(), Execution::kNo);
  const Status value =
      status_of({{"SELECT length(?)", {{std::string(limits.value_bytes_max + 1, 'x')}}}});
  EXPECT_EQ(value.code(), StatusCode::kTooBig);
  EXPECT_EQ(value.execution(), Execution::kNo);
}

TEST_P(DatabaseStatements, DoesNotStartAfterTheDeadlineOrACancel) {
  const Statements create = {{"CREATE TABLE t(a)"}};
  const Status late = status_of(create, {.deadline = SteadyTime()});
  EXPECT_EQ(late.code(), StatusCode::kCancelled);
  EXPECT_EQ(late.execution(), Execution::kNo);
  std::stop_source stop;
  stop.request_stop();
  const Status cancelled = status_of(create, {.cancel = stop.get_token()});
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled);
  EXPECT_EQ(cancelled.execution(), Execution::kNo);
  EXPECT_TRUE(status_of(create).is_ok());
}

TEST_P(DatabaseStatements, RefusesToWriteWhenOpenedForReading) {
  ASSERT_TRUE(status_of({{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES(1)"}}).is_ok());
  const std::unique_ptr<Database> reader = source->open(Access::kReadOnly);
  for (const char* sql : {"INSERT INTO t VALUES(2)", "DELETE FROM t RETURNING a", "DROP TABLE t",
                          "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x"}) {
    const Statements statements = {{"SELECT 1"}, {sql}};
    const Status status = reader->execute(statements, {}).status();
    EXPECT_FALSE(status.is_ok()) << sql;
    EXPECT_EQ(status.execution(), Execution::kNo) << sql;
  }
  const Statements read = {{"SELECT a FROM t"},
                           {"WITH x AS (SELECT a FROM t) SELECT replace('INSERT', 'a', a) FROM x"}};
  const auto results = reader->execute(read, {});
  ASSERT_TRUE(results.has_value()) << results.error().to_string();
  EXPECT_THAT((*results)[0].rows, ElementsAre(integer(1)));
}

TEST_P(DatabaseStatements, DescribesItself) {
  const DatabaseTraits traits = database->traits();
  EXPECT_EQ(traits.name, traits.dialect == Dialect::kD1 ? "D1" : "SQLite");
  EXPECT_FALSE(traits.does_retry);
  EXPECT_GE(traits.limits.parameters_max, 100U);
  EXPECT_GE(traits.limits.sql_bytes_max, 100'000U);
  EXPECT_GE(traits.limits.value_bytes_max, 2'000'000U);
}

INSTANTIATE_TEST_SUITE_P(On, DatabaseStatements, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway
