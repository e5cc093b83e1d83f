// SPDX-License-Identifier: MIT
//
// Goal: of every table it is known how to walk it and where its rows' age stands, or that it is
// none to delete from.
#include "retention/table_form.h"

#include <spillway/sqlite_database.h>

#include "table/log_schema.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TableFormTest : public ::testing::Test {
 protected:
  void create(const std::string& sql) {
    const std::vector<Statement> statements{{sql}};
    const Status status = database->execute(statements, {}).status();
    ASSERT_TRUE(status.is_ok()) << sql << ": " << status.to_string();
  }
  Result<TableForm> form_of(const std::string& table, std::optional<std::string> column = {}) {
    return read_table_form(*database, {.table = table, .time_column = std::move(column)}, {});
  }

  testing::TempDir directory;
  std::unique_ptr<Database> database =
      SqliteDatabase::open(directory.path("log.db"), OpenMode::kCreate).value();
};

TEST_F(TableFormTest, OfSpillwaysOwnTable) {
  ASSERT_TRUE(database->execute(create_statements("logs"), {}));
  for (const auto& [table, column] :
       std::vector<std::pair<std::string, std::optional<std::string>>>{
           {"logs", {}}, {"logs", "created_at"}, {"LOGS", "CREATED_AT"}}) {
    const TableForm form = form_of(table, column).value();
    EXPECT_TRUE(form.is_own) << table;
    EXPECT_THAT(form.key, ElementsAre("\"created_at\"", "\"writer\"", "\"seq\"")) << table;
    EXPECT_EQ(form.time, "\"created_at\"");
    EXPECT_EQ(form.level, "\"level\"");
    EXPECT_EQ(form.columns.size(), kLogColumnNames.size());
  }
  EXPECT_EQ(form_of("logs_meta").error().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(form_of("logs", "message").value().is_own);
}

TEST_F(TableFormTest, KnowsTheKeyOfTablesOfOthers) {
  struct Case {
    const char* columns;  // And what follows them.
    std::vector<std::string> key;
  };
  for (const Case& one : {
           Case{"id INTEGER PRIMARY KEY, LOG)", {"\"id\""}},
           Case{"id integer, LOG, PRIMARY KEY(id DESC))", {"\"id\""}},
           Case{"id INT PRIMARY KEY, LOG)", {"rowid"}},
           Case{"id INTEGER, part, LOG, PRIMARY KEY(id, part))", {"rowid"}},
           Case{"LOG)", {"rowid"}},
           Case{"RowId TEXT, LOG)", {"_rowid_"}},
           Case{"rowid, _ROWID_ TEXT, LOG)", {"oid"}},
           Case{"oid INTEGER PRIMARY KEY, rowid, _rowid_, LOG)", {"\"oid\""}},
           Case{"b BLOB, a TEXT, LOG, PRIMARY KEY(a, b)) WITHOUT ROWID", {"\"a\"", "\"b\""}},
           Case{"id INTEGER PRIMARY KEY, LOG) WITHOUT ROWID", {"\"id\""}},
           Case{"\"a \"\"quoted\"\" key\" INTEGER PRIMARY KEY, LOG)", {"\"a \"\"quoted\"\" key\""}},
           Case{"\"select\" TEXT PRIMARY KEY, LOG) WITHOUT ROWID, STRICT", {"\"select\""}},
       }) {
    std::string sql = std::string("CREATE TABLE log(") + one.columns;
    sql.replace(sql.find("LOG"), 3, "Level TEXT, message TEXT, Created_At TEXT");
    create(sql);
    const Result<TableForm> form = form_of("log");
    ASSERT_TRUE(form) << sql << form.status().to_string();
    EXPECT_FALSE(form->is_own) << sql;
    EXPECT_THAT(form->key, ElementsAreArray(one.key)) << sql;
    EXPECT_EQ(form->time, "\"Created_At\"");
    EXPECT_EQ(form->level, "\"Level\"");
    EXPECT_THAT(form->columns, ::testing::IsSupersetOf(one.key)) << sql << ": for the archive";
    create("DROP TABLE log");
  }
}

TEST_F(TableFormTest, NamesWhatIsStoredAndQuotesAllNames) {
  create(
      "CREATE TABLE \"order by \"\"x\"\"\"(id INTEGER PRIMARY KEY, \"the time\" INT, "
      "kept AS (id + 1) STORED, made AS (id + 2) VIRTUAL, \"a\"\"b\")");
  const TableForm form = form_of("order by \"x\"", "THE TIME").value();
  EXPECT_EQ(form.table(), "\"order by \"\"x\"\"\"");
  EXPECT_EQ(form.meta(), "\"order by \"\"x\"\"_meta\"");
  EXPECT_EQ(form.time, "\"the time\"");
  EXPECT_THAT(form.level, IsEmpty());
  EXPECT_THAT(form.columns, ElementsAre("\"id\"", "\"the time\"", "\"a\"\"b\""));
  const std::vector<Statement> statements{{"SELECT count(*) FROM " + form.table() + " WHERE " +
                                           form.instant() + " < 5 ORDER BY " +
                                           form.key_list_descending()}};
  EXPECT_TRUE(database->execute(statements, {}));
}

TEST_F(TableFormTest, TakesNoTableThatIsNoLog) {
  create("CREATE TABLE plain(id INTEGER PRIMARY KEY, stamp TEXT)");
  create("CREATE VIEW seen AS SELECT stamp AS created_at, 1 AS level, 2 AS message FROM plain");
  create("CREATE VIRTUAL TABLE found USING fts5(level, message, created_at)");
  create("CREATE TABLE hidden(rowid, _rowid_, oid, level, message, created_at)");
  create("CREATE TABLE half(level, created_at)");
  struct Case {
    const char* table;
    std::optional<std::string> column;
    StatusCode code;
    const char* says;
  };
  for (const Case& one : {
           Case{"nothing", {}, StatusCode::kSchema, "no such table: nothing"},
           Case{"", {}, StatusCode::kSchema, "no such table"},
           Case{"seen", {}, StatusCode::kInvalidArgument, "of type view"},
           Case{"found", {}, StatusCode::kInvalidArgument, "of type virtual"},
           Case{"found_data", "id", StatusCode::kInvalidArgument, "of type shadow"},
           Case{"plain", {}, StatusCode::kInvalidArgument, "--time-column"},
           Case{"plain", "time", StatusCode::kInvalidArgument, "no column \"time\""},
           Case{"half", {}, StatusCode::kInvalidArgument, "no column \"message\""},
           Case{"hidden", {}, StatusCode::kInvalidArgument, "hides its rowid"},
       }) {
    const Result<TableForm> form = form_of(one.table, one.column);
    ASSERT_FALSE(form) << one.table;
    EXPECT_EQ(form.error().code(), one.code) << one.table;
    EXPECT_THAT(form.error().message(), HasSubstr(one.says)) << one.table;
  }
}

}  // namespace
}  // namespace spillway::retention
