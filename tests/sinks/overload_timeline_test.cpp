// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A database, what it says when it is overloaded, and what the gap row says then.
struct Overloaded {
  DatabaseTraits traits;
  Status status;
  std::string pause_message;
};

/// A pipeline whose writes began to pause at 0 because a batch of two INFO records found the
/// database overloaded.
class OverloadTimeline : public ::testing::TestWithParam<Overloaded> {
 protected:
  void SetUp() override {
    driver.database_is(GetParam().traits);
    begin_pause(busy());
  }
  static Status busy() { return GetParam().status; }

  void begin_pause(const Status& failure) {
    driver.database_fails(failure);
    driver.log(0ms, Level::kInfo, 2);
    driver.flush();
    driver.database_stores();
  }

  CoreDriver driver;
};

const auto kDatabases = ::testing::Values(
    Overloaded{{.name = "SQLite"}, busy(), "Log persistence paused while SQLite was busy, "},
    Overloaded{d1_traits(), refused_as_overloaded(),
               "Log persistence paused while D1 was overloaded, "});
std::string name_of(const ::testing::TestParamInfo<Overloaded>& which) {
  return which.param.traits.name;
}
INSTANTIATE_TEST_SUITE_P(On, OverloadTimeline, kDatabases, name_of);

TEST_P(OverloadTimeline, CountsTheRowsOfTheRefusedBatchAsSkipped) {
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kInfo), 2U);
  EXPECT_EQ(driver.stats().pauses, 1U);
  EXPECT_TRUE(driver.core().is_paused(SteadyTime(29'999ms)));
  EXPECT_FALSE(driver.core().is_paused(SteadyTime(30s)));
}

TEST_P(OverloadTimeline, LetsOneErrorThroughPerInterval) {
  driver.log(1s, Level::kError, "at 1 s");
  driver.log(3s, Level::kError, "at 3 s");
  driver.log(6100ms, Level::kError, "at 6.1 s");
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 1s, 6100ms));
  ASSERT_THAT(driver.table().user_rows(), SizeIs(2));
  EXPECT_EQ(driver.table().user_rows()[0].message, "at 1 s");
  EXPECT_EQ(driver.table().user_rows()[1].message, "at 6.1 s");
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kError), 1U);
}

TEST_P(OverloadTimeline, SendsAnErrorAloneAndWithoutWaitingForALock) {
  driver.log(1s, Level::kCritical);
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  EXPECT_THAT(driver.attempts()[1].rows, SizeIs(1));
  EXPECT_EQ(driver.attempts()[1].lock_wait, LockWait::kNone);
  EXPECT_EQ(driver.attempts()[0].lock_wait, LockWait::kUsual);
}

TEST_P(OverloadTimeline, SkipsAndCountsEverythingBelowErrorUntilTheEnd) {
  driver.log(10s, Level::kWarn, 3);
  driver.log(20s, Level::kInfo, 5);
  driver.log(29'999ms, Level::kDebug, 7);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kWarn), 3U);
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kInfo), 2U + 5U);
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kDebug), 7U);
  EXPECT_EQ(driver.stats().queued, 0U);
}

