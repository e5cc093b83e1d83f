// SPDX-License-Identifier: MIT
//
// Goal: a limit holds on each kind of database, by the database's own clock, and a refusal says
// when there is room again.
// Method: rows are given ages by hand, in the database's time, around the edge of the window.
#include <spillway/insert_if_below.h>

#include "d1/sql_fragments.h"
#include "tests/contract/database_source.h"

#include <chrono>
#include <string>

namespace spillway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using testing::DatabaseContract;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

// Between two calls on a busy machine.
constexpr milliseconds kSlack = seconds(30);

class InsertIfBelow : public DatabaseContract {
 protected:
  void SetUp() override {
    DatabaseContract::SetUp();
    if (!IsSkipped()) {
      ASSERT_TRUE(status_of({{"CREATE TABLE reports(who, what TEXT UNIQUE, at INTEGER NOT NULL)"}})
                      .is_ok());
    }
  }

  void add(const std::string& who, milliseconds age) {
    query("INSERT INTO reports(who, at) VALUES('" + who + "', " + std::string(kDatabaseNow) +
          " - " + std::to_string(age.count()) + ")");
  }
  Result<LimitedInsertResult> report(const Value& who, std::int64_t limit, milliseconds window) {
    return insert_if_below(
        *database,
        {.table = "reports", .values = {{"who", who}}, .time_column = "at", .counted_by = {"who"}},
        limit, window);
  }
  Value count() { return value_of("SELECT count(*) FROM reports"); }
};

TEST_P(InsertIfBelow, TakesRowsUpToTheLimitAndRefusesTheNext) {
  for (int i = 0; i < 3; ++i) {
    const auto taken = report("ada", 3, hours(1));
    ASSERT_TRUE(taken.has_value()) << taken.error().to_string();
    EXPECT_TRUE(taken->is_inserted);
    EXPECT_FALSE(taken->retry_after.has_value());
  }
  const auto refused = report("ada", 3, hours(1));
  ASSERT_TRUE(refused.has_value()) << refused.error().to_string();
  EXPECT_FALSE(refused->is_inserted);
  EXPECT_EQ(count(), Value(std::int64_t{3}));
}

TEST_P(InsertIfBelow, GivesTheRowTheDatabasesTime) {
  ASSERT_TRUE(report("ada", 1, hours(1)).has_value());
  EXPECT_EQ(value_of("SELECT typeof(at) = 'integer' AND abs(at - " + std::string(kDatabaseNow) +
                     ") < " + std::to_string(kSlack.count()) + " FROM reports"),
            Value(std::int64_t{1}));
}

