// SPDX-License-Identifier: MIT
#include "d1/sql_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SqlStatement parsed(const std::string& sql) {
  Result<SqlStatement> statement = parse_statement(sql);
  EXPECT_TRUE(statement) << sql << ": " << statement.status().to_string();
  return statement ? *statement : SqlStatement{};
}

std::string refusal(std::string_view sql) {
  const Result<SqlStatement> statement = parse_statement(sql);
  EXPECT_FALSE(statement) << sql;
  EXPECT_EQ(statement.status().code(), StatusCode::kInvalidArgument) << sql;
  return statement.status().message();
}

std::vector<std::size_t> numbers_of(const std::string& sql) {
  std::vector<std::size_t> numbers;
  for (const SqlParameter& parameter : parsed(sql).parameters) {
    numbers.push_back(parameter.number);
  }
  return numbers;
}

constexpr const char* kTrigger =
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END";

TEST(SqlText, LeavesOutWhatIsNoStatementAtTheEnds) {
  for (const char* sql :
       {"SELECT 1", " SELECT 1 ", "SELECT 1;", "SELECT 1 ; ;;", "; SELECT 1", "-- why\nSELECT 1",
        "/* why */ SELECT 1 /* and; how */ -- end", "SELECT 1; -- end", "SELECT 1 /* never closed",
        "\t\r\n\fSELECT 1\r\n", "\xef\xbb\xbfSELECT 1", " \vSELECT 1"}) {
    EXPECT_EQ(parsed(sql).text, "SELECT 1") << sql;
  }
}

TEST(SqlText, KeepsCommentsWithinTheStatement) {
  EXPECT_EQ(parsed("SELECT 1, -- one; two\n 2").text, "SELECT 1, -- one; two\n 2");
}

TEST(SqlText, RefusesWhatIsNotOneStatement) {
  EXPECT_THAT(refusal(""), HasSubstr("no SQL statement"));
  EXPECT_THAT(refusal(" ;; -- nothing\n /* here */"), HasSubstr("no SQL statement"));
  EXPECT_THAT(refusal("SELECT 1; SELECT 2"), HasSubstr("more than one"));
  EXPECT_THAT(refusal("SELECT 1; -- x\n DELETE FROM t"), HasSubstr("more than one"));
  EXPECT_THAT(refusal(std::string(kTrigger) + "; SELECT 1"), HasSubstr("more than one"));
  EXPECT_THAT(refusal(std::string_view("SELECT 1\0", 9)), HasSubstr("NUL"));
  EXPECT_THAT(refusal("SELECT '\xFF'"), HasSubstr("UTF-8"));
}

TEST(SqlText, TakesASemicolonInQuotesForText) {
  for (const char* sql :
       {"SELECT ';'", "SELECT 'it''s;'", "SELECT \"a;b\"", "SELECT \"a\"\";b\"", "SELECT `a;b`",
        "SELECT [a;b]", "SELECT 'never closed; at all", "SELECT x';'"}) {
    EXPECT_EQ(parsed(sql).text, sql);
  }
}

TEST(SqlText, KeepsATriggerWhole) {
  for (const std::string& start :
       {std::string(), std::string("EXPLAIN "), std::string("explain query plan ")}) {
    EXPECT_EQ(parsed(start + kTrigger + ";").text, start + kTrigger);
  }
  const std::string temporary = "create /* a */ temp trigger t insert on a begin select 1; end";
  EXPECT_EQ(parsed(temporary + ";\n").text, temporary);
}

TEST(SqlText, SplitsATextIntoItsStatements) {
  EXPECT_THAT(split_statements(" ; -- nothing\n"), IsEmpty());
  EXPECT_THAT(split_statements("a; b 'x;y' ;; /* c; */ d -- e\n;"),
              ElementsAre("a", "b 'x;y'", "d"));
  EXPECT_THAT(
      split_statements(std::string("CREATE TABLE a(b);") + kTrigger + ";SELECT 1; SELECT 2"),
      ElementsAre("CREATE TABLE a(b)", kTrigger, "SELECT 1", "SELECT 2"));
  EXPECT_THAT(split_statements("create view v as select 1; end; x"),
              ElementsAre("create view v as select 1", "end", "x"));
}

TEST(SqlText, MakesLineEndsOfWindowsOrdinaryOutsideOfQuotes) {
  EXPECT_EQ(parsed("SELECT 'a\r\nb',\r\n  1 -- c\r\n, \"d\r\ne\"").text,
            "SELECT 'a\r\nb',\n  1 -- c\n, \"d\r\ne\"");
  EXPECT_EQ(parsed("SELECT\r1").text, "SELECT\r1");
  EXPECT_EQ(parsed("SELECT\r\r\r\n1,\r 2").text, "SELECT\n1,\r 2");
}

