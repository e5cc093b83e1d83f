// SPDX-License-Identifier: MIT
#include "table/log_table.h"

#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"
#include "tests/support/scripted_database.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spillway {
namespace {

using testing::count_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::open_file;
using testing::RawSqlite;
using testing::run;
using testing::value_of;

constexpr std::int64_t kWriter = 9'007'199'254'740'991;  // 2^53 - 1, the greatest there is.
constexpr const char* kColumns =
    "created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT NULL, "
    "level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT";

LogTable table_named(std::string_view name) { return std::move(LogTable::named(name)).value(); }

Record record_of(std::int64_t seq, std::string message = "hello") {
  return {.time = WallTime(std::chrono::milliseconds(1'787'898'912'345)),
          .seq = seq,
          .level = Level::kWarn,
          .context = "app",
          .message = std::move(message),
          .fields = {}};
}

class LogTableTest : public testing::SqliteFile {
 protected:
  // What `prepare` says of a file that somebody else has made with `sql`.
  std::string answer_after(const std::string& sql, std::string_view table = "logs") {
    EXPECT_EQ(RawSqlite(path).exec(sql), SQLITE_OK) << sql;
    const Status status = table_named(table).prepare(*open_file(path), {});
    EXPECT_EQ(status.code(), status.is_ok() ? StatusCode::kOk : StatusCode::kConfig) << sql;
    return status.message();
  }

  const LogTable logs = table_named("logs");
};

TEST_F(LogTableTest, CreatesWhatTheFormatSays) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  EXPECT_EQ(value_of(*database, "SELECT value FROM logs_meta WHERE key = 'schema_version'"),
            Value(std::int64_t{1}));
  const auto results =
      run(*database, {{"SELECT name FROM pragma_table_info('logs') ORDER BY cid"},
                      {"SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"},
                      {"SELECT wr FROM pragma_table_list WHERE name = 'logs'"}})
          .value();
  EXPECT_EQ(
      results[0].rows,
      (std::vector<Row>{
          {"created_at"}, {"writer"}, {"seq"}, {"level"}, {"context"}, {"message"}, {"fields"}}));
  EXPECT_TRUE(results[1].rows.empty());
  EXPECT_EQ(results[2].rows.at(0).at(0), Value(std::int64_t{1}));  // WITHOUT ROWID
}

TEST_F(LogTableTest, StoresARow) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  Record with_fields = record_of(2, std::string("\xE2\x90\x80 5 €"));
  with_fields.fields = R"({"a":1})";
  const std::vector<Record> rows{record_of(1), with_fields};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 2);
  const auto stored = run(*database, {{"SELECT * FROM logs ORDER BY seq"}}).value()[0].rows;
  EXPECT_EQ(stored[0], (Row{"2026-08-28T06:35:12.345Z", kWriter, std::int64_t{1}, "WARN", "app",
                            "hello", std::monostate()}));
  EXPECT_EQ(stored[1], (Row{"2026-08-28T06:35:12.345Z", kWriter, std::int64_t{2}, "WARN", "app",
                            with_fields.message, R"({"a":1})"}));
}

TEST_F(LogTableTest, ARowThatIsSentAgainIsOneRow) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  std::vector<Record> rows{record_of(1), record_of(2), record_of(3)};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 3);
  rows.push_back(record_of(4));
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 1);
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 0);
  EXPECT_EQ(count_of(*database, "logs"), 4);
  EXPECT_EQ(logs.insert(*database, kWriter - 1, rows, {}).value().rows, 4);
}

TEST_F(LogTableTest, InsertsAllRowsOrNone) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  ASSERT_TRUE(run(*database, {{"CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.message = 'bad' "
                               "BEGIN SELECT raise(ABORT, 'no'); END"}})
                  .has_value());
  const std::vector<Record> rows{record_of(1), record_of(2, "bad"), record_of(3)};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).status().code(), StatusCode::kConstraint);
  EXPECT_EQ(count_of(*database, "logs"), 0);
}

// "no" for a row that the trigger is to ignore.
constexpr const char* kIgnoring =
    "CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.message = 'no' BEGIN SELECT raise(IGNORE); "
    "END";

