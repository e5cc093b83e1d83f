// SPDX-License-Identifier: MIT
//
// What the core makes of an attempt that a fork cut short, and of losses in front of the pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Interruption, IsFollowedByTheSameRowsAtOnceAndWithoutAPause) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kError, "one");
  driver.database_stores();
  driver.interrupt(Execution::kNo);
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  EXPECT_EQ(driver.attempts()[1].at, 0ms);
  EXPECT_EQ(driver.attempts()[1].rows.at(0).seq, driver.attempts()[0].rows.at(0).seq);
  EXPECT_EQ(driver.stats().pauses, 0U);
  EXPECT_EQ(driver.stats().attempts, 2U);
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST(Interruption, OfAnAttemptThatMayHaveBeenExecutedLeavesTheRowsInDoubt) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kError);
  driver.database_fails(busy());
  driver.interrupt(Execution::kMaybe);
  EXPECT_EQ(driver.stats().in_doubt, 1U) << "the next attempt says nothing about the one before it";
  EXPECT_EQ(driver.stats().skipped(), 0U);
}

TEST(Interruption, AtCloseInAPauseDoesNotUseUpTheOneAttempt) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kError);
  driver.database_hangs();
  driver.run_until(1s);
  driver.close(2s);
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  driver.database_stores();
  driver.interrupt(Execution::kNo);
  EXPECT_THAT(driver.attempts(), SizeIs(3));
  EXPECT_TRUE(driver.stats().is_complete);
  EXPECT_TRUE(driver.is_done());
}

TEST(Interruption, InAPauseGivesTheSlotBack) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kInfo);
  driver.flush();
  driver.database_hangs();
  driver.log(1s, Level::kError);
  driver.database_stores();
  driver.interrupt(Execution::kNo);
  ASSERT_THAT(driver.attempts(), SizeIs(3));
  EXPECT_EQ(driver.attempts()[2].at, 1s) << "not at the next slot";
  EXPECT_EQ(driver.stats().stored, 1U);
}

TEST(Overrun, OfAnAsyncLoggersQueueBecomesOneGapRowOfTheUnknownLevel) {
  CoreDriver driver;
  driver.overrun(0ms, 600);
  driver.overrun(100ms, 384);
  driver.log(150ms, Level::kInfo);
  driver.run_until(1s);
  const auto gaps = driver.table().gap_rows();
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(gaps[0].message, "Async logger's queue overran, 984 skipped");
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("reason":"overrun")"));
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("skipped":{"UNKNOWN":984})"));
  EXPECT_EQ(driver.stats().issued, 985U);
  EXPECT_TRUE(driver.stats().is_complete);
}

}  // namespace
}  // namespace spillway::testing
