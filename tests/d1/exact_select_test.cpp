// SPDX-License-Identifier: MIT
#include "d1/exact_select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;

SqlStatement parsed(const std::string& sql) {
  Result<SqlStatement> statement = parse_statement(sql);
  EXPECT_TRUE(statement) << sql;
  return statement ? *statement : SqlStatement{};
}

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// SQLite itself stands in for D1's engine: what is written here must be SQL to it, and mean the
// same. The contract tests do it with the real engine.
class ExactSelect : public ::testing::Test {
 protected:
  using Handle = std::unique_ptr<sqlite3_stmt, Close>;

  ExactSelect() {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &opened), SQLITE_OK);
    database.reset(opened);
    EXPECT_EQ(sqlite3_exec(opened,
                           "CREATE TABLE t(a, b REAL, c TEXT);"
                           "INSERT INTO t VALUES(3, 1.5, 'x'), (1, 2, 'y'), (2, 3, NULL);",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
  }

  [[nodiscard]] Handle prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database.get()) << " in " << sql;
    return Handle(statement);
  }
  [[nodiscard]] std::size_t column_count(const std::string& sql) const {
    return static_cast<std::size_t>(sqlite3_column_count(prepare(sql).get()));
  }
  [[nodiscard]] std::vector<std::string> column_names(const std::string& sql) const {
    const Handle statement = prepare(sql);
    std::vector<std::string> names;
    for (int column = 0; column < sqlite3_column_count(statement.get()); ++column) {
      names.emplace_back(sqlite3_column_name(statement.get(), column));
    }
    return names;
  }
  // The first column of each row, as text.
  [[nodiscard]] std::vector<std::string> first_column(const std::string& sql) const {
    const Handle statement = prepare(sql);
    std::vector<std::string> cells;
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement.get(), 0));
      const auto count = static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 0));
      cells.push_back(bytes == nullptr ? "NULL" : std::string(bytes, count));
    }
    return cells;
  }
  [[nodiscard]] std::vector<std::string> wrapped_column(const std::string& sql,
                                                        CellForm form) const {
    return first_column(wrapped(sql, column_count(sql), form));
  }

  std::unique_ptr<sqlite3, Close> database;
};

const char* const kReads[] = {
    "SELECT 1",
    "SELECT a, b FROM t",
    "SELECT DISTINCT a, c FROM t ORDER BY a DESC LIMIT 2",
    "SELECT count(*), max(a, b), 'x, y' FROM t WHERE a IN (1, 2) GROUP BY c HAVING 1",
    "SELECT a * b, a + 1 AS \"a,b\", [c] FROM t",
    "SELECT (SELECT a FROM t LIMIT 1), EXISTS (SELECT 1, 2)",
    "SELECT CASE WHEN a THEN b ELSE c END, a IS NOT NULL FROM t",
    "SELECT a IS DISTINCT FROM b, c FROM t",
    "SELECT a, a, a FROM t LIMIT 1 OFFSET 1",
    "SELECT a COLLATE NOCASE, true, (a) FROM t",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b), c FROM t",
    "VALUES(1, 2), (3, 4)",
    "VALUES((1), max(2, 3), 'a')",
    "WITH x(p, q) AS (SELECT 1, 2), y AS MATERIALIZED (SELECT 1) SELECT p, q, 3 FROM x, y",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT i FROM n",
    "WITH x AS (SELECT 1) VALUES(1, 2, 3)",
    "SELECT 1, 2 UNION SELECT 3, 4 ORDER BY 1 LIMIT 1",
    "SELECT 1 UNION ALL VALUES(2)",
    "SELECT a -- the key, first\n, b FROM t",
};

TEST_F(ExactSelect, CountsColumnsAsSqliteDoes) {
  for (const char* sql : kReads) {
    EXPECT_EQ(columns_by_text(parsed(sql)), std::optional(column_count(sql))) << sql;
  }
}

TEST_F(ExactSelect, LeavesAStarToTheDatabase) {
  for (const char* sql :
       {"SELECT * FROM t", "SELECT a, * FROM t", "SELECT t.*, a FROM t", "SELECT DISTINCT * FROM t",
        "SELECT ALL * FROM t", "WITH x AS (SELECT 1) SELECT * FROM x"}) {
    EXPECT_EQ(columns_by_text(parsed(sql)), std::nullopt) << sql;
  }
}

TEST_F(ExactSelect, LearnsTheNamesThatTheStatementItselfGives) {
  for (const char* sql : kReads) {
    const D1Query query = names_query(parsed(sql), {});
    EXPECT_EQ(column_names(query.sql), column_names(sql)) << query.sql;
    EXPECT_THAT(first_column(query.sql), ElementsAre()) << query.sql;
  }
  EXPECT_THAT(column_names(names_query(parsed("SELECT *, a FROM t LIMIT 1"), {}).sql),
              ElementsAre("a", "b", "c", "a"));
}