TEST_F(LogTableTest, NamesTheRowsThatATriggerIgnores) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  ASSERT_TRUE(run(*database, {{kIgnoring}}).has_value());
  const std::vector<Record> rows{record_of(6), record_of(7, "no"), record_of(8),
                                 record_of(9, "no")};
  const Inserted inserted = logs.insert(*database, kWriter, rows, {}).value();
  EXPECT_EQ(inserted.rows, 2);
  EXPECT_THAT(inserted.missing, ElementsAre(7, 9));
  EXPECT_EQ(count_of(*database, "logs"), 2);

  const Inserted again = logs.insert(*database, kWriter, rows, {}).value();
  EXPECT_EQ(again.rows, 0);
  EXPECT_THAT(again.missing, ElementsAre(7, 9));
}

TEST_F(LogTableTest, WhatATriggerWritesHidesNoRowThatItIgnores) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  ASSERT_TRUE(run(*database, {{"CREATE TABLE audit(seq)"},
                              {"CREATE TRIGGER a AFTER INSERT ON logs BEGIN "
                               "INSERT INTO audit VALUES(new.seq); END"}})
                  .has_value());
  const std::vector<Record> good{record_of(1), record_of(2)};
  EXPECT_EQ(logs.insert(*database, kWriter, good, {}).value().rows, 2);
  EXPECT_EQ(count_of(*database, "audit"), 2);

  // As many changes as rows, or more, although one row is missing.
  ASSERT_TRUE(run(*database, {{kIgnoring}}).has_value());
  const std::vector<Record> mixed{record_of(3), record_of(4, "no"), record_of(5)};
  EXPECT_THAT(logs.insert(*database, kWriter, mixed, {}).value().missing, ElementsAre(4));
}

// The limit of what the number of changes can tell; docs/formats.md says so.
TEST_F(LogTableTest, ARowThatATriggerMovesElsewhereCountsAsStored) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  ASSERT_TRUE(run(*database, {{"CREATE TABLE aside(message)"},
                              {"CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.message = 'no' "
                               "BEGIN INSERT INTO aside VALUES(new.message); "
                               "SELECT raise(IGNORE); END"}})
                  .has_value());
  const std::vector<Record> rows{record_of(1), record_of(2, "no")};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 2);
  EXPECT_EQ(count_of(*database, "logs"), 1);
  EXPECT_EQ(count_of(*database, "aside"), 1);
}

TEST_F(LogTableTest, ARowThatATriggerMasksIsStoredAllTheSame) {
  const auto database = open_file(path);
  ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  ASSERT_TRUE(run(*database, {{"CREATE TRIGGER m AFTER INSERT ON logs BEGIN "
                               "UPDATE logs SET message = '***' WHERE seq = new.seq; END"}})
                  .has_value());
  const std::vector<Record> rows{record_of(1), record_of(2)};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 2);
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).value().rows, 0);
  EXPECT_EQ(value_of(*database, "SELECT count(*) FROM logs WHERE message = '***'"),
            Value(std::int64_t{2}));
}

/// Answers every call with the same results, whatever it was asked.
class OddDatabase final : public Database {
 public:
  explicit OddDatabase(std::vector<StatementResult> answer) : answer_(std::move(answer)) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                                             const ExecuteOptions&) override {
    return answer_;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {.name = "Odd"}; }

 private:
  std::vector<StatementResult> answer_;
};

TEST_F(LogTableTest, AnAnswerThatDoesNotFitIsALostOne) {
  OddDatabase none({});
  StatementResult narrow;
  narrow.rows.emplace_back();
  OddDatabase empty_rows({narrow, narrow, narrow, narrow});
  const Record row = record_of(1);
  for (OddDatabase* odd : {&none, &empty_rows}) {
    EXPECT_EQ(logs.prepare(*odd, {}).code(), StatusCode::kLost);
    EXPECT_EQ(logs.insert(*odd, kWriter, std::span(&row, 1), {}).status().code(),
              StatusCode::kLost);
  }
}

