// SPDX-License-Identifier: MIT
//
// LogTable with the statements it has for D1. SQLite, which understands them too, stands for D1
// here; what the real engine says to them is a test of the d1 component.
#include <gmock/gmock.h>

#include "base/utf8.h"
#include "table/insert_sql.h"
#include "table/log_table.h"
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
using testing::run;
using ::testing::SizeIs;
using testing::value_of;

constexpr std::int64_t kWriter = 9'007'199'254'740'991;  // 2^53 - 1, the greatest there is.
constexpr std::size_t kTextBytesMax = 2'000'000;

Record record_of(std::int64_t seq, const std::string& message = "hello") {
  return make_record({.time = WallTime(std::chrono::milliseconds(1'787'898'912'345)),
                      .level = Level::kWarn,
                      .context = "app",
                      .message = message},
                     seq);
}

// As D1 answers: every number is a double.
class DoublesDatabase final : public Database {
 public:
  explicit DoublesDatabase(std::unique_ptr<Database> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    auto results = inner_->execute(statements, options);
    for (StatementResult& result : results ? *results : none_) {
      for (Row& row : result.rows) {
        for (Value& value : row) {
          if (const auto* number = std::get_if<std::int64_t>(&value)) {
            value = static_cast<double>(*number);
          }
        }
      }
    }
    return results;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return testing::d1_traits(); }

 private:
  std::unique_ptr<Database> inner_;
  std::vector<StatementResult> none_;
};

class LogTableOnD1 : public testing::SqliteFile {
 protected:
  void SetUp() override {
    script->set_traits(testing::d1_traits());
    script->keep_statements();
    ASSERT_TRUE(logs.prepare(database, {}).is_ok());
  }
  Result<Inserted> insert(const std::vector<Record>& rows) {
    return logs.insert(database, kWriter, rows, {});
  }
  // Of the last insert.
  std::vector<Statement> statements() { return script->calls().back().statements; }

  const LogTable logs = std::move(LogTable::named("lo\"gs")).value();
  std::shared_ptr<testing::DatabaseScript> script = std::make_shared<testing::DatabaseScript>();
  testing::ScriptedDatabase database{script, open_file(path)};
  const std::string table = "\"lo\"\"gs\"";
};

TEST_F(LogTableOnD1, SendsABatchAsOneStatementWithOneParameter) {
  std::vector<Record> rows;
  for (std::int64_t seq = 1; seq <= 250; ++seq) {
    rows.push_back(record_of(seq));
  }
  EXPECT_EQ(insert(rows).value().rows, 250);
  EXPECT_EQ(count_of(database, table), 250);
  ASSERT_EQ(script->attempts(), 1U);
  ASSERT_THAT(statements(), SizeIs(1));
  EXPECT_EQ(statements()[0].sql,
            "INSERT INTO " + table +
                "(created_at, writer, seq, level, context, message, fields) "
                "SELECT j.value->>0, j.value->>1, j.value->>2, j.value->>3, j.value->>4, "
                "j.value->>5, j.value->>6 FROM json_each(?1) j WHERE true "
                "ON CONFLICT(created_at, writer, seq) DO NOTHING");
  ASSERT_THAT(statements()[0].rows, SizeIs(1));
  EXPECT_THAT(statements()[0].rows[0], SizeIs(1));
}

TEST_F(LogTableOnD1, StoresWhatSqliteStores) {
  std::vector<Record> rows{record_of(1), record_of(2, "\"\\\x01\n\x7f € \xF0\x9F\x8C\x8A"),
                           record_of(3, std::string("a\0b\xff", 4)), record_of(4, "")};
  rows[1].fields = R"({"k":"a\"b\\","n":[1.5,null]})";
  rows[2].context = "5";
  rows[3].message = "12e3";
  ASSERT_TRUE(insert(rows).has_value());
  const LogTable plain = std::move(LogTable::named("plain")).value();
  const auto file = open_file(path);
  ASSERT_TRUE(plain.prepare(*file, {}).is_ok());
  ASSERT_TRUE(plain.insert(*file, kWriter, rows, {}).has_value());
  const auto answers = run(*file, {{"SELECT *, typeof(created_at), typeof(writer), typeof(seq), "
                                    "typeof(message) FROM " +
                                    table + " ORDER BY seq"},
                                   {"SELECT *, typeof(created_at), typeof(writer), typeof(seq), "
                                    "typeof(message) FROM plain ORDER BY seq"}})
                           .value();
  EXPECT_THAT(answers[0].rows, SizeIs(4));
  EXPECT_EQ(answers[0].rows, answers[1].rows);
}