TEST_P(OverloadTimeline, AFailedErrorRestartsThePauseAndIsHeldForTheNextSlot) {
  driver.log(1s, Level::kError);
  driver.log(6100ms, Level::kError);
  driver.database_fails(busy());
  driver.log(11'200ms, Level::kError, "held");
  EXPECT_EQ(driver.stats().queued, 1U) << "a held ERROR is not lost";
  EXPECT_TRUE(driver.core().is_paused(SteadyTime(41'199ms)));
  EXPECT_FALSE(driver.core().is_paused(SteadyTime(41'200ms)));

  driver.database_stores();
  driver.log(15s, Level::kError, "skipped while one is held");
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kError), 1U);
  driver.run_until(16'199ms);
  EXPECT_THAT(driver.attempts(), SizeIs(4));
  driver.run_until(16'200ms);
  ASSERT_THAT(driver.attempts(), SizeIs(5)) << "by timer, though nothing was logged";
  EXPECT_EQ(driver.table().user_rows().back().message, "held");
}

/// The whole story: ERRORs at 1, 3 and 6.1 s, one at 11.2 s that fails, one at 15 s, INFO all
/// along.
class WholeTimeline : public OverloadTimeline {
 protected:
  void SetUp() override {
    OverloadTimeline::SetUp();
    driver.log(500ms, Level::kInfo);
    driver.log(1s, Level::kError);
    driver.log(3s, Level::kError);
    driver.log(6100ms, Level::kError);
    driver.log(7s, Level::kWarn);
    driver.database_fails(busy());
    driver.log(11'200ms, Level::kError);
    driver.database_stores();
    driver.log(15s, Level::kError);
    driver.log(41'199ms, Level::kInfo, "latest skipped");
  }
  static std::string gap_message() { return GetParam().pause_message + "7 skipped"; }
};
INSTANTIATE_TEST_SUITE_P(On, WholeTimeline, kDatabases, name_of);

TEST_P(WholeTimeline, EndsWithOneGapRowByTimerExactByLevel) {
  driver.run_until(41'199ms);
  EXPECT_THAT(driver.table().gap_rows(), IsEmpty());
  driver.run_until(41'200ms);
  EXPECT_THAT(driver.attempt_times(), ElementsAre(0ms, 1s, 6100ms, 11'200ms, 16'200ms, 41'200ms));
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.table().gap_rows()[0].message, gap_message());
  EXPECT_THAT(driver.table().gap_rows()[0].fields,
              HasSubstr(R"("skipped":{"INFO":4,"WARN":1,"ERROR":2})"));
  driver.run_until(1h);
  EXPECT_THAT(driver.attempts(), SizeIs(6));
}

TEST_P(WholeTimeline, WhatIsLoggedRightAfterThePauseSortsBehindTheGapRow) {
  driver.log(41'300ms, Level::kInfo, "first after");
  driver.flush();
  const std::vector<Record> rows = driver.table().in_order();
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_EQ(rows[3].message, gap_message());
  EXPECT_EQ(rows[4].message, "first after");
}

TEST_P(OverloadTimeline, WritesTheGapRowByTimerWhenNothingIsLogged) {
  driver.log(1s, Level::kError);
  driver.log(2s, Level::kWarn);
  driver.log(3s, Level::kError);
  driver.run_until(29'999ms);
  EXPECT_THAT(driver.table().gap_rows(), IsEmpty());
  driver.run_until(30s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  const Record gap = driver.table().gap_rows()[0];
  EXPECT_EQ(gap.level, Level::kWarn);
  EXPECT_EQ(gap.message, GetParam().pause_message + "4 skipped");
  EXPECT_EQ(gap.time, CoreDriver::wall(3s)) << "the time of the latest skipped record";
  EXPECT_EQ(gap.fields, R"({"kind":"gap","reason":"overload","from":"2026-08-28T06:35:12.000Z",)"
                        R"("to":"2026-08-28T06:35:15.000Z","total":4,)"
                        R"("skipped":{"INFO":2,"WARN":1,"ERROR":1},"first_seq":1,"last_seq":6})");
  EXPECT_EQ(driver.stats().own, 1U);
  EXPECT_TRUE(driver.stats().is_complete);
  driver.run_until(1h);
  EXPECT_THAT(driver.table().gap_rows(), SizeIs(1)) << "once";
}

TEST_P(OverloadTimeline, TheGapRowSortsBeforeWhatIsLoggedInTheSameMillisecond) {
  driver.log(29'999ms, Level::kInfo, "skipped");
  // The wall clock stood still; by the steady clock the pause is over.
  driver.database_hangs();
  driver.run_until(30s);
  RecordsArrived arrived;
  arrived.records.push({.time = CoreDriver::wall(29'999ms), .message = "after"});
  driver.step(std::move(arrived));
  driver.database_stores();
  driver.table().insert(driver.attempts().back().rows);
  driver.answer(Status());
  driver.run_until(31s);
  const std::vector<Record> rows = driver.table().in_order();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(rows[0].message, HasSubstr("skipped"));
  EXPECT_EQ(rows[1].message, "after");
  EXPECT_EQ(rows[0].time, rows[1].time);
}

TEST_P(OverloadTimeline, TheGapRowIsTheFirstOfTheNextBatch) {
  driver.run_until(29'990ms);
  driver.database_hangs();
  driver.log(29'999ms, Level::kError);  // Keeps the pipeline busy past the end of the pause.
  driver.log(30'100ms, Level::kInfo, "waits");
  driver.database_stores();
  driver.answer(Status());
  driver.run_until(31s);
  ASSERT_THAT(driver.attempts(), SizeIs(3));
  ASSERT_THAT(driver.attempts()[2].rows, SizeIs(2));
  EXPECT_EQ(driver.attempts()[2].rows[0].context, "spillway");
  EXPECT_EQ(driver.attempts()[2].rows[1].message, "waits");
}

TEST_P(OverloadTimeline, AnHourOfOutageGivesOneGapRow) {
  driver.database_fails(busy());
  std::uint64_t issued = 2;
  for (auto time = 1s; time < 3600s; time += 1s) {
    driver.log(time, time.count() % 20 == 0 ? Level::kError : Level::kInfo);
    ++issued;
  }
  driver.database_stores();
  driver.run_until(2h);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  const Stats stats = driver.stats();
  EXPECT_EQ(stats.issued, issued);
  EXPECT_EQ(stats.stored, 1U) << "the ERROR that was held";
  EXPECT_EQ(sum(stats.skipped_reported), issued - 1);
  EXPECT_EQ(stats.pauses, 1U) << "it was extended, not begun again";
  EXPECT_LE(stats.attempts, 3600U / 5 + 2);
}

TEST(OverloadGateInThePipeline, ASlotIsCountedFromTheStartOfTheAttemptAndNeverBeforeItsEnd) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kInfo);
  driver.flush();
  driver.database_hangs();
  driver.log(1s, Level::kError, "slow");
  driver.log(6500ms, Level::kError, "skipped: one is in flight");
  driver.run_until(8s);
  driver.answer(busy());
  ASSERT_THAT(driver.attempts(), SizeIs(3)) << "8 s is past 1 s + 5 s: the held ERROR goes at once";
  EXPECT_EQ(driver.attempts()[2].at, 8s);
}

TEST(OverloadGateInThePipeline, AnErrorInTheBatchThatOpenedThePauseIsHeldAndUsesTheFirstSlot) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kInfo, "first");
  driver.flush();
  driver.log(100ms, Level::kError, "oldest");
  driver.log(200ms, Level::kError, "second");
  driver.answer(Status());  // Of "first"; the two ERRORs go together at 0.2 s.
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  driver.database_stores();
  driver.answer(busy());
  EXPECT_EQ(driver.stats().queued, 1U);
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kError), 1U);
  driver.run_until(10s);
  ASSERT_THAT(driver.attempts(), SizeIs(3));
  EXPECT_EQ(driver.attempts()[2].at, 5200ms);
  EXPECT_EQ(driver.attempts()[2].rows.at(0).message, "oldest");
}

TEST(OverloadGateInThePipeline, WhatWaitedInTheQueueIsDecidedWhenThePauseBegins) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kInfo);
  driver.flush();
  driver.log(100ms, Level::kInfo, 10);
  driver.log(200ms, Level::kError, "goes at once");
  driver.log(300ms, Level::kError, "skipped");
  driver.database_stores();
  driver.answer(busy());
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  EXPECT_EQ(driver.attempts()[1].rows.at(0).message, "goes at once");
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kInfo), 11U);
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kError), 1U);
}

TEST(OverloadGateInThePipeline, WithoutSkipsThereIsNoGapRow) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kError);
  driver.database_stores();
  driver.run_until(1h);
  EXPECT_EQ(driver.stats().stored, 1U);
  EXPECT_THAT(driver.table().gap_rows(), IsEmpty());
  EXPECT_EQ(driver.wake_at(), std::nullopt) << "nothing left to wake up for";
}

}  // namespace
}  // namespace spillway::testing