TEST(SqlText, NamesWhatAStatementDoes) {
  const struct {
    const char* sql;
    const char* verb;
  } cases[] = {
      {"select 1", "SELECT"},
      {"VALUES(1)", "VALUES"},
      {"insert into t values(1)", "INSERT"},
      {"WITH a AS (SELECT 1) SELECT * FROM a", "SELECT"},
      {"with recursive a(b) as not materialized (values(1)), c as (select 2) values(3)", "VALUES"},
      {"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "INSERT"},
      {"WITH a AS (SELECT 1) DELETE FROM t", "DELETE"},
      {"WITH a AS (SELECT 1) REPLACE INTO t VALUES(1)", "REPLACE"},
      {"WITH replace AS (SELECT 1) SELECT * FROM replace", "SELECT"},
      {"EXPLAIN SELECT 1", "EXPLAIN"},
      {"(SELECT 1)", ""},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(parsed(each.sql).verb, each.verb) << each.sql;
  }
}

TEST(SqlText, KnowsWhetherAStatementOnlyReads) {
  const struct {
    const char* sql;
    bool expected;
  } cases[] = {
      {"SELECT replace(k, 'a', 'b') FROM t", true},
      {"SELECT 'INSERT INTO t', \"DELETE\" FROM t", true},
      {"SELECT 1 -- DELETE FROM t", true},
      {"VALUES(1)", true},
      {"WITH a AS (SELECT 1) SELECT * FROM a", true},
      {"WITH a AS (SELECT 1) INSERT INTO t SELECT 1 FROM a", false},
      {"WITH replace AS (SELECT 1 AS k) SELECT * FROM replace", true},
      {"INSERT INTO t VALUES(1) RETURNING k", false},
      {"REPLACE INTO t VALUES(1)", false},
      {"UPDATE t SET k = 1", false},
      {"DELETE FROM t", false},
      {"CREATE TABLE u(a)", false},
      {"DROP TABLE t", false},
      {"ANALYZE", false},
      {"REINDEX", false},
      {"VACUUM", false},
      {"ATTACH ':memory:' AS other", false},
      {"EXPLAIN DELETE FROM t", true},
      {"EXPLAIN QUERY PLAN DELETE FROM t", true},
      {"EXPLAIN PRAGMA user_version = 3", false},
      {"PRAGMA user_version", true},
      {"PRAGMA user_version = 3", false},
      {"PRAGMA user_version(3)", false},
      {"PRAGMA main.user_version = 3", false},
      {"PRAGMA table_info(t)", true},
      {"PRAGMA main.table_info('t')", true},
      {"PRAGMA optimize", false},
      {"PRAGMA incremental_vacuum", false},
      {"PRAGMA \"optimize\"", false},
      {"PRAGMA 'optimize'", false},
      {"PRAGMA main.[incremental_vacuum]", false},
      {"PRAGMA \"main\".user_version", true},
      {"PRAGMA", false},
      {"\xef\xbb\xbfSELECT 1", true},
      {"\xef\xbb\xbf DELETE FROM t", false},
      {"BEGIN", false},
      {"nonsense", false},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(parsed(each.sql).does_read_only, each.expected) << each.sql;
  }
}

TEST(SqlText, RecognisesStatementsThatControlATransaction) {
  for (const char* sql : {"BEGIN", "begin immediate", "COMMIT", "END TRANSACTION", "ROLLBACK",
                          "SAVEPOINT a", "RELEASE a", "/* x */ BEGIN"}) {
    EXPECT_TRUE(parsed(sql).controls_transaction) << sql;
  }
  for (const char* sql : {"SELECT 'BEGIN'", "SELECT \"COMMIT\" FROM t", kTrigger, "[BEGIN]"}) {
    EXPECT_FALSE(parsed(sql).controls_transaction) << sql;
  }
}

TEST(SqlText, SaysWhetherTheTextCanStandInsideAnother) {
  for (const char* sql : {"SELECT (1)", "SELECT ')', \"(\", [(] -- (", "SELECT /* ( */ 1"}) {
    EXPECT_TRUE(parsed(sql).is_closed) << sql;
  }
  for (const char* sql :
       {"SELECT (1", "SELECT 1)", "SELECT 1) UNION (SELECT 2", "SELECT 'a", "SELECT \"a",
        "SELECT `a", "SELECT [a", "SELECT :", "SELECT #1", "SELECT $a(b", "SELECT $a(b c)",
        "SELECT {1}", "SELECT ! 1", "\vSELECT 1"}) {
    EXPECT_FALSE(parsed(sql).is_closed) << sql;
  }
}

TEST(SqlText, FindsParametersWhereTheyAre) {
  const SqlStatement statement = parsed("  SELECT ?1, '?', -- ?\r\n :name, \"?\", ? , a->>'$.x'");
  ASSERT_EQ(statement.parameters.size(), 3U);
  std::vector<std::string> texts;
  for (const SqlParameter& parameter : statement.parameters) {
    texts.push_back(statement.text.substr(parameter.begin, parameter.bytes));
  }
  EXPECT_THAT(texts, ElementsAre("?1", ":name", "?"));
  EXPECT_EQ(statement.parameter_count, 3U);
}

TEST(SqlText, RefusesParameterNumbersThatCannotBe) {
  EXPECT_THAT(refusal("SELECT ?0"), HasSubstr("?0"));
  EXPECT_THAT(refusal("SELECT ?32767"), HasSubstr("?32767"));
  EXPECT_THAT(refusal("SELECT ?99999999999999999999999"), HasSubstr("?9999999999"));
  EXPECT_THAT(refusal("SELECT ?32766, ?"), HasSubstr("parameter ?"));
  EXPECT_EQ(parsed("SELECT ?32766").parameter_count, 32'766U);
}

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using SqliteHandle = std::unique_ptr<sqlite3, CloseSqlite>;

SqliteHandle open_memory() {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  return SqliteHandle(database);
}

// The values 1, 2, 3 … bound in order, as SQLite gives them back.
std::vector<std::size_t> numbers_by_sqlite(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
  for (int number = 1; number <= sqlite3_bind_parameter_count(statement); ++number) {
    sqlite3_bind_int(statement, number, number);
  }
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  std::vector<std::size_t> numbers(static_cast<std::size_t>(sqlite3_column_count(statement)));
  for (std::size_t column = 0; column < numbers.size(); ++column) {
    numbers[column] =
        static_cast<std::size_t>(sqlite3_column_int(statement, static_cast<int>(column)));
  }
  sqlite3_finalize(statement);
  return numbers;
}

TEST(SqlText, NumbersParametersAsSqliteDoes) {
  const SqliteHandle database = open_memory();
  for (const char* sql :
       {"SELECT ?, ?, ?", "SELECT ?3, ?, ?1, ?", "SELECT :a, ?, :b, :a, @a, $a, ?",
        "SELECT ?2, :a, ?2, :b, :a", "SELECT ?5, ?, :x1, ?007", "SELECT :a,:a,:A,?1,?2",
        "SELECT ?1, :1, @_x, $y$z", "SELECT #a, ?u, @a, #a",
        "SELECT $a::b(c;d), ?, $a::b(c;d), $a::b"}) {
    EXPECT_EQ(numbers_of(sql), numbers_by_sqlite(database.get(), sql)) << sql;
  }
}

TEST(SqlText, AgreesWithSqliteOnWhatIsBlank) {
  const SqliteHandle database = open_memory();
  for (const char* sql : {"\xef\xbb\xbfSELECT 1", "SELECT\xef\xbb\xbf\061", "SELECT \v1",
                          "\vSELECT 1", "SELECT\v1", "SELECT 1;\v", "SELECT 1;\xef\xbb\xbf"}) {
    const Result<SqlStatement> ours = parse_statement(sql);
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database.get(), sql, -1, &statement, &rest);
    sqlite3_finalize(statement);
    sqlite3_stmt* second = nullptr;
    const int rest_code = code == SQLITE_OK
                              ? sqlite3_prepare_v2(database.get(), rest, -1, &second, nullptr)
                              : SQLITE_OK;
    sqlite3_finalize(second);
    const bool is_one = code == SQLITE_OK && rest_code == SQLITE_OK && second == nullptr;
    EXPECT_EQ(ours && ours->is_closed && ours->verb == "SELECT", is_one) << sql;
  }
}

TEST(SqlText, AgreesWithSqliteOnWhatOnlyReads) {
  const SqliteHandle database = open_memory();
  ASSERT_EQ(sqlite3_exec(database.get(), "CREATE TABLE t(k)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  for (const char* sql :
       {"SELECT k FROM t", "VALUES(1)", "WITH a AS (SELECT 1) SELECT * FROM a",
        "WITH replace AS (SELECT 1) SELECT * FROM replace", "SELECT replace('a','b','c')",
        "INSERT INTO t VALUES(1)", "INSERT INTO t VALUES(1) RETURNING k", "DELETE FROM t",
        "WITH a AS (SELECT 1) DELETE FROM t", "REPLACE INTO t VALUES(1)", "CREATE TABLE u(a)",
        "DROP TABLE t", "PRAGMA table_info(t)", "PRAGMA user_version=3"}) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(database.get(), sql, -1, &statement, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(parsed(sql).does_read_only, sqlite3_stmt_readonly(statement) != 0) << sql;
    sqlite3_finalize(statement);
  }
}

}  // namespace
}  // namespace spillway
