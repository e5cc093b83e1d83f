// SPDX-License-Identifier: MIT
#include "cli/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What the reader does to its databases, and what they answer.
struct Record {
  std::deque<Status> failures;          // Of the next calls, in order; then they succeed.
  std::vector<std::size_t> rows_asked;  // The LIMIT of each call.
  std::int64_t rows_left = 0;           // In the table.
  int opened = 0;
  RequestRate rate = {};
};

// A table of rows without an end but `rows_left`.
class EndlessDatabase final : public Database {
 public:
  explicit EndlessDatabase(Record& record) : record_(record) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& /*options*/) override {
    const std::string& sql = statements.front().sql;
    const std::size_t limit = std::stoul(sql.substr(sql.rfind("LIMIT ") + 6));
    record_.rows_asked.push_back(limit);
    if (!record_.failures.empty()) {
      Status status = record_.failures.front();
      record_.failures.pop_front();
      return status;
    }
    StatementResult result;
    result.columns.resize(9, "c");
    for (std::size_t i = 0; i < limit && record_.rows_left > 0; ++i, --record_.rows_left) {
      result.rows.push_back({"t", 1, record_.rows_left, "INFO", "c", "m", {}, {}, {}});
    }
    return std::vector<StatementResult>{std::move(result)};
  }
  [[nodiscard]] DatabaseTraits traits() const override {
    return {.name = "test", .rate = record_.rate};
  }

 private:
  Record& record_;
};

class LogReaderTest : public ::testing::Test {
 protected:
  Result<LogPage> next(std::size_t rows_max = 100) {
    return reader.next({}, LogOrder::kNewestFirst, {}, rows_max);
  }

  Record record;
  std::vector<milliseconds> waits;
  bool is_asked_to_end = false;
  LogReader reader{[this]() -> Result<std::unique_ptr<Database>> {
                     ++record.opened;
                     return std::unique_ptr<Database>(std::make_unique<EndlessDatabase>(record));
                   },
                   LogQuery::of("logs", {}).value(),
                   {},
                   [this](milliseconds time) {
                     waits.push_back(time);
                     return is_asked_to_end;
                   }};
};

TEST_F(LogReaderTest, OpensOnceAndAnewAfterAFailure) {
  EXPECT_TRUE(next());
  EXPECT_TRUE(next());
  EXPECT_EQ(record.opened, 1);
  record.failures = {{StatusCode::kAuth, "token refused"}};
  EXPECT_EQ(next().status().code(), StatusCode::kAuth);
  EXPECT_TRUE(next());
  EXPECT_EQ(record.opened, 2);
}

TEST_F(LogReaderTest, AsksForLessWhereAPageIsTooBig) {
  record.failures = {{StatusCode::kTooBig, "x"}, {StatusCode::kTooBig, "x"}};
  EXPECT_TRUE(next(1'000));
  EXPECT_TRUE(next(1'000)) << "and remembers it";
  EXPECT_THAT(record.rows_asked, ElementsAre(1'000, 125, 15, 15));
}

TEST_F(LogReaderTest, GivesUpWhereOneRowIsTooBig) {
  record.failures.assign(20, {StatusCode::kTooBig, "x"});
  EXPECT_EQ(next().status().code(), StatusCode::kTooBig);
  EXPECT_EQ(record.rows_asked.back(), 1U);
}

TEST_F(LogReaderTest, KeepsToTheRateAfterTheBurst) {
  record.rate = {.per_second = 2, .burst = 3};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(next());
  }
  EXPECT_THAT(waits, ElementsAre(milliseconds(500), milliseconds(500)));
}

TEST_F(LogReaderTest, DoesNotWaitForADatabaseWithoutARate) {
  EXPECT_TRUE(next());
  EXPECT_THAT(waits, IsEmpty());
}

TEST_F(LogReaderTest, EndsWithoutARequestWhenItIsAskedToWhileItWaits) {
  record.rate = {.per_second = 2, .burst = 0};
  is_asked_to_end = true;
  EXPECT_EQ(next().status().code(), StatusCode::kCancelled);
  EXPECT_THAT(record.rows_asked, IsEmpty());
}

TEST_F(LogReaderTest, HandsOnPagesUntilTheTableEnds) {
  record.rows_left = 250;
  std::vector<std::size_t> pages;
  EXPECT_TRUE(reader
                  .for_each_page({}, LogOrder::kNewestFirst, 100,
                                 [&pages](const LogPage& page) {
                                   pages.push_back(page.rows.size());
                                   return true;
                                 })
                  .is_ok());
  EXPECT_THAT(pages, ElementsAre(100, 100, 50));
}

TEST_F(LogReaderTest, HandsOnNoMorePagesThanAreWanted) {
  record.rows_left = 250;
  int pages = 0;
  EXPECT_TRUE(reader
                  .for_each_page({}, LogOrder::kNewestFirst, 100,
                                 [&pages](const LogPage&) { return ++pages < 2; })
                  .is_ok());
  EXPECT_EQ(pages, 2);
  EXPECT_THAT(record.rows_asked, SizeIs(2));
}

}  // namespace
}  // namespace spillway
