// SPDX-License-Identifier: MIT
#include <spillway/prepared_statement.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/sqlite_fixture.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using std::string_view_literals::operator""sv;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Prepared : public SqliteFile {
 protected:
  Prepared() {
    EXPECT_TRUE(db.prepare("CREATE TABLE app(id INTEGER PRIMARY KEY, name TEXT, score)").run());
    EXPECT_TRUE(db.prepare("INSERT INTO app(id, name, score) VALUES(?, ?, ?)")
                    .bind_rows({{1, "one", 1.5}, {2, "two", {}}, {3, "three", 3}})
                    .run());
  }

  // What the database says a bound value is: "integer 7".
  template <typename T>
  std::string stored(T&& value) {
    return db.prepare("SELECT typeof(?1) || ' ' || quote(?1) AS t")
        .bind(std::forward<T>(value))
        .template first<std::string>("t")
        .value()
        .value();
  }

  [[nodiscard]] std::int64_t count() const {
    return db.prepare("SELECT count(*) AS n FROM app").first<std::int64_t>("n").value().value();
  }

  std::unique_ptr<SqliteDatabase> file = open_file(path);
  Database& db = *file;
};

// Bind.

TEST_F(Prepared, BindsIntegersOfAllWidths) {
  EXPECT_EQ(stored(std::int8_t{-7}), "integer -7");
  EXPECT_EQ(stored(std::uint32_t{4294967295}), "integer 4294967295");
  EXPECT_EQ(stored(std::numeric_limits<std::int64_t>::min()), "integer -9223372036854775808");
  EXPECT_EQ(stored(std::uint64_t{9223372036854775807}), "integer 9223372036854775807");
  EXPECT_EQ(stored(true), "integer 1");
  EXPECT_EQ(stored(false), "integer 0");
}

TEST_F(Prepared, BindsReals) {
  EXPECT_EQ(stored(2.5), "real 2.5");
  EXPECT_EQ(stored(2.0F), "real 2.0");
}

TEST_F(Prepared, BindsTextsOfAllKinds) {
  const std::array<char, 4> array = {'a', 'b', 'c', '\0'};
  EXPECT_EQ(stored("abc"), "text 'abc'");
  EXPECT_EQ(stored("abc"sv), "text 'abc'");
  EXPECT_EQ(stored(std::string("abc")), "text 'abc'");
  EXPECT_EQ(stored(array.data()), "text 'abc'");
  EXPECT_EQ(stored(""), "text ''");
}

TEST_F(Prepared, BindsBytes) {
  const std::array bytes = {std::byte{0}, std::byte{255}};
  EXPECT_EQ(stored(bytes), "blob X'00FF'");
  EXPECT_EQ(stored(std::span<const std::byte>(bytes)), "blob X'00FF'");
  EXPECT_EQ(stored(Blob(bytes.begin(), bytes.end())), "blob X'00FF'");
  EXPECT_EQ(stored(Blob()), "blob X''");
}

TEST_F(Prepared, BindsNullOfAllKinds) {
  const char* const no_text = nullptr;
  EXPECT_EQ(stored(nullptr), "null NULL");
  EXPECT_EQ(stored(std::nullopt), "null NULL");
  EXPECT_EQ(stored(no_text), "null NULL");
  EXPECT_EQ(stored(std::optional<int>()), "null NULL");
  EXPECT_EQ(stored(Value()), "null NULL");
}

TEST_F(Prepared, BindsWhatAnOptionalOrAValueHolds) {
  EXPECT_EQ(stored(std::optional(7)), "integer 7");
  EXPECT_EQ(stored(std::optional<std::string>("x")), "text 'x'");
  EXPECT_EQ(stored(Value(2.5)), "real 2.5");
}

TEST_F(Prepared, TellsThePositionOfANumberThatIsTooLargeAndRunsNothing) {
  const PreparedStatement insert =
      db.prepare("INSERT INTO app VALUES(?, ?, ?)").bind(4, "x", std::uint64_t{1} << 63);
  const auto result = insert.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.error().message(), HasSubstr("value 3 is above 9223372036854775807"));
  EXPECT_EQ(insert.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(count(), 3);
  EXPECT_TRUE(insert.bind(4, "x", 1).run()) << "a new bind makes it good again";
}

TEST_F(Prepared, RefusesNaNAndAWrongNumberOfValuesWhenItIsRun) {
  EXPECT_EQ(db.prepare("SELECT ?").bind(std::nan("")).all().status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(db.prepare("SELECT ?").bind(1, 2).all().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db.prepare("SELECT ?").all().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Prepared, LeavesTheStatementItBindsToAsItWas) {
  const PreparedStatement select = db.prepare("SELECT name FROM app WHERE id = ?");
  const PreparedStatement one = select.bind(1);
  const PreparedStatement two = one.bind(2);
  EXPECT_EQ(one.first<std::string>("name").value(), "one");
  EXPECT_EQ(two.first<std::string>("name").value(), "two");
  EXPECT_TRUE(select.statement().rows.empty());
}

TEST_F(Prepared, TakesNoValuesForAStatementWithoutParameters) {
  EXPECT_EQ(db.prepare("SELECT 1 AS n").bind().first<int>("n").value(), 1);
}

// First, all, raw, run.

TEST_F(Prepared, GivesTheFirstRow) {
  const auto row = db.prepare("SELECT * FROM app ORDER BY id").first();
  ASSERT_TRUE(row && row->has_value());
  EXPECT_EQ((*row)->get<std::string>("name").value(), "one");
  EXPECT_THAT((*row)->columns(), ElementsAre("id", "name", "score"));
}

TEST_F(Prepared, GivesNoFirstRowWhereThereIsNone) {
  const PreparedStatement none = db.prepare("SELECT * FROM app WHERE id = 99");
  EXPECT_EQ(none.first().value().has_value(), false);
  EXPECT_EQ(none.first<std::string>("name").value(), std::nullopt);
}

TEST_F(Prepared, GivesAColumnOfTheFirstRow) {
  const PreparedStatement statement = db.prepare("SELECT * FROM app WHERE id = ?");
  EXPECT_EQ(statement.bind(1).first<double>("score").value(), 1.5);
  EXPECT_EQ(statement.bind(2).first<double>("score").value(), std::nullopt) << "NULL is empty";
  EXPECT_EQ(statement.bind(3).first("score").value(), Value(3));
}

TEST_F(Prepared, TellsAColumnThatIsNotThereEvenWithoutRows) {
  const auto result = db.prepare("SELECT id FROM app WHERE id = 99").first<int>("idd");
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.status().message(), HasSubstr("no column \"idd\""));
}

TEST_F(Prepared, GivesAllRowsWithTheirColumns) {
  const auto set = db.prepare("SELECT id, name FROM app ORDER BY id DESC").all();
  ASSERT_TRUE(set);
  std::vector<std::string> names;
  for (const RowView row : *set) {
    names.push_back(row.get<std::string>("name").value());
  }
  EXPECT_THAT(names, ElementsAre("three", "two", "one"));
}

TEST_F(Prepared, GivesOnlyTheValuesOfTheRows) {
  EXPECT_THAT(db.prepare("SELECT id AS x, id + 1 AS x FROM app WHERE id < 3").raw().value(),
              ElementsAre(Row{1, 2}, Row{2, 3}));
}

TEST_F(Prepared, SaysWhatAWriteDid) {
  const auto done = db.prepare("UPDATE app SET score = 0 WHERE id > ?").bind(1).run();
  EXPECT_EQ(done.value().meta().changes, 2);
  const auto inserted = db.prepare("INSERT INTO app(name) VALUES(?) RETURNING id").bind("x").run();
  EXPECT_EQ(inserted.value()[0].get<int>("id").value(), 4);
  EXPECT_EQ(inserted.value().meta().last_row_id, 4);
}

TEST_F(Prepared, AddsUpTheChangesOfManyRows) {
  const auto done = db.prepare("INSERT INTO app(name) VALUES(?)").bind_rows({{"x"}, {"y"}}).run();
  EXPECT_EQ(done.value().meta().changes, 2);
}

TEST_F(Prepared, DoesNotRunWithoutRowsWhatIsToBeRunForEachOfNone) {
  const PreparedStatement remove = db.prepare("DELETE FROM app").bind_rows({});
  const auto result = remove.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.error().message(), HasSubstr("no rows"));
  EXPECT_EQ(db.batch({remove}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(count(), 3);
  EXPECT_TRUE(remove.bind().run()) << "a new bind makes it good again";
}

TEST_F(Prepared, HandsOnTheErrorAndTheOptions) {
  EXPECT_EQ(db.prepare("SELECT * FROM missing").all().status().code(), StatusCode::kSchema);
  std::stop_source cancelled;
  cancelled.request_stop();
  EXPECT_EQ(db.prepare("SELECT 1").first({.cancel = cancelled.get_token()}).status().code(),
            StatusCode::kCancelled);
}

// Batch.

TEST_F(Prepared, RunsABatchInOneTransaction) {
  const PreparedStatement insert = db.prepare("INSERT INTO app(id, name) VALUES(?, ?)");
  const auto sets = db.batch({insert.bind(4, "four"), db.prepare("SELECT count(*) AS n FROM app"),
                              insert.bind(5, "five")});
  ASSERT_TRUE(sets);
  ASSERT_EQ(sets->size(), 3U);
  EXPECT_EQ((*sets)[1][0].get<int>("n").value(), 4);
  EXPECT_EQ(count(), 5);
}

TEST_F(Prepared, KeepsNothingOfABatchThatFails) {
  const PreparedStatement insert = db.prepare("INSERT INTO app(id, name) VALUES(?, ?)");
  EXPECT_EQ(db.batch({insert.bind(4, "four"), insert.bind(1, "again")}).status().code(),
            StatusCode::kConstraint);
  EXPECT_EQ(count(), 3);
}

TEST_F(Prepared, RefusesABatchOfNothingAndOneWithAValueThatDoesNotFit) {
  EXPECT_EQ(db.batch({}).status().code(), StatusCode::kInvalidArgument);
  const PreparedStatement select = db.prepare("SELECT ?");
  const auto refused = db.batch({select.bind(1), select.bind(~std::uint64_t{0})});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("statement 2: value 1 is above"));
}

// Exec.

TEST_F(Prepared, RunsATextOfSeveralStatements) {
  const auto done = db.exec(R"(
      -- A schema; with a comment.
      CREATE TABLE a(x TEXT DEFAULT 'a;b');
      CREATE TRIGGER t AFTER INSERT ON a BEGIN
        UPDATE app SET score = 7; DELETE FROM app WHERE id = 3;
      END;
      INSERT INTO a DEFAULT VALUES;)");
  ASSERT_TRUE(done) << done.status().to_string();
  EXPECT_EQ(done->count, 3);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(db.prepare("SELECT x FROM a").first<std::string>("x").value(), "a;b");
}

TEST_F(Prepared, KeepsNothingOfATextThatFails) {
  EXPECT_EQ(db.exec("DELETE FROM app; INSERT INTO missing VALUES(1)").status().code(),
            StatusCode::kSchema);
  EXPECT_EQ(count(), 3);
}

TEST_F(Prepared, RefusesATextWithoutStatementsAndOneThatWantsValues) {
  for (const char* const text : {"", " \n", ";;", "-- nothing", "DELETE FROM app WHERE id = ?"}) {
    EXPECT_EQ(db.exec(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(count(), 3);
}

// Sessions and wrappers.

// Answers as told and keeps what it was given: a Database that overrides `execute` and no more.
class WrappedDatabase final : public Database {
 public:
  explicit WrappedDatabase(Database& inner) : inner_(inner) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& options) override {
    bookmarks.push_back(options.bookmark);
    statement_count += statements.size();
    auto results = inner_.execute(statements, options);
    if (results && loses_a_result) {
      results->pop_back();
    }
    return results;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

  std::vector<std::string> bookmarks;
  std::size_t statement_count = 0;
  bool loses_a_result = false;

 private:
  Database& inner_;
};

TEST_F(Prepared, GoesThroughTheExecuteOfAWrapper) {
  WrappedDatabase wrapper(db);
  EXPECT_TRUE(wrapper.prepare("SELECT 1").all());
  EXPECT_TRUE(wrapper.batch({wrapper.prepare("SELECT 1"), db.prepare("SELECT 2")}));
  EXPECT_TRUE(wrapper.exec("SELECT 1; SELECT 2"));
  EXPECT_EQ(wrapper.statement_count, 5U);
}

TEST_F(Prepared, DoesNotTrustAnAnswerWithTooFewResults) {
  WrappedDatabase wrapper(db);
  wrapper.loses_a_result = true;
  EXPECT_EQ(wrapper.prepare("SELECT 1").first().status().code(), StatusCode::kLost);
  EXPECT_EQ(wrapper.batch({wrapper.prepare("SELECT 1")}).status().code(), StatusCode::kLost);
}

// Throws what it was given, as a Database of somebody else's may.
template <typename Thrown>
class ThrowingDatabase final : public Database {
 public:
  explicit ThrowingDatabase(Thrown thrown) : thrown_(std::move(thrown)) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    throw Thrown(thrown_);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {}; }

 private:
  Thrown thrown_;
};

template <typename Thrown>
void expect_each_call_says(Thrown thrown, const std::string& message) {
  ThrowingDatabase<Thrown> database(std::move(thrown));
  const PreparedStatement select = database.prepare("SELECT 1");
  const DatabaseSession session = database.with_session();
  for (const Status& status :
       {select.all().status(), select.run().status(), select.raw().status(),
        select.first().status(), select.first<int>("n").status(), database.batch({select}).status(),
        database.exec("SELECT 1").status(), session.batch({select}).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_EQ(status.execution(), Execution::kMaybe);
    EXPECT_EQ(status.message(), message);
  }
}

TEST_F(Prepared, TurnsWhateverADatabaseThrowsIntoAStatus) {
  expect_each_call_says(std::bad_alloc(), "out of memory");
  expect_each_call_says(std::length_error("too\nlong"), "unexpected exception: too long");
  expect_each_call_says(7, "an exception of an unknown kind");
}

TEST_F(Prepared, SendsTheBookmarkOfItsSessionUnlessAnotherIsGiven) {
  WrappedDatabase wrapper(db);
  const DatabaseSession session = wrapper.with_session("0001-0002");
  const PreparedStatement select = session.prepare("SELECT ?").bind(1);
  EXPECT_TRUE(select.all());
  EXPECT_TRUE(session.batch({select}));
  EXPECT_TRUE(select.all({.bookmark = "other"}));
  EXPECT_TRUE(wrapper.with_session().prepare("SELECT 1").all());
  EXPECT_TRUE(wrapper.prepare("SELECT 1").all());
  EXPECT_THAT(wrapper.bookmarks,
              ElementsAre("0001-0002", "0001-0002", "other", "first-unconstrained", ""));
}

TEST_F(Prepared, HasNoBookmarkToGiveForASession) {
  const DatabaseSession session = db.with_session("first-primary");
  EXPECT_TRUE(session.prepare("SELECT 1").all());
  EXPECT_EQ(session.bookmark(), std::nullopt);
}

}  // namespace
}  // namespace spillway::testing