TEST_F(LogTableTest, WhenTheComparisonFailsTheRowsAreInDoubt) {
  const auto script = std::make_shared<testing::DatabaseScript>(Clock::system(), "is_there");
  testing::ScriptedDatabase database(script, open_file(path));
  ASSERT_TRUE(logs.prepare(database, {}).is_ok());
  const std::vector<Record> rows{record_of(1), record_of(2)};
  EXPECT_EQ(logs.insert(database, kWriter, rows, {}).value().rows, 2);
  EXPECT_EQ(script->attempts(), 0U);  // It is needed only when the numbers differ.

  script->add({testing::Outcome::refuse(Status(StatusCode::kOverload, "busy"))});
  const Status status =
      logs.insert(database, kWriter, rows, {.lock_wait = std::chrono::milliseconds(3)}).status();
  EXPECT_EQ(status.code(), StatusCode::kOverload);
  EXPECT_EQ(status.execution(), Execution::kMaybe);
  EXPECT_EQ(script->calls().at(0).lock_wait, std::chrono::milliseconds(3));
  EXPECT_EQ(logs.insert(database, kWriter, rows, {}).value().rows, 0);
}

// They are stored: what is said of the comparison must not refuse them.
TEST_F(LogTableTest, NoFailureOfTheComparisonIsOneOfTheRows) {
  const auto script = std::make_shared<testing::DatabaseScript>(Clock::system(), "is_there");
  testing::ScriptedDatabase database(script, open_file(path));
  ASSERT_TRUE(logs.prepare(database, {}).is_ok());
  const std::vector<Record> rows{record_of(1), record_of(2)};
  const auto compared = [&](StatusCode code, std::size_t count) {
    script->add({testing::Outcome::refuse(Status(code, "no"))});
    return logs.insert(database, kWriter, std::span(rows).first(count), {}).status();
  };
  ASSERT_TRUE(logs.insert(database, kWriter, rows, {}));
  EXPECT_EQ(compared(StatusCode::kConstraint, 2).code(), StatusCode::kLost);
  EXPECT_EQ(compared(StatusCode::kTooBig, 1).code(), StatusCode::kLost);
  const Status of_many = compared(StatusCode::kTooBig, 2);
  EXPECT_EQ(of_many.code(), StatusCode::kTooBig) << "half of them may be compared";
  EXPECT_EQ(of_many.execution(), Execution::kMaybe);
}

TEST_F(LogTableTest, NoRowsNeedNoDatabase) {
  const auto database = open_file(path);
  EXPECT_EQ(logs.insert(*database, kWriter, {}, {}).value().rows, 0);
}

TEST_F(LogTableTest, SaysSchemaWhenTheTableIsMissing) {
  const auto database = open_file(path);
  const std::vector<Record> rows{record_of(1)};
  EXPECT_EQ(logs.insert(*database, kWriter, rows, {}).status().code(), StatusCode::kSchema);
}

TEST_F(LogTableTest, WritesNothingAndTakesNoLockWhenAllIsThere) {
  ASSERT_TRUE(logs.prepare(*open_file(path), {}).is_ok());
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const auto database = open_file(path);
  EXPECT_TRUE(logs.prepare(*database, {.lock_wait = std::chrono::milliseconds(0)}).is_ok());
  const auto reader = open_file(path, OpenMode::kReadOnly);
  EXPECT_TRUE(logs.prepare(*reader, {}).is_ok());
}

TEST_F(LogTableTest, HandsOnThatTheDatabaseIsBusy) {
  const auto database = open_file(path);
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  const Status status = logs.prepare(*database, {.lock_wait = std::chrono::milliseconds(0)});
  EXPECT_EQ(status.code(), StatusCode::kOverload);
}

TEST_F(LogTableTest, AddsWhatIsMissing) {
  EXPECT_EQ(answer_after(std::string("CREATE TABLE logs(") + kColumns +
                         ", PRIMARY KEY(created_at, writer, seq)) WITHOUT ROWID"),
            "");
  EXPECT_EQ(RawSqlite(path).value("SELECT value FROM logs_meta"), "1");
  EXPECT_EQ(answer_after("DELETE FROM logs_meta"), "");
  EXPECT_EQ(RawSqlite(path).value("SELECT value FROM logs_meta"), "1");
  EXPECT_EQ(answer_after("DROP TABLE logs"), "");
}