TEST_F(ExactSelect, AsksForTheNamesWithTheParametersBeforeTheLimitOnly) {
  const D1Query query =
      names_query(parsed("SELECT ?2 FROM t LIMIT ?3"), {1.0, std::string("x"), 2.0});
  EXPECT_EQ(query.sql, "SELECT ?2 FROM t  LIMIT 0");
  EXPECT_EQ(query.params, R"([1,"x"])");
}

TEST_F(ExactSelect, SaysOfEachValueWhatItIs) {
  const std::string values =
      "VALUES(NULL), (7), (-9223372036854775807), ('7'), (''), (x'00FF'), (-0.0), (9e999), "
      "(-9e999), (0.0), (2.0), (5e-324), ('a' || char(0) || 'b')";
  const std::vector<std::string> common = {"NULL", "i7", "i-9223372036854775807", "t7", "t"};
  std::vector<std::string> tagged = common;
  tagged.insert(tagged.end(), {std::string("\0\xFF", 2), "z", "+", "-", "0.0", "2.0",
                               "4.94065645841247e-324", std::string("ta\0b", 4)});
  EXPECT_EQ(wrapped_column(values, CellForm::kTagged), tagged);
  std::vector<std::string> bytes = tagged;
  bytes[common.size()] = std::string("b\0\xFF", 3);
  EXPECT_EQ(wrapped_column(values, CellForm::kTaggedBytes), bytes);
}

TEST_F(ExactSelect, KeepsTheOrderOfRows) {
  for (const char* sql :
       {"SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY b DESC, a",
        "SELECT a FROM t ORDER BY a DESC LIMIT 2", "SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 1",
        "SELECT a FROM t UNION ALL SELECT 0 ORDER BY 1", "VALUES(3), (1), (2)"}) {
    std::vector<std::string> plain;
    for (const std::string& cell : first_column(sql)) {
      plain.push_back("i" + cell);
    }
    EXPECT_EQ(wrapped_column(sql, CellForm::kTagged), plain) << sql;
  }
}

// Merged into the outer query, the expression would be computed once for typeof and once more for
// the value: half of the integers would be texts.
TEST_F(ExactSelect, ComputesEachValueOnce) {
  const std::string sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) "
      "SELECT iif(random() % 2, 1, 'a') FROM n";
  const std::vector<std::string> cells = wrapped_column(sql, CellForm::kTagged);
  ASSERT_EQ(cells.size(), 1'000U);
  for (const std::string& cell : cells) {
    EXPECT_TRUE(cell == "i1" || cell == "ta") << cell;
  }
}

TEST_F(ExactSelect, HidesNoTableOfTheUsers) {
  ASSERT_EQ(sqlite3_exec(database.get(),
                         "CREATE TABLE spillway_q(z); INSERT INTO spillway_q VALUES(5);"
                         "CREATE TABLE Spillway_Q1(z); INSERT INTO spillway_q1 VALUES(6);",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_THAT(wrapped_column("SELECT z FROM spillway_q", CellForm::kTagged), ElementsAre("i5"));
  EXPECT_THAT(wrapped_column("SELECT z FROM SPILLWAY_Q1", CellForm::kTagged), ElementsAre("i6"));
}

TEST_F(ExactSelect, RecognisesARefusalForAWrongNumberOfColumns) {
  const std::string sql = wrapped("SELECT 1, 2", 1, CellForm::kTagged);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement, nullptr), SQLITE_ERROR);
  EXPECT_TRUE(is_wrong_column_count({StatusCode::kPermanent, sqlite3_errmsg(database.get())}));
  for (const char* other : {"table t has 2 values for 1 columns", "no such column: c0",
                            "table spillway_q already exists", ""}) {
    EXPECT_FALSE(is_wrong_column_count({StatusCode::kPermanent, other})) << other;
  }
  EXPECT_FALSE(is_wrong_column_count({}));
}

TEST_F(ExactSelect, WrapsOnlyWhatCanStandInsideAnotherStatement) {
  for (const char* sql : kReads) {
    EXPECT_TRUE(is_wrappable(parsed(sql))) << sql;
  }
  for (const char* sql :
       {"PRAGMA table_info(t)", "EXPLAIN SELECT 1", "INSERT INTO t VALUES(1, 2, 3) RETURNING a",
        "WITH x AS (SELECT 1) DELETE FROM t", "SELECT 'a", "SELECT 1) SELECT (2", "SELECT (1"}) {
    EXPECT_FALSE(is_wrappable(parsed(sql))) << sql;
  }
}

}  // namespace
}  // namespace spillway
