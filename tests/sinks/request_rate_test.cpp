// SPDX-License-Identifier: MIT
//
// How the pipeline spares a database that takes few requests: D1 over its REST API, where two a
// second and five at once are ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

#include <algorithm>

namespace spillway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

class RequestRateTest : public ::testing::Test {
 protected:
  void SetUp() override { driver.database_is(d1_traits()); }

  /// Logs `per_second` INFO records a second, in steps of 50 ms.
  void log_steadily(milliseconds from, milliseconds to, int per_second) {
    for (milliseconds time = from; time < to; time += 50ms) {
      driver.log(time, Level::kInfo, per_second / 20);
    }
  }
  std::size_t attempts_within(milliseconds from, milliseconds to) {
    const std::vector<milliseconds> times = driver.attempt_times();
    return static_cast<std::size_t>(std::count_if(
        times.begin(), times.end(), [&](milliseconds time) { return time >= from && time < to; }));
  }
  /// Takes all but the last token.
  void take_all_but_one() {
    driver.log(0ms, Level::kInfo);
    driver.attempts_take(4);
    driver.flush();
    driver.attempts_take(1);
  }

  CoreDriver driver;
};

TEST_F(RequestRateTest, IsKeptUnderASteadyLoadAndBatchesGrow) {
  log_steadily(0s, 60s, 1'000);
  EXPECT_LE(driver.attempts().size(), 5U + 2 * 60);
  EXPECT_LE(attempts_within(40s, 50s), 20U);
  EXPECT_GE(attempts_within(40s, 50s), 19U);
  EXPECT_GE(driver.attempts().back().rows.size(), 450U);
  driver.close(5s);
  EXPECT_EQ(driver.stats().stored, 60'000U);
}

TEST_F(RequestRateTest, DoesNotHoldBackSqlite) {
  driver.database_is({.name = "SQLite"});
  log_steadily(0s, 10s, 1'000);
  EXPECT_GE(driver.attempts().size(), 49U) << "one each 200 ms, the age of a batch";
}

TEST_F(RequestRateTest, IsNotKnownBeforeTheFirstAnswerAndCountsItThen) {
  driver.database_hangs();
  driver.attempts_take(5);  // To prepare the table, say.
  driver.log(0ms, Level::kInfo);
  driver.flush();
  driver.log(100ms, Level::kInfo);
  driver.database_stores();
  driver.answer(Status());
  driver.run_until(5s);
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 1100ms))
      << "the last token is not for INFO, so two have to come back";
}

TEST_F(RequestRateTest, KeepsTheLastTokenForErrors) {
  take_all_but_one();
  driver.log(10ms, Level::kInfo);
  driver.flush();
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  driver.log(20ms, Level::kError);
  ASSERT_THAT(driver.attempts(), SizeIs(2)) << "at once";
  EXPECT_THAT(driver.attempts()[1].rows, SizeIs(2));
  driver.log(30ms, Level::kError);
  EXPECT_THAT(driver.attempts(), SizeIs(2)) << "now there is none";
  driver.run_until(1s);
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 20ms, 500ms));
}

TEST_F(RequestRateTest, KeepsTheLastTokenForAGapThatNamesAnErrorToo) {
  take_all_but_one();
  driver.shed(10ms, Level::kInfo, 3);
  driver.run_until(400ms);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  driver.shed(400ms, Level::kError, 1);
  driver.run_until(499ms);
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 400ms));
}

