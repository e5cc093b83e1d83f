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

constexpr std::size_t kBytesMax = 100'000;

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
    std::vector<std::string> names(column_count(sql));
    for (std::size_t column = 0; column < names.size(); ++column) {
      names[column] = sqlite3_column_name(statement.get(), static_cast<int>(column));
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
  // What SQLite's machine does until there are no more rows.
  [[nodiscard]] int steps_of(const std::string& sql) const {
    const Handle statement = prepare(sql);
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
    }
    return sqlite3_stmt_status(statement.get(), SQLITE_STMTSTATUS_VM_STEP, 0);
  }
  [[nodiscard]] std::vector<std::string> wrapped_column(const std::string& sql,
                                                        CellForm form) const {
    return first_column(wrapped(sql, CellForms(column_count(sql), form)));
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
    "SELECT ?, a + ?, ?1 FROM t",
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
    const D1Query query = names_query(parsed(sql), Row(2), kBytesMax);
    EXPECT_EQ(column_names(query.sql), column_names(sql)) << query.sql;
    EXPECT_THAT(first_column(query.sql), ElementsAre()) << query.sql;
  }
  EXPECT_THAT(column_names(names_query(parsed("SELECT *, a FROM t LIMIT 1"), {}, kBytesMax).sql),
              ElementsAre("a", "b", "c", "a"));
}

// Tables of WITH that are used twice, unions and views would be computed in spite of a LIMIT 0.
TEST_F(ExactSelect, LearnsTheNamesWithoutComputingAnything) {
  ASSERT_EQ(sqlite3_exec(database.get(),
                         "CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;"
                         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 999)"
                         "INSERT INTO t(a) SELECT i FROM n;",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  for (const std::string sql :
       {"SELECT a FROM t UNION SELECT b FROM t", "SELECT a, c FROM t EXCEPT SELECT 1, 2 LIMIT 5",
        "WITH x AS (SELECT a, count(*) FROM t GROUP BY a) SELECT x.a, y.* FROM x, x AS y",
        "SELECT v.n, w.* FROM v, v AS w", "SELECT c, sum(a) FROM t GROUP BY c ORDER BY 2",
        "SELECT count(*) FROM t", "SELECT DISTINCT a FROM t ORDER BY b",
        "SELECT a, row_number() OVER (ORDER BY b) FROM t",
        "SELECT * FROM (SELECT a FROM t ORDER BY b) AS x LEFT JOIN (SELECT DISTINCT b FROM t)"}) {
    const D1Query query = names_query(parsed(sql), {}, kBytesMax);
    EXPECT_EQ(column_names(query.sql), column_names(sql)) << query.sql;
    EXPECT_LT(steps_of(query.sql), 50) << query.sql;
  }
}

TEST_F(ExactSelect, AsksForTheNamesInFewerBytesWhereThereAreNoMore) {
  const std::string sql = "SELECT a, b FROM t";
  const std::size_t twice = names_query(parsed(sql), {}, kBytesMax).sql.size();
  EXPECT_EQ(names_query(parsed(sql), {}, twice).sql.size(), twice);
  EXPECT_EQ(names_query(parsed(sql), {}, twice - 1).sql, sql + " LIMIT 0");
}

TEST_F(ExactSelect, AsksForTheNamesWithTheParametersOfTheFirstTermOnly) {
  for (const char* rest : {"LIMIT ?3", "ORDER BY a + ?3", "UNION SELECT ?3"}) {
    const std::string sql = "WITH x AS (SELECT ?) SELECT ? FROM t " + std::string(rest);
    const D1Query query = names_query(parsed(sql), {1.0, std::string("x"), 2.0}, kBytesMax);
    EXPECT_EQ(query.sql,
              "WITH x AS (SELECT ?) SELECT ? FROM t  UNION ALL SELECT ?2 FROM t  ORDER BY 1 "
              "LIMIT 0");
    EXPECT_EQ(query.params, R"([1,"x"])");
  }
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
  const std::vector<std::string> in_hex = {"NULL",   "i7",  "i-9223372036854775807",
                                           "x37",    "x",   std::string("b\0\xFF", 3),
                                           "z",      "+",   "-",
                                           "0.0",    "2.0", "4.94065645841247e-324",
                                           "x610062"};
  EXPECT_EQ(wrapped_column(values, CellForm::kTaggedHex), in_hex);
}

// In hex it would be longer than D1 lets a text be.
TEST_F(ExactSelect, GivesAVeryLongTextAsABlob) {
  const std::string text = "SELECT printf('%*c', 900001, 'x')";
  EXPECT_EQ(wrapped_column(text, CellForm::kTaggedHex).front().size(), 900'002U);
  EXPECT_EQ(
      wrapped_column("SELECT printf('%*c', 900000, 'x')", CellForm::kTaggedHex).front().size(),
      1'800'001U);
}

TEST_F(ExactSelect, WritesEachColumnInItsForm) {
  const std::string sql = wrapped("SELECT 'a', 'a'", {CellForm::kTagged, CellForm::kTaggedHex});
  const Handle statement = prepare(sql);
  ASSERT_EQ(sqlite3_step(statement.get()), SQLITE_ROW);
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0)), "ta");
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 1)), "x61");
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
                         "CREATE TABLE spillway_q0(z); INSERT INTO spillway_q0 VALUES(5);"
                         "CREATE TABLE Spillway_Q0_(z); INSERT INTO spillway_q0_ VALUES(6);",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_THAT(wrapped_column("SELECT z FROM spillway_q0", CellForm::kTagged), ElementsAre("i5"));
  EXPECT_THAT(wrapped_column("SELECT z FROM SPILLWAY_Q0_", CellForm::kTagged), ElementsAre("i6"));
}

TEST_F(ExactSelect, RecognisesARefusalForAWrongNumberOfColumns) {
  for (const std::string inner : {"SELECT 1, 2, 3", "SELECT 1, 2, 3 AS spillway_q7"}) {
    const std::string sql = wrapped(inner, {CellForm::kTagged}, 7);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement, nullptr),
              SQLITE_ERROR);
    const auto wrong = wrong_column_count({StatusCode::kPermanent, sqlite3_errmsg(database.get())});
    ASSERT_TRUE(wrong) << sqlite3_errmsg(database.get());
    EXPECT_EQ(wrong->number, 7U);
    EXPECT_EQ(wrong->columns, 3U);
  }
  EXPECT_TRUE(wrong_column_count(
      {StatusCode::kPermanent, "table spillway_q0 has 2 values for 1 columns at offset 9: X"}));
  for (const char* other :
       {"table t has 2 values for 1 columns", "no such column: c0",
        "table spillway_q has 2 values for 1 columns", "table spillway_q0 already exists",
        "table spillway_q0 has x values for 1 columns", ""}) {
    EXPECT_FALSE(wrong_column_count({StatusCode::kPermanent, other})) << other;
  }
  EXPECT_FALSE(wrong_column_count({}));
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
