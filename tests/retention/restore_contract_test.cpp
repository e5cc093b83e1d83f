// SPDX-License-Identifier: MIT
//
// Goal: an archive puts back exactly what was deleted, on each kind of database, each row once, and
// nothing at all if a single byte of it is wrong.
// Method: rows are read, archived and deleted as a run does it, and looked at in the database when
// they are back.
#include <spillway/prepared_statement.h>
#include <spillway/sqlite_database.h>

#include "retention/archive.h"
#include "retention/table_form.h"
#include "tests/contract/database_source.h"
#include "tests/support/temp_dir.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

TableForm form_of(Database& database, const std::string& table) {
  return read_table_form(database, {.table = table, .time_column = "at"}, {}).value();
}

std::vector<Row> rows_to_archive(Database& database, const TableForm& form) {
  std::string list;
  for (const std::string& column : form.columns) {
    list += (list.empty() ? "" : ", ") + column;
  }
  return database
      .prepare("SELECT " + list + " FROM " + form.table() + " ORDER BY " + form.key_list())
      .raw()
      .value();
}

// Archives all rows and deletes them. The archive's file.
std::string archive_all(Database& database, const std::string& table, const TempDir& directory) {
  const TableForm form = form_of(database, table);
  const std::string meta = "CREATE TABLE IF NOT EXISTS " + form.meta();
  EXPECT_TRUE(database.exec(meta + "(key TEXT PRIMARY KEY, value)").has_value());
  const auto archive =
      Archive::open(directory.path().string(), form, database, WallTime(), 1, {}).value();
  const Status added = archive->add(rows_to_archive(database, form));
  EXPECT_TRUE(added.is_ok()) << added.to_string();
  EXPECT_TRUE(database.exec("DELETE FROM " + form.table()).has_value());
  EXPECT_TRUE(archive->confirm().is_ok());
  return archive->file();
}

class RetentionRestore : public testing::DatabaseContract {
 protected:
  std::string archive(const std::string& table) { return archive_all(*database, table, directory); }
  Result<Restored> put_back(const std::string& file, const std::string& table = {}) {
    return restore(file, table, *database, {}, {});
  }
  void exec(const std::string& sql) { ASSERT_TRUE(status_of({{sql}}).is_ok()) << sql; }

  TempDir directory;
};