TEST_F(RequestRateTest, CloseMayTakeWhatIsLeftAndNoMore) {
  take_all_but_one();
  driver.log(10ms, Level::kInfo, 6'000);
  driver.close(5s);
  driver.run_until(10s);
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 10ms, 500ms, 1s));
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST_F(RequestRateTest, CloseDoesNotWaitForATokenThatComesTooLate) {
  take_all_but_one();
  driver.log(10ms, Level::kInfo, 10'000);
  driver.close(800ms);
  driver.run_until(500ms);
  EXPECT_TRUE(driver.is_done()) << "the next would come at 1 s";
  EXPECT_EQ(driver.stats().stored, 1U + 4'000);
  EXPECT_THAT(driver.diagnostics(), Contains(HasSubstr("6000 records lost")));
}

TEST_F(RequestRateTest, CanBeSet) {
  CoreDriver slow({.request_rate = RequestRate{0.5, 2}});
  slow.database_is(d1_traits());
  for (int i = 0; i < 100; ++i) {
    slow.log(i * 100ms, Level::kInfo);
  }
  EXPECT_EQ(slow.attempts().size(), 5U) << "at 0.2 s, and then one each 2 s";
  CoreDriver free({.request_rate = RequestRate{0, 0}});
  free.database_is(d1_traits());
  for (int i = 0; i < 100; ++i) {
    free.log(i * 100ms, Level::kError);
  }
  EXPECT_EQ(free.attempts().size(), 100U);
}

TEST_F(RequestRateTest, HoldsBackReSendsAndSlotsToo) {
  CoreDriver hasty({.overload = {.write_pause = 60s, .error_interval = 1ms}});
  hasty.database_is(d1_traits());
  hasty.database_fails(queued_too_long());
  hasty.log(0ms, Level::kError);
  hasty.run_until(10s);
  EXPECT_LE(hasty.attempts().size(), 5U + 2 * 10);
  EXPECT_GE(hasty.attempts().size(), 2U * 10);
}

TEST_F(RequestRateTest, WaitingForATokenIsNotTakenForIllHealth) {
  driver.attempts_take(5);
  driver.log(0ms, Level::kInfo);
  driver.flush();
  EXPECT_EQ(driver.core().last_success(), SteadyTime(1s));
}

TEST_F(RequestRateTest, AnAttemptIsTrustedUntilItsDeadlineUnlessTheOneBeforeItFailed) {
  const auto begin_attempt = [this](milliseconds time) {
    driver.log(time, Level::kInfo);
    driver.flush();
  };
  driver.database_hangs();
  begin_attempt(0s);
  EXPECT_EQ(driver.core().trusted_until(), SteadyTime(10s)) << "it is the first";
  driver.answer(Status());
  EXPECT_EQ(driver.core().trusted_until(), std::nullopt);
  begin_attempt(20s);
  EXPECT_EQ(driver.core().trusted_until(), SteadyTime(30s));
  driver.interrupt(Execution::kMaybe);
  EXPECT_EQ(driver.core().trusted_until(), SteadyTime(30s)) << "made again; that says nothing";
  driver.answer(answer_lost());
  driver.run_until(22s);
  ASSERT_THAT(driver.attempts(), SizeIs(4)) << "made again, and in flight";
  EXPECT_EQ(driver.core().trusted_until(), std::nullopt);
}

TEST_F(RequestRateTest, LeavesHalfOfTheAccountsTwelveHundredRequestsInFiveMinutes) {
  for (milliseconds time = 0s; time < 300s; time += 50ms) {
    driver.log(time, Level::kError);  // The worst there is: each wants to go at once.
  }
  driver.run_until(301s);
  EXPECT_EQ(driver.stats().stored, 6'000U);
  EXPECT_LE(attempts_within(0s, 300s), 605U);
}

TEST_F(RequestRateTest, ABatchForD1IsLargerFromTheFirstAnswerOn) {
  const std::string large(400'000, 'x');
  driver.database_hangs();
  for (int i = 0; i < 10; ++i) {
    driver.log(0ms, Level::kInfo, large);
  }
  driver.database_stores();
  driver.answer(Status());
  driver.run_until(5s);
  ASSERT_THAT(driver.attempts(), SizeIs(3));
  EXPECT_THAT(driver.attempts()[0].rows, SizeIs(2)) << "1,000,000 bytes";
  EXPECT_THAT(driver.attempts()[1].rows, SizeIs(4)) << "2,000,000 bytes";
  CoreDriver set({.batch_bytes_max = 500'000});
  set.database_is(d1_traits());
  set.log(0ms, Level::kInfo);
  set.run_until(1s);
  set.log(1s, Level::kInfo, large);
  set.log(1s, Level::kInfo, large);
  set.run_until(5s);
  EXPECT_THAT(set.attempts(), SizeIs(3));
}

// D1 says that it is overloaded to twenty requests and then heals, under 50 rows a second.
TEST_F(RequestRateTest, AnOverloadSlowsTheWholePipelineAndNotOneBatch) {
  int refusals = 20;
  driver.database([&](const auto&) { return refusals-- > 0 ? refused_as_overloaded() : Status(); });
  std::uint64_t issued = 0;
  for (milliseconds time = 0ms; time < 200s; time += 20ms, ++issued) {
    driver.log(time, issued % 50 == 0 ? Level::kError : Level::kInfo);
  }
  driver.run_until(400s);
  const std::vector<milliseconds> times = driver.attempt_times();
  for (std::size_t i = 2; i <= 20; ++i) {
    EXPECT_GE(times[i] - times[i - 1], 5s) << "one attempt an interval";
  }
  std::size_t largest = 0;
  for (const auto& attempt : driver.attempts()) {
    largest = std::max(largest, attempt.rows.size());
  }
  EXPECT_LE(largest, 60U) << "not more at once because of it";
  EXPECT_TRUE(driver.stats().is_complete);
  EXPECT_EQ(driver.table().user_rows().size() + sum(driver.stats().skipped_reported), issued);
}

// D1 answers nothing for 75 s at 100 rows a second, and is then there again.
TEST_F(RequestRateTest, AfterAnOutageTheBacklogComesNoFasterThanTheRate) {
  driver.database([&](const auto&) { return driver.now() < 75s ? answer_lost() : Status(); });
  log_steadily(0s, 150s, 100);
  driver.run_until(200s);
  const milliseconds healed = 75s;
  const auto first =
      std::find_if(driver.attempts().begin(), driver.attempts().end(),
                   [&](const CoreDriver::Attempt& attempt) { return attempt.at >= healed; });
  EXPECT_LE(attempts_within(first->at, first->at + 5s), 5U + 2 * 5);
  EXPECT_TRUE(driver.stats().is_complete);
  EXPECT_EQ(driver.table().user_rows().size() + sum(driver.stats().skipped_reported), 15'000U);
  EXPECT_TRUE(std::is_sorted(
      driver.attempts().begin(), driver.attempts().end(),
      [](const auto& a, const auto& b) { return a.rows.back().seq < b.rows.back().seq; }));
}

TEST_F(RequestRateTest, RateLimitedSendsNothingForAsLongAsAskedAndTheApplicationGoesOn) {
  struct Case {
    std::optional<milliseconds> retry_after;
    milliseconds quiet;
  };
  for (const Case& each : {Case{300s, 300s}, Case{{}, 300s}, Case{99'999'999s, 900s}}) {
    CoreDriver limited;
    limited.database_is(d1_traits());
    const Status status(StatusCode::kRateLimited, "more than 1200 requests per 300 seconds");
    limited.database_fails(status.with_retry_after(each.retry_after));
    limited.log(0ms, Level::kError);
    limited.database_stores();
    for (milliseconds time = 1s; time < each.quiet; time += 1s) {
      limited.log(time, time.count() % 7 == 0 ? Level::kError : Level::kInfo);
    }
    EXPECT_THAT(limited.attempts(), SizeIs(1));
    limited.run_until(each.quiet + 10s);
    EXPECT_EQ(limited.attempts().at(1).at, each.quiet);
    ASSERT_THAT(limited.table().gap_rows(), SizeIs(1));
    EXPECT_THAT(limited.table().gap_rows()[0].message,
                HasSubstr("paused while D1 was limiting requests, "));
    EXPECT_TRUE(limited.stats().is_complete);
  }
}

/// A database that is reset by a batch of more than 400 rows.
class TooManyRows : public RequestRateTest {
 protected:
  void SetUp() override {
    RequestRateTest::SetUp();
    driver.database([this](const std::vector<Record>& rows) {
      if (rows.size() <= 400) {
        return Status();
      }
      sizes_refused.push_back(rows.size());
      return Status(StatusCode::kTooBig, "D1 DB storage operation exceeded timeout")
          .with_execution(Execution::kMaybe);
    });
  }
  std::vector<std::size_t> sizes_refused;
};

TEST_F(TooManyRows, AreHalvedAndTheSizeThatWorkedIsRemembered) {
  driver.log(0ms, Level::kInfo, 4'000);
  driver.run_until(60s);
  EXPECT_THAT(sizes_refused, ElementsAre(2'000, 1'000, 500, 500, 1'000, 500, 500));
  driver.log(60s, Level::kInfo, 2'000);
  driver.run_until(120s);
  EXPECT_THAT(sizes_refused, SizeIs(7)) << "and that was all";
  EXPECT_EQ(driver.stats().stored, 6'000U);
  EXPECT_EQ(driver.stats().skipped(), 0U);
}

TEST_F(TooManyRows, AreSentAgainOnceSmallerBatchesHaveBeenStoredForAWhile) {
  driver.log(0ms, Level::kInfo, 2'000);
  driver.run_until(60s);
  driver.database_stores();
  for (int i = 0; i < 3 * 16; ++i) {
    driver.log(60s + i * 1s, Level::kInfo);
  }
  driver.log(150s, Level::kInfo, 2'000);
  driver.run_until(160s);
  EXPECT_THAT(driver.attempts().back().rows, SizeIs(2'000));
}

TEST_F(TooManyRows, CostFewerResetsTheLongerTheyAreTooMany) {
  for (milliseconds time = 0s; time < 30min; time += 1s) {
    driver.log(time, Level::kInfo, 600);
  }
  driver.run_until(31min);
  EXPECT_EQ(driver.stats().stored, 30U * 60 * 600);
  EXPECT_LE(sizes_refused.size(), 40U);
}

// D1 says "too big" of whatever meets it in trouble.
TEST_F(RequestRateTest, ASmallBatchThatIsTooBigTeachesNothingAndIsSentAgainAsItIs) {
  int refusals = 1;
  driver.database([&](const auto&) {
    return refusals-- > 0 ? Status(StatusCode::kTooBig, "storage operation exceeded timeout")
                                .with_execution(Execution::kMaybe)
                          : Status();
  });
  driver.log(0ms, Level::kInfo, 3);
  driver.run_until(60s);
  EXPECT_THAT(driver.attempts(), SizeIs(2));
  driver.log(60s, Level::kInfo, 2'000);
  driver.run_until(120s);
  EXPECT_THAT(driver.attempts().back().rows, SizeIs(2'000));
}

TEST_F(RequestRateTest, AnErrorThatMayHaveBeenStoredIsNotNamedInAGapRowToo) {
  int refusals = 1;
  driver.database([&](const std::vector<Record>& rows) {
    driver.table().insert(rows);
    return refusals-- > 0 ? Status(StatusCode::kTooBig, "storage operation exceeded timeout")
                                .with_execution(Execution::kMaybe)
                          : Status();
  });
  driver.log(0ms, Level::kError);
  EXPECT_EQ(driver.stats().in_doubt, 1U);
  driver.run_until(60s);
  EXPECT_EQ(driver.stats().stored, 1U);
  EXPECT_THAT(driver.table().in_order(), SizeIs(1));
}

TEST_F(RequestRateTest, ABatchThatCannotBeSentInTimeIsHalvedUntilItCan) {
  driver.database_hangs();
  driver.log(0ms, Level::kInfo, 2'000);
  driver.flush();
  while (!driver.stats().is_complete && driver.now() < 1h) {
    const std::size_t rows = driver.attempts().back().rows.size();
    driver.run_until(driver.now() + (rows > 500 ? 10s : 1s));
    if (driver.stats().in_flight + driver.stats().in_doubt > 0 && driver.is_in_flight()) {
      rows > 500 ? driver.answer(answer_lost()) : driver.answer(Status());
    }
  }
  EXPECT_EQ(driver.stats().stored, 2'000U);
  EXPECT_LE(driver.now(), 3min);
  driver.log(driver.now(), Level::kInfo, 2'000);
  driver.flush();
  driver.run_until(driver.now() + 1s);
  EXPECT_THAT(driver.attempts().back().rows, SizeIs(500)) << "and that is remembered";
}

TEST_F(RequestRateTest, OneLargeRowDoesNotMakeAllBatchesSmall) {
  driver.database([](const std::vector<Record>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Record& row) { return row.seq == 700; })
               ? Status(StatusCode::kTooBig, "string or blob too big")
               : Status();
  });
  driver.log(0ms, Level::kInfo, 2'000);
  driver.run_until(60s);
  EXPECT_EQ(driver.stats().stored, 1'999U);
  driver.log(60s, Level::kInfo, 1'000);
  driver.run_until(70s);
  EXPECT_THAT(driver.attempts().back().rows, SizeIs(1'000)) << "as many as the larger half had";
}

TEST_F(RequestRateTest, CollisionsAreCountedAndToldOnce) {
  driver.database_hangs();
  for (int i = 0; i < 3; ++i) {
    driver.log(i * 10s, Level::kInfo, 4);
    driver.flush();
    SendDone done{.status = {}, .database = "D1", .inserted = {.collisions = 2, .collided_seq = 3}};
    driver.step(std::move(done));
  }
  EXPECT_EQ(driver.stats().collisions, 6U);
  EXPECT_EQ(driver.stats().stored, 12U) << "never refused";
  ASSERT_THAT(driver.diagnostics(), SizeIs(1));
  EXPECT_THAT(
      driver.diagnostics()[0],
      HasSubstr("2 rows are in the table with other contents than were sent (first: seq 3"));
}

}  // namespace
}  // namespace spillway::testing