TEST_P(InsertIfBelow, CountsOnlyRowsWithinTheWindow) {
  add("ada", hours(1) + minutes(1));
  add("ada", hours(1) - minutes(1));
  EXPECT_TRUE(report("ada", 2, hours(1))->is_inserted);
  EXPECT_FALSE(report("ada", 2, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, CountsOnlyRowsThatAreAlike) {
  add("bob", minutes(1));
  EXPECT_TRUE(report("ada", 1, hours(1))->is_inserted);
  EXPECT_FALSE(report("bob", 1, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, CountsRowsThatAreAlikeInNull) {
  EXPECT_TRUE(report(std::monostate(), 1, hours(1))->is_inserted);
  EXPECT_FALSE(report(std::monostate(), 1, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, CountsAllRowsWithoutColumnsToCountBy) {
  add("bob", minutes(1));
  const LimitedInsert any{.table = "reports", .values = {{"who", "ada"}}, .time_column = "at"};
  EXPECT_FALSE(insert_if_below(*database, any, 1, hours(1))->is_inserted);
  EXPECT_TRUE(insert_if_below(*database, any, 2, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, SaysWhenTheRowThatIsInTheWayLeavesTheWindow) {
  add("ada", minutes(50));
  add("ada", minutes(40));
  add("ada", minutes(10));
  // Of three the second newest is in the way of a limit of two.
  const auto refused = report("ada", 2, hours(1));
  ASSERT_FALSE(refused->is_inserted);
  EXPECT_THAT(*refused->retry_after, AllOf(Ge(minutes(20) - kSlack), Le(minutes(20))));
}

TEST_P(InsertIfBelow, WaitsNoLongerThanTheWindowForARowFromTheFuture) {
  add("ada", -hours(5));
  const auto refused = report("ada", 1, hours(1));
  ASSERT_FALSE(refused->is_inserted);
  EXPECT_EQ(*refused->retry_after, hours(1));
}

TEST_P(InsertIfBelow, CountsTimesThatAreNoWholeNumbersAndWaitsTheWindowForTexts) {
  query("INSERT INTO reports(who, at) VALUES('ada', '2026-11-30T12:00:00Z')");
  EXPECT_EQ(*report("ada", 1, hours(1))->retry_after, hours(1));
  query("INSERT INTO reports(who, at) VALUES('bob', " + std::string(kDatabaseNow) + " - 1000.5)");
  EXPECT_THAT(*report("bob", 1, hours(1))->retry_after,
              AllOf(Ge(hours(1) - kSlack), Le(hours(1) - seconds(1))));
}

TEST_P(InsertIfBelow, NamesColumnsInLettersOfAnyCase) {
  const LimitedInsert insert{
      .table = "Reports", .values = {{"WHO", "ada"}}, .time_column = "At", .counted_by = {"who"}};
  EXPECT_TRUE(insert_if_below(*database, insert, 1, hours(1))->is_inserted);
  EXPECT_FALSE(insert_if_below(*database, insert, 1, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, SaysSoWhereATriggerTakesNoRowAlthoughThereIsRoom) {
  ASSERT_TRUE(status_of({{"CREATE TRIGGER never BEFORE INSERT ON reports BEGIN "
                          "SELECT raise(IGNORE); END"}})
                  .is_ok());
  EXPECT_EQ(report("ada", 1, hours(1)).status().code(), StatusCode::kConstraint);
}

TEST_P(InsertIfBelow, CountsByColumnsOfARowAsWideAsParametersAllow) {
  std::string columns;
  LimitedInsert wide{.table = "wide", .time_column = "at"};
  for (int i = 0; i < 99; ++i) {
    columns += "c" + std::to_string(i) + ", ";
    wide.values.emplace_back("c" + std::to_string(i), std::int64_t{i});
  }
  wide.counted_by = {"c98", "c0"};
  ASSERT_TRUE(status_of({{"CREATE TABLE wide(" + columns + "at INTEGER)"}}).is_ok());
  EXPECT_TRUE(insert_if_below(*database, wide, 1, hours(1))->is_inserted);
  EXPECT_FALSE(insert_if_below(*database, wide, 1, hours(1))->is_inserted);
}

TEST_P(InsertIfBelow, TakesAnyNamesAndValues) {
  ASSERT_TRUE(status_of({{"CREATE TABLE \"a \"\"table\"(\"the \"\"when\" INTEGER, \"select\", b)"}})
                  .is_ok());
  const LimitedInsert odd{
      .table = "a \"table",
      .values = {{"select", std::int64_t{9'007'199'254'740'993}}, {"b", Blob{std::byte{0}}}},
      .time_column = "the \"when",
      .counted_by = {"b", "select"}};
  EXPECT_TRUE(insert_if_below(*database, odd, 1, milliseconds::max())->is_inserted);
  EXPECT_FALSE(insert_if_below(*database, odd, 1, milliseconds::max())->is_inserted);
  EXPECT_EQ(value_of("SELECT \"select\" = 9007199254740993 FROM \"a \"\"table\""),
            Value(std::int64_t{1}));
}

TEST_P(InsertIfBelow, RefusesWhatCannotBeMeant) {
  const auto refuse = [this](const LimitedInsert& insert, int limit, milliseconds window) {
    return insert_if_below(*database, insert, limit, window).status();
  };
  LimitedInsert insert{.table = "reports", .values = {{"who", "ada"}}, .time_column = "at"};
  EXPECT_EQ(refuse(insert, 0, hours(1)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refuse(insert, 1, milliseconds(0)).code(), StatusCode::kInvalidArgument);
  insert.values = {{"who", "ada"}, {"AT", std::int64_t{5}}};
  EXPECT_EQ(refuse(insert, 1, hours(1)).code(), StatusCode::kInvalidArgument);
  insert.values = {{"who", "ada"}, {"Who", "bob"}};
  EXPECT_EQ(refuse(insert, 1, hours(1)).code(), StatusCode::kInvalidArgument);
  insert.values = {{"who", "ada"}};
  insert.counted_by = {"whom"};
  EXPECT_EQ(refuse(insert, 1, hours(1)).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refuse(insert, 1, hours(1)).message(), HasSubstr("\"whom\""));
  EXPECT_EQ(count(), Value(std::int64_t{0}));
}

TEST_P(InsertIfBelow, GivesBackWhatTheDatabaseSays) {
  const LimitedInsert same{.table = "reports", .values = {{"what", "fire"}}, .time_column = "at"};
  ASSERT_TRUE(insert_if_below(*database, same, 9, hours(1))->is_inserted);
  EXPECT_EQ(insert_if_below(*database, same, 9, hours(1)).status().code(), StatusCode::kConstraint);
  const LimitedInsert nowhere{.table = "nowhere", .time_column = "at"};
  EXPECT_EQ(insert_if_below(*database, nowhere, 9, hours(1)).status().code(), StatusCode::kSchema);
}

/// Keeps the statements that it hands on.
class KeepingDatabase final : public Database {
 public:
  explicit KeepingDatabase(Database& inner) : inner_(inner) {}
  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& options) override {
    kept.assign(statements.begin(), statements.end());
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

  std::vector<Statement> kept;

 private:
  Database& inner_;
};

TEST_P(InsertIfBelow, ReadsAlongAnIndexOnWhatIsCountedByAndTheTime) {
  ASSERT_TRUE(status_of({{"CREATE INDEX by_who ON reports(who, at)"}}).is_ok());
  KeepingDatabase keeping(*database);
  const LimitedInsert insert{
      .table = "reports", .values = {{"who", "ada"}}, .time_column = "at", .counted_by = {"who"}};
  ASSERT_TRUE(insert_if_below(keeping, insert, 1, hours(1)).has_value());
  ASSERT_THAT(keeping.kept, SizeIs(2));
  for (const Statement& statement : keeping.kept) {
    const auto plan = query("EXPLAIN QUERY PLAN " + statement.sql, statement.rows.front());
    std::string text;
    for (const Row& row : plan.rows) {
      text += std::get<std::string>(row.back()) + '\n';
    }
    EXPECT_THAT(text, HasSubstr("USING COVERING INDEX by_who (who=? AND at>?)"));
    EXPECT_THAT(text, Not(HasSubstr("TEMP B-TREE")));
  }
}

/// Answers one statement of how many there are.
class ShortDatabase final : public Database {
 public:
  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    return std::vector<StatementResult>(1);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {}; }
};

TEST(InsertIfBelowAnswers, AreNoDecisionWhereTheyDoNotFit) {
  ShortDatabase database;
  const LimitedInsert insert{.table = "reports", .time_column = "at"};
  EXPECT_EQ(insert_if_below(database, insert, 1, hours(1)).status().code(), StatusCode::kLost);
}

INSTANTIATE_TEST_SUITE_P(On, InsertIfBelow, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway
