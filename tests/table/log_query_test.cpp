// SPDX-License-Identifier: MIT
#include "table/log_query.h"

#include <spillway/prepared_statement.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table/log_table.h"
#include "tests/d1/sqlite_fixture.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kNewest = LogOrder::kNewestFirst;
constexpr auto kOldest = LogOrder::kOldestFirst;

LogQuery query_of(LogFilter filter = {}) {
  return std::move(LogQuery::of("logs", std::move(filter))).value();
}

class LogQueryTest : public testing::SqliteFile {
 protected:
  LogQueryTest() {
    EXPECT_TRUE(LogTable::named("logs").value().prepare(*db, {}).is_ok());
    add("2026-08-28T06:35:01.000Z", 7, 1, "INFO", "app", "one");
    add("2026-08-28T06:35:02.000Z", 7, 2, "ERROR", "app", "two");
    add("2026-08-28T06:35:02.000Z", 8, 1, "DEBUG", "web", "three", R"({"order":42})");
    add("2026-08-28T06:35:03.000Z", 7, 3, "CRITICAL", "web", "four");
    add("2026-08-28T06:35:04.000Z", 7, 4, "WARN", "spillway", "gap", R"({"kind":"gap"})");
  }

  void add(const std::string& time, int writer, int seq, const std::string& level,
           const std::string& context, const std::string& message,
           const std::optional<std::string>& fields = {}) {
    EXPECT_TRUE(db->prepare("INSERT INTO logs VALUES(?, ?, ?, ?, ?, ?, ?)")
                    .bind(time, writer, seq, level, context, message, fields)
                    .run());
  }

  LogPage read(const LogQuery& query, const LogWindow& window, LogOrder order,
               const std::optional<LogKey>& beyond = {}, std::size_t rows_max = 100) {
    return query.read(*db, window, order, beyond, rows_max, {}).value();
  }

  // The messages of all pages of `rows_max` rows, one page after the other.
  std::vector<std::string> all(const LogQuery& query, LogOrder order, std::size_t rows_max,
                               const LogWindow& window = {}) {
    std::vector<std::string> messages;
    std::optional<LogKey> beyond;
    for (int pages = 0; pages < 20; ++pages) {
      const LogPage page = read(query, window, order, beyond, rows_max);
      for (const LogRow& row : page.rows) {
        messages.push_back(row.message);
      }
      if (page.is_last) {
        return messages;
      }
      beyond = page.end;
    }
    ADD_FAILURE() << "no last page";
    return messages;
  }

  std::vector<std::string> matching(LogFilter filter) {
    return all(query_of(std::move(filter)), kOldest, 100);
  }

  // What SQLite means to do, a line a step.
  std::vector<std::string> plan(const Statement& statement) {
    std::vector<std::string> steps;
    const auto explained =
        db->prepare("EXPLAIN QUERY PLAN " + statement.sql).bind_rows(statement.rows).all().value();
    for (const RowView row : explained) {
      steps.push_back(row.get<std::string>("detail").value());
    }
    return steps;
  }

  std::unique_ptr<SqliteDatabase> db = testing::open_file(path);
};

TEST_F(LogQueryTest, ReadsInTheOrderOfTheKeyBothWays) {
  EXPECT_THAT(all(query_of(), kOldest, 100), ElementsAre("one", "two", "three", "four", "gap"));
  EXPECT_THAT(all(query_of(), kNewest, 100), ElementsAre("gap", "four", "three", "two", "one"));
}

TEST_F(LogQueryTest, GivesARowAsItIsStored) {
  const LogPage page = read(query_of(), {.since = "2026-08-28T06:35:02"}, kOldest, {}, 2);
  ASSERT_EQ(page.rows.size(), 2U);
  EXPECT_EQ(page.rows[1].key, (LogKey{"2026-08-28T06:35:02.000Z", 8, 1}));
  EXPECT_EQ(page.rows[1].level, "DEBUG");
  EXPECT_EQ(page.rows[1].context, "web");
  EXPECT_EQ(page.rows[1].fields, R"({"order":42})");
  EXPECT_EQ(page.rows[0].fields, std::nullopt);
}

TEST_F(LogQueryTest, MissesAndRepeatsNothingWhereRowsOfOneTimeLieOnTwoPages) {
  for (std::size_t rows_max = 1; rows_max <= 6; ++rows_max) {
    EXPECT_THAT(all(query_of(), kOldest, rows_max),
                ElementsAre("one", "two", "three", "four", "gap"));
    EXPECT_THAT(all(query_of({.level_min = Level::kInfo}), kNewest, rows_max),
                ElementsAre("gap", "four", "two", "one"));
  }
}

TEST_F(LogQueryTest, KeepsToItsWindowWithoutTheEndOfIt) {
  const LogWindow window{.since = "2026-08-28T06:35:02.000Z", .until = "2026-08-28T06:35:04.000Z"};
  EXPECT_THAT(all(query_of(), kOldest, 100, window), ElementsAre("two", "three", "four"));
  EXPECT_THAT(all(query_of(), kNewest, 1, window), ElementsAre("four", "three", "two"));
}

TEST_F(LogQueryTest, TakesALevelAsTheLowest) {
  EXPECT_THAT(matching({.level_min = Level::kError}), ElementsAre("two", "four"));
  EXPECT_THAT(matching({.level_min = Level::kTrace}),
              ElementsAre("one", "two", "three", "four", "gap"));
}

TEST_F(LogQueryTest, TakesAContextExactly) {
  EXPECT_THAT(matching({.context = "web"}), ElementsAre("three", "four"));
  EXPECT_THAT(matching({.context = "we"}), IsEmpty());
  EXPECT_THAT(matching({.context = ""}), IsEmpty());
}

TEST_F(LogQueryTest, FindsATextInMessageOrFieldsByteForByte) {
  EXPECT_THAT(matching({.text = "o"}), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(matching({.text = "\"order\":42"}), ElementsAre("three"));
  EXPECT_THAT(matching({.text = "ONE"}), IsEmpty());
  EXPECT_THAT(matching({.text = "%"}), IsEmpty());
  EXPECT_THAT(matching({.text = std::string(60, 'x')}), IsEmpty()) << "longer than LIKE may be";
}

TEST_F(LogQueryTest, JoinsItsFiltersWithAnd) {
  EXPECT_THAT(matching({.level_min = Level::kError, .context = "web", .text = "fo"}),
              ElementsAre("four"));
  EXPECT_THAT(matching({.level_min = Level::kError, .context = "web", .text = "two"}), IsEmpty());
}

TEST_F(LogQueryTest, ComesForwardThoughNothingMatches) {
  const LogQuery none = query_of({.text = "nothing like it"});
  const LogPage page = read(none, {}, kNewest, {}, 2);
  EXPECT_THAT(page.rows, IsEmpty());
  EXPECT_EQ(page.end, (LogKey{"2026-08-28T06:35:03.000Z", 7, 3}));
  EXPECT_FALSE(page.is_last);
}

TEST_F(LogQueryTest, CountsTheGapRowsItLooksAtThoughTheyDoNotMatch) {
  EXPECT_EQ(read(query_of({.level_min = Level::kError}), {}, kNewest).gaps, 1);
  EXPECT_EQ(read(query_of({.text = "one"}), {}, kOldest, {}, 3).gaps, 0);
}

TEST_F(LogQueryTest, SaysThatAnEmptyStretchIsTheLast) {
  for (const LogQuery& query : {query_of(), query_of({.context = "web"})}) {
    const LogPage page = read(query, {.since = "2027"}, kOldest);
    EXPECT_THAT(page.rows, IsEmpty());
    EXPECT_EQ(page.end, std::nullopt);
    EXPECT_TRUE(page.is_last);
    EXPECT_EQ(page.gaps, 0);
  }
}

TEST_F(LogQueryTest, IsOneSearchAlongTheKeyAndSortsNothing) {
  const LogKey key{"2026-08-28T06:35:03.000Z", 7, 3};
  for (const LogOrder order : {kNewest, kOldest}) {
    for (const std::optional<LogKey>& beyond : {std::optional<LogKey>(), std::optional(key)}) {
      const auto steps = plan(query_of().page({}, order, beyond, 20));
      EXPECT_THAT(steps, ElementsAre(HasSubstr("SEARCH logs USING PRIMARY KEY")));
    }
  }
}

TEST_F(LogQueryTest, ScansNoTableForAFilterEither) {
  const LogFilter filter{.level_min = Level::kError, .context = "web", .text = "x"};
  const auto steps = plan(query_of(filter).page({}, kNewest, {}, 1'000));
  EXPECT_THAT(steps, Contains(HasSubstr("SEARCH logs USING PRIMARY KEY (created_at>?")));
  EXPECT_THAT(steps, Contains(HasSubstr("SEARCH l USING PRIMARY KEY (created_at=?")));
  EXPECT_THAT(steps, Each(AllOf(Not(HasSubstr("SCAN logs")), Not(HasSubstr("SCAN l ")))));
}

TEST_F(LogQueryTest, TellsAMissingTableAndOneThatIsNoLog) {
  ASSERT_TRUE(db->prepare("CREATE TABLE other(a)").run());
  for (const char* const name : {"missing", "other"}) {
    const auto page = LogQuery::of(name, {}).value().read(*db, {}, kNewest, {}, 10, {});
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code(), StatusCode::kSchema);
    EXPECT_THAT(page.error().message(),
                AllOf(HasSubstr('"' + std::string(name) + '"'), HasSubstr("--table")));
  }
}

TEST_F(LogQueryTest, ReadsATableOfAnyName) {
  const LogTable odd = LogTable::named("my \"logs\"").value();
  ASSERT_TRUE(odd.prepare(*db, {}).is_ok());
  EXPECT_TRUE(LogQuery::of(odd.name(), {}).value().read(*db, {}, kNewest, {}, 10, {}));
  EXPECT_EQ(LogQuery::of("", {}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(LogQueryTest, ShowsABlobThatSomebodyPutThereAsItsBytes) {
  ASSERT_TRUE(
      db->prepare("INSERT INTO logs VALUES('2027', 1, 1, 'INFO', 'app', x'6869', NULL)").run());
  EXPECT_EQ(read(query_of(), {.since = "2027"}, kOldest).rows.at(0).message, "hi");
}

}  // namespace
}  // namespace spillway