TEST_F(LogTableOnD1, ARowThatIsSentAgainIsOneRow) {
  std::vector<Record> rows{record_of(1), record_of(2)};
  EXPECT_EQ(insert(rows).value().rows, 2);
  rows.push_back(record_of(3));
  EXPECT_EQ(insert(rows).value().rows, 1);
  const Inserted again = insert(rows).value();
  EXPECT_EQ(again.rows, 0);
  EXPECT_EQ(again.collisions, 0);
  EXPECT_EQ(count_of(database, table), 3);
}

TEST_F(LogTableOnD1, RowsBeyondOneTextGoInMoreStatementsOfOneTransaction) {
  std::vector<Record> rows;
  for (std::int64_t seq = 1; seq <= 5; ++seq) {
    rows.push_back(record_of(seq, std::string(900'000, 'x')));
  }
  EXPECT_EQ(insert(rows).value().rows, 5);
  EXPECT_EQ(script->attempts(), 1U);
  EXPECT_THAT(statements(), SizeIs(3));
  for (const Statement& statement : statements()) {
    EXPECT_LE(std::get<std::string>(statement.rows.at(0).at(0)).size(), kTextBytesMax);
  }
}

TEST_F(LogTableOnD1, AllOfThemOrNone) {
  ASSERT_TRUE(run(database, {{"CREATE TRIGGER g BEFORE INSERT ON " + table +
                              " WHEN new.seq = 5 BEGIN SELECT raise(ABORT, 'no'); END"}})
                  .has_value());
  std::vector<Record> rows;
  for (std::int64_t seq = 1; seq <= 5; ++seq) {
    rows.push_back(record_of(seq, std::string(900'000, 'x')));
  }
  EXPECT_EQ(insert(rows).status().code(), StatusCode::kConstraint);
  EXPECT_EQ(count_of(database, table), 0);
}

// Three megabytes in a row are cut; the rows beside it are not touched, and nothing is refused.
TEST_F(LogTableOnD1, ARowOverTheLimitIsCutAtACodePointAndTheOthersAreIntact) {
  std::string large;
  while (large.size() < 3'000'000) {
    large += "\xF0\x9F\x8C\x8A";
  }
  std::vector<Record> rows;
  for (std::int64_t seq = 1; seq <= 20; ++seq) {
    rows.push_back(record_of(seq, seq == 7 ? large : "row " + std::to_string(seq)));
  }
  EXPECT_EQ(insert(rows).value().rows, 20);
  EXPECT_EQ(script->attempts(), 1U);
  EXPECT_EQ(value_of(database, "SELECT fields->>'original_bytes' FROM " + table + " WHERE seq = 7"),
            Value(std::int64_t{3'000'000}));
  const std::string stored =
      std::get<std::string>(value_of(database, "SELECT message FROM " + table + " WHERE seq = 7"));
  EXPECT_EQ(stored, large.substr(0, stored.size()));
  EXPECT_TRUE(is_storable_text(stored));
  EXPECT_GT(stored.size(), 1'990'000U);
  EXPECT_EQ(value_of(database,
                     "SELECT max(octets) FROM (SELECT length(created_at) + 24 + "
                     "length(level) + length(context) + length(CAST(message AS BLOB)) + "
                     "coalesce(length(fields), 0) AS octets FROM " +
                         table + ") WHERE octets > 2000000"),
            Value());
  EXPECT_EQ(value_of(database, "SELECT count(*) FROM " + table + " WHERE message = 'row ' || seq"),
            Value(std::int64_t{19}));
}

TEST_F(LogTableOnD1, ARowWhoseJsonIsTooLongGoesAsColumns) {
  const std::string controls(350'000, '\x01');  // Six bytes each in JSON.
  const std::vector<Record> rows{record_of(1), record_of(2, controls), record_of(3)};
  EXPECT_EQ(insert(rows).value().rows, 3);
  ASSERT_THAT(statements(), SizeIs(3));
  ASSERT_THAT(statements()[1].rows, SizeIs(1));
  EXPECT_THAT(statements()[1].rows[0], SizeIs(7));
  EXPECT_EQ(value_of(database, "SELECT message FROM " + table + " WHERE seq = 2"), Value(controls));
  EXPECT_EQ(insert(rows).value().rows, 0) << "and the comparison takes it in that form";
}

TEST_F(LogTableOnD1, NamesTheRowsThatATriggerIgnores) {
  ASSERT_TRUE(run(database, {{"CREATE TRIGGER g BEFORE INSERT ON " + table +
                              " WHEN new.message = 'no' BEGIN SELECT raise(IGNORE); END"}})
                  .has_value());
  const auto inserted =
      insert({record_of(6), record_of(7, "no"), record_of(8), record_of(9, "no")});
  EXPECT_THAT(inserted.value().missing, ElementsAre(7, 9));
}

TEST_F(LogTableOnD1, TheComparisonFindsRowsByTheirKey) {
  ASSERT_TRUE(insert({record_of(1)}).has_value());
  for (const RowForm form : {RowForm::kJson, RowForm::kColumns}) {
    const std::string sql = "EXPLAIN QUERY PLAN " + comparison_sql(logs.name(), form);
    const Row row = form == RowForm::kJson ? Row{"[]"} : Row(7);
    const auto plan = run(database, {{sql, {row}}}).value().at(0).rows;
    EXPECT_THAT(std::get<std::string>(plan.back().back()),
                HasSubstr("SEARCH l USING PRIMARY KEY (created_at=? AND writer=? AND seq=?)"));
  }
}

// The two forms of the comparison, each with a database that answers in integers and in doubles.
class Comparison : public testing::SqliteFile, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    database = open_file(path);
    if (GetParam()) {
      database = std::make_unique<DoublesDatabase>(std::move(database));
    }
    ASSERT_TRUE(logs.prepare(*database, {}).is_ok());
  }
  Inserted inserted_again(const Record& changed) {
    const std::vector<Record> rows{record_of(8), changed, record_of(9)};
    return logs.insert(*database, kWriter, rows, {}).value();
  }

  const LogTable logs = std::move(LogTable::named("logs")).value();
  std::unique_ptr<Database> database;
};

INSTANTIATE_TEST_SUITE_P(Of, Comparison, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "D1" : "Sqlite"; });

TEST_P(Comparison, CountsRowsWhoseContentsDiffer) {
  const Record first = record_of(kWriter);  // A number that a double just holds.
  inserted_again(first);
  EXPECT_EQ(inserted_again(first).collisions, 0);
  std::vector<Record> changes(4, first);
  changes[0].level = Level::kError;
  changes[1].context = "App";
  changes[2].message += ' ';
  changes[3].fields = "{}";
  for (const Record& changed : changes) {
    const Inserted again = inserted_again(changed);
    EXPECT_EQ(again.rows, 0);
    EXPECT_EQ(again.collisions, 1);
    EXPECT_EQ(again.collided_seq, kWriter);
  }
  EXPECT_EQ(count_of(*open_file(path), "logs"), 3) << "the table keeps what it had";
}

TEST_P(Comparison, FieldsThatAreGoneDifferToo) {
  Record with_fields = record_of(1);
  with_fields.fields = R"({"a":1})";
  inserted_again(with_fields);
  EXPECT_EQ(inserted_again(with_fields).collisions, 0);
  EXPECT_EQ(inserted_again(record_of(1)).collisions, 1);
}

TEST_P(Comparison, CountsACollisionBesideAMissingRow) {
  inserted_again(record_of(1));
  ASSERT_TRUE(run(*database, {{"CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.message = 'no' "
                               "BEGIN SELECT raise(IGNORE); END"}})
                  .has_value());
  const std::vector<Record> rows{record_of(1, "other"), record_of(2, "no")};
  const Inserted inserted = logs.insert(*database, kWriter, rows, {}).value();
  EXPECT_EQ(inserted.collisions, 1);
  EXPECT_THAT(inserted.missing, ElementsAre(2));
}

}  // namespace
}  // namespace spillway