TEST_F(LogTableTest, RefusesATableOfAnotherShapeAndSaysHow) {
  const auto says = [](const std::string& how) {
    return "table \"logs\" in this database has another shape (" + how +
           "); use another --table or rename it";
  };
  const std::string key = ", PRIMARY KEY(created_at, writer, seq))";
  const std::string columns = kColumns;
  struct Case {
    std::string definition;
    std::string how;
  };
  const std::vector<Case> cases = {
      {"(created_at TEXT NOT NULL, writer INTEGER NOT NULL, msg TEXT)",
       R"(column 3 is "msg TEXT", expected "seq INTEGER NOT NULL")"},
      {"(created_at DATETIME NOT NULL)",
       R"(column 1 is "created_at DATETIME NOT NULL", expected "created_at TEXT NOT NULL")"},
      {'(' + columns + " NOT NULL" + key,
       R"(column 7 is "fields TEXT NOT NULL", expected "fields TEXT")"},
      {'(' + columns + ", extra" + key, "it has 8 columns, expected 7"},
      {"(created_at TEXT NOT NULL, writer INTEGER NOT NULL)", "it has 2 columns, expected 7"},
      {'(' + columns + ')', "its primary key is (), expected (created_at, writer, seq)"},
      {'(' + columns + ", PRIMARY KEY(writer, seq, created_at))",
       "its primary key is (writer, seq, created_at), expected (created_at, writer, seq)"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(answer_after("DROP TABLE IF EXISTS logs; CREATE TABLE logs" + each.definition),
              says(each.how));
    EXPECT_EQ(RawSqlite(path).value("SELECT name FROM sqlite_schema WHERE name = 'logs_meta'"),
              "none");
  }
}

TEST_F(LogTableTest, RefusesAMetaTableThatIsNotOurs) {
  EXPECT_THAT(
      answer_after("CREATE TABLE logs_meta(id INTEGER PRIMARY KEY)"),
      HasSubstr("\"logs_meta\" in this database has another shape (column 1 is \"id INTEGER\""));
}

TEST_F(LogTableTest, RefusesAViewAndAnIndexOfTheName) {
  EXPECT_EQ(answer_after("CREATE VIEW Logs AS SELECT 1"),
            "table \"Logs\" in this database is no table but of type view; use another --table or "
            "rename it");
  EXPECT_THAT(answer_after("DROP VIEW Logs; CREATE TABLE t(a); CREATE INDEX logs ON t(a)"),
              HasSubstr("of type index"));
  EXPECT_THAT(answer_after("DROP INDEX logs; CREATE VIEW logs_meta AS SELECT 1"),
              HasSubstr("of type view"));
}

TEST_F(LogTableTest, RefusesATableOfANewerVersion) {
  ASSERT_TRUE(logs.prepare(*open_file(path), {}).is_ok());
  EXPECT_EQ(answer_after("UPDATE logs_meta SET value = 2"),
            "table \"logs\" was made by a newer Spillway (schema version 2, this one knows 1); "
            "update this program");
  EXPECT_EQ(answer_after("UPDATE logs_meta SET value = 1.0"), "");  // As D1 stores it.
  EXPECT_THAT(answer_after("UPDATE logs_meta SET value = 'one'"),
              HasSubstr("holds no number as schema_version"));
}

TEST_F(LogTableTest, TakesAnyNameThatCanBeQuoted) {
  const auto database = open_file(path);
  for (const std::string name :
       {"a\"; DROP TABLE logs; --", "select", "x y", "Überlauf", "%s", "a'b", "[x]", "1"}) {
    const LogTable table = table_named(name);
    ASSERT_TRUE(table.prepare(*database, {}).is_ok()) << name;
    EXPECT_TRUE(table.prepare(*database, {}).is_ok()) << name;
    const std::vector<Record> rows{record_of(1)};
    EXPECT_EQ(table.insert(*database, kWriter, rows, {}).value().rows, 1) << name;
    EXPECT_EQ(value_of(*database, "SELECT count(*) FROM sqlite_schema WHERE name = ?", {name}),
              Value(std::int64_t{1}));
  }
  EXPECT_EQ(count_of(*database, "\"a\"\"; DROP TABLE logs; --\""), 1);
}

TEST(LogTableName, HasBounds) {
  for (const std::string& name :
       {std::string(), std::string(65, 'x'), std::string("a\0b", 3), std::string("\xff"),
        std::string("sqlite_x"), std::string("SQLite_x")}) {
    EXPECT_EQ(LogTable::named(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
  for (const std::string& name :
       {std::string(64, 'x'), std::string("sqlite"), std::string("logs")}) {
    EXPECT_EQ(LogTable::named(name).value().name(), name);
  }
}

}  // namespace
}  // namespace spillway
