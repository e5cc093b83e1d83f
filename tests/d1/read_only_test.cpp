// SPDX-License-Identifier: MIT
#include <spillway/retrying_database.h>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace spillway {
namespace {

TEST(IsReadOnly, HoldsForWhatOnlyReads) {
  for (const char* sql : {
           "SELECT 1",
           "select 1;",
           "  -- why\n/* because */ SELECT 1",
           "VALUES(1)",
           "WITH a AS (SELECT 1) SELECT * FROM a",
           "WITH replace AS (SELECT 1) SELECT * FROM replace",
           "SELECT replace(k, 'a', 'b') FROM t",
           "SELECT 'DELETE FROM t', \"INSERT\", `UPDATE`, [DROP] FROM t",
           "SELECT 1 -- ; DELETE FROM t",
           "SELECT 1 /* ; DELETE FROM t */",
           "SELECT ';' ; SELECT 'it''s; DELETE FROM t'",
           "SELECT 1; SELECT 2; VALUES(3)",
           "EXPLAIN DELETE FROM t",
           "EXPLAIN QUERY PLAN INSERT INTO t VALUES(1)",
           "PRAGMA user_version",
           "PRAGMA main.page_count",
           "PRAGMA table_info(t)",
           "PRAGMA foreign_key_check",
           "SELECT * FROM pragma_table_info('t')",
       }) {
    EXPECT_TRUE(is_read_only(sql)) << sql;
  }
}

TEST(IsReadOnly, DoesNotHoldForWhatWrites) {
  for (const char* sql : {
           "INSERT INTO t VALUES(1)",
           "insert into t values(1) returning k",
           "REPLACE INTO t VALUES(1)",
           "UPDATE t SET k = 1",
           "DELETE FROM t",
           "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
           "WITH a AS (SELECT 1) REPLACE INTO t SELECT * FROM a",
           "CREATE TABLE u(a)",
           "CREATE TABLE IF NOT EXISTS t(a)",
           "DROP TABLE t",
           "ALTER TABLE t RENAME TO u",
           "VACUUM",
           "ANALYZE",
           "REINDEX",
           "BEGIN",
           "COMMIT",
           "ATTACH ':memory:' AS m",
           "PRAGMA user_version = 3",
           "PRAGMA user_version(3)",
           "PRAGMA journal_mode",
           "PRAGMA wal_checkpoint",
           "PRAGMA rekey",
           "PRAGMA cipher_migrate",
           "PRAGMA user_version 3",
           "SELECT 1; DELETE FROM t",
           "SELECT 1;;; -- x\nDELETE FROM t",
           "DELETE FROM t; SELECT 1",
           "SELECT 1; nonsense",
       }) {
    EXPECT_FALSE(is_read_only(sql)) << sql;
  }
}

// Of each of them SQLite says that it changes nothing, or says so of its first statement.
TEST(IsReadOnly, DoesNotHoldForTheKnownLiars) {
  for (const char* sql :
       {"PRAGMA optimize", "pragma main.OPTIMIZE", "PRAGMA optimize(0xfffe)", "PRAGMA \"optimize\"",
        "SELECT * FROM pragma_optimize", "select * from \"Pragma_Optimize\"",
        "EXPLAIN PRAGMA foreign_keys = 0", "PRAGMA foreign_keys = 0", "SELECT 1; DELETE FROM t"}) {
    EXPECT_FALSE(is_read_only(sql)) << sql;
  }
}

TEST(IsReadOnly, DoesNotHoldForWhatIsNoStatement) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view sql :
       {""sv, " ; -- nothing"sv, "(SELECT 1)"sv, "nonsense"sv, "SELECT"sv.substr(0, 5),
        "SELECT 'a"sv, "SELECT $a(; DELETE FROM t"sv, "SELECT (1"sv, "SELECT 1)"sv,
        "SELECT 1\0; DELETE FROM t"sv, "SELECT '\xFF'"sv, "WITH"sv, "PRAGMA"sv, "EXPLAIN"sv}) {
    EXPECT_FALSE(is_read_only(sql)) << sql;
  }
}

}  // namespace
}  // namespace spillway