std::vector<Value> values_of_all_kinds() {
  using namespace std::string_literals;
  using Integers = std::numeric_limits<std::int64_t>;
  using Reals = std::numeric_limits<double>;
  return {std::monostate(),
          std::int64_t{0},
          Integers::min(),
          Integers::max(),
          (std::int64_t{1} << 53) + 1,
          0.1,
          3.0,
          1e21,
          9007199254740993.0,
          Reals::denorm_min(),
          Reals::max(),
          ""s,
          "1"s,
          "a\0b\0"s,
          "'\"\\ line\nline\r\t\x01\x7f \xC3\x9C\xF0\x9F\x8C\x8A"s,
          "\xFF"s,
          "cut \xE2\x82"s,
          Blob(),
          Blob{std::byte{0}, std::byte{0xFF}},
          std::string(100'000, 'x')};
}

TEST_P(RetentionRestore, PutsValuesOfAllKindsBackAsTheyWereEachOnce) {
  exec("CREATE TABLE t(at TEXT, x)");
  std::vector<Row> given;
  for (const Value& value : values_of_all_kinds()) {
    given.push_back({value});
  }
  const auto count = static_cast<std::int64_t>(given.size()) + 2;
  ASSERT_TRUE(status_of({{"INSERT INTO t(rowid, x) VALUES(9007199254740993, 9e999)"},
                         {"INSERT INTO t(rowid, x) VALUES(-5, -9e999)"},
                         {"INSERT INTO t(x) VALUES(?)", given}})
                  .is_ok());
  const std::string all = "SELECT rowid, at, x, typeof(x) FROM t ORDER BY rowid";
  const std::vector<Row> before = rows_of(all);
  const std::string file = archive("t");
  ASSERT_THAT(rows_of(all), IsEmpty());

  auto restored = put_back(file);
  ASSERT_TRUE(restored.has_value()) << restored.error().to_string();
  EXPECT_EQ(*restored, Restored{.rows = count});
  EXPECT_EQ(rows_of(all), before);
  restored = put_back(file);
  ASSERT_TRUE(restored.has_value()) << restored.error().to_string();
  EXPECT_EQ(*restored, Restored{.already_there = count});
  EXPECT_EQ(rows_of(all), before);
  EXPECT_EQ(value_of("SELECT count(*) FROM t_meta WHERE key = 'retention_restored'"),
            Value(std::int64_t{1}));
}

TEST_P(RetentionRestore, LeavesWhatIsThereOrMayNotComeAndCountsIt) {
  exec(
      "CREATE TABLE t(id INTEGER, at TEXT, x TEXT COLLATE NOCASE UNIQUE, PRIMARY KEY(at, id)) "
      "WITHOUT ROWID");
  exec(
      "INSERT INTO t VALUES(1, '2026', 'a'), (2, '2026', 'b'), (3, '2026', 'c'), (4, '2026', 'd'),"
      " (5, '2026', 'e'), (6, '2026', 'f')");
  const std::string file = archive("t");
  exec("INSERT INTO t VALUES(1, '2026', 'a')");  // The same.
  exec("INSERT INTO t VALUES(2, '2026', 'B')");  // Other contents, if the column sees them or not.
  exec("INSERT INTO t VALUES(9, '2026', 'c')");  // In the way of row 3.
  exec("CREATE TABLE log(x)");
  exec(
      "CREATE TRIGGER no BEFORE INSERT ON t WHEN NEW.id = 4 BEGIN "
      "SELECT raise(ABORT, 'no'); END");
  exec("CREATE TRIGGER mute BEFORE INSERT ON t WHEN NEW.id = 5 BEGIN SELECT raise(IGNORE); END");
  exec("CREATE TRIGGER loud AFTER INSERT ON t BEGIN INSERT INTO log VALUES(1), (2), (3); END");
  const auto restored = put_back(file);
  ASSERT_TRUE(restored.has_value()) << restored.error().to_string();
  EXPECT_EQ(*restored, (Restored{.rows = 1, .already_there = 1, .conflicting = 4}));
  EXPECT_THAT(rows_of("SELECT id, x FROM t ORDER BY id"),
              ElementsAre(Row{std::int64_t{1}, "a"}, Row{std::int64_t{2}, "B"},
                          Row{std::int64_t{6}, "f"}, Row{std::int64_t{9}, "c"}));
}

TEST_P(RetentionRestore, PutsManyRowsIntoAnotherTableAndTellsHowFarItIs) {
  const std::string columns = "(at TEXT, n INTEGER, \"a \"\"b\" TEXT, PRIMARY KEY(n))";
  exec("CREATE TABLE t" + columns);
  exec("CREATE TABLE \"the other\"" + columns);
  exec(
      "INSERT INTO t WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i LIMIT 1201) "
      "SELECT '2026-01-01', n, 'message ' || n FROM i");
  const std::string file = archive("t");
  std::vector<std::int64_t> progress;
  const auto restored = restore(file, "the other", *database, {},
                                [&progress](std::int64_t rows) { progress.push_back(rows); });
  ASSERT_TRUE(restored.has_value()) << restored.error().to_string();
  EXPECT_EQ(*restored, Restored{.rows = 1201});
  EXPECT_THAT(progress, ElementsAre(500, 1000, 1201));
  EXPECT_EQ(value_of("SELECT count(*) FROM t"), Value(std::int64_t{0}));
  EXPECT_EQ(value_of("SELECT sum(\"a \"\"b\" = 'message ' || n) FROM \"the other\""),
            Value(std::int64_t{1201}));
}

TEST_P(RetentionRestore, RefusesATableThatIsNotOfTheSameForm) {
  exec("CREATE TABLE t(at TEXT, id INTEGER PRIMARY KEY, x)");
  exec("INSERT INTO t VALUES('2026', 1, 'x')");
  const std::string file = archive("t");
  exec("CREATE TABLE narrow(at TEXT, id INTEGER PRIMARY KEY)");
  exec("CREATE TABLE generated(at TEXT, id INTEGER PRIMARY KEY, x AS (at))");
  exec("CREATE TABLE keyless(at TEXT, id INTEGER, x)");
  exec("CREATE VIEW seen AS SELECT * FROM t");
  struct Case {
    const char* table;
    StatusCode code;
    const char* why;
  };
  for (const Case& each : {Case{"missing", StatusCode::kSchema, "no such table: missing"},
                           Case{"narrow", StatusCode::kInvalidArgument, "has no column \"x\""},
                           Case{"generated", StatusCode::kInvalidArgument, "no column \"x\" that"},
                           Case{"keyless", StatusCode::kInvalidArgument, "primary key is not"},
                           Case{"seen", StatusCode::kInvalidArgument, "but of type view"}}) {
    const Status status = put_back(file, each.table).status();
    EXPECT_EQ(status.code(), each.code) << each.table;
    EXPECT_THAT(status.message(), HasSubstr(each.why));
  }
  EXPECT_EQ(value_of("SELECT count(*) FROM sqlite_master WHERE name = 'missing'"),
            Value(std::int64_t{0}));
  EXPECT_EQ(value_of("SELECT count(*) FROM keyless"), Value(std::int64_t{0}));
}

INSTANTIATE_TEST_SUITE_P(On, RetentionRestore, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class RetentionRestoreFile : public ::testing::Test {
 protected:
  RetentionRestoreFile() {
    EXPECT_TRUE(
        database->exec("CREATE TABLE t(at TEXT, id INTEGER PRIMARY KEY, x);"
                       "INSERT INTO t VALUES('2026', 1, 'x'), ('2026', 2, x'00')"));
    file = archive_all(*database, "t", directory);
  }
  Status status_of_restore() { return restore(file, {}, *database, {}, {}).status(); }
  std::int64_t rows() {
    return database->prepare("SELECT count(*) AS n FROM t")
        .first<std::int64_t>("n")
        .value()
        .value();
  }

  TempDir directory;
  std::unique_ptr<Database> database =
      SqliteDatabase::open(directory.path("db"), OpenMode::kCreate).value();
  std::string file;
};

TEST_F(RetentionRestoreFile, PutsNothingBackIfAnyByteOfItIsWrong) {
  for (const std::string& path : {file, file + ".manifest"}) {
    const std::string whole = content_of(path);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string wrong = whole;
      wrong[i] = static_cast<char>(wrong[i] ^ (1 << i % 8));
      overwrite(path, wrong);
      EXPECT_FALSE(status_of_restore().is_ok()) << path << " at " << i;
    }
    for (const std::size_t bytes : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
      overwrite(path, whole.substr(0, bytes));
      EXPECT_FALSE(status_of_restore().is_ok()) << path << " cut to " << bytes;
    }
    overwrite(path, whole + 'x');
    EXPECT_THAT(status_of_restore().message(),
                HasSubstr("`truncate -s " + std::to_string(whole.size()) + "`"));
    overwrite(path, whole);
  }
  EXPECT_EQ(rows(), 0);
  EXPECT_TRUE(status_of_restore().is_ok());
  EXPECT_EQ(rows(), 2);
}

TEST_F(RetentionRestoreFile, TakesAChunkWhoseDeletionNobodyConfirmed) {
  const std::string manifest = content_of(file + ".manifest");
  overwrite(file + ".manifest", manifest.substr(0, manifest.find("{\"deleted\"")));
  EXPECT_TRUE(status_of_restore().is_ok());
  EXPECT_EQ(rows(), 2);
}

TEST_F(RetentionRestoreFile, NamesTheFileThatCannotBeRead) {
  std::filesystem::remove(file);
  EXPECT_EQ(status_of_restore().code(), StatusCode::kConfig);
  EXPECT_THAT(status_of_restore().message(), HasSubstr(file + "\": No such file"));
  std::filesystem::remove(file + ".manifest");
  EXPECT_THAT(status_of_restore().message(), HasSubstr(file + ".manifest\": No such file"));
}

TEST_F(RetentionRestoreFile, WaitsForTheRunThatIsWritingIt) {
  const auto archive = Archive::open(directory.path().string(), form_of(*database, "t"), *database,
                                     WallTime(), 2, {})
                           .value();
  ASSERT_TRUE(archive->add({{"2026", std::int64_t{3}, "x"}}).is_ok());
  EXPECT_EQ(restore(archive->file(), {}, *database, {}, {}).status().code(), StatusCode::kOverload);
}

}  // namespace
}  // namespace spillway::retention
