// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

namespace spillway::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Closing, SendsWhatIsLeftAtOnceAndIsDone) {
  CoreDriver driver;
  driver.log(0ms, Level::kInfo, 5'000);
  driver.close(5s);
  EXPECT_TRUE(driver.is_done());
  EXPECT_EQ(driver.stats().stored, 5'000U);
  EXPECT_THAT(driver.diagnostics(), IsEmpty());
}

TEST(Closing, WithNothingLeftIsDoneAtOnce) {
  CoreDriver driver;
  driver.close(5s);
  EXPECT_TRUE(driver.is_done());
  EXPECT_THAT(driver.attempts(), IsEmpty());
}

TEST(Closing, InAPauseGivesTheGapRowOneAttempt) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kInfo, 3);
  driver.flush();
  driver.run_until(1s);
  driver.database_stores();
  driver.close(5s);
  EXPECT_TRUE(driver.is_done());
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.attempts().back().lock_wait, LockWait::kUntilDeadline)
      << "nobody comes back later";
  EXPECT_EQ(driver.attempts().back().deadline, 6s);
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST(Closing, InAPauseGivesHeldBatchAndGapRowOneAttemptEachAndDoesNotIdle) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kError, 3);
  driver.run_until(1s);
  driver.close(5s);
  EXPECT_TRUE(driver.is_done()) << "the next slot after the deadline helps nobody";
  EXPECT_THAT(driver.attempts(), SizeIs(3));
  EXPECT_EQ(sum(driver.stats().skipped_pending), 3U);
  EXPECT_THAT(driver.diagnostics(),
              Contains(HasSubstr("3 records lost (2 while SQLite was busy, 1 left in the queue)")));
}

TEST(Closing, WaitsForAPauseThatEndsBeforeTheDeadline) {
  CoreDriver driver({.overload = {.write_pause = 3s, .error_interval = 1s}});
  driver.database_fails(busy());
  driver.log(0ms, Level::kInfo, 3);
  driver.flush();
  driver.close(5s);
  EXPECT_FALSE(driver.is_done());
  driver.database_stores();
  driver.run_until(3s);
  EXPECT_TRUE(driver.is_done());
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST(Closing, SendsNothingWhileARetryAfterRunsPastTheDeadline) {
  CoreDriver driver;
  driver.database_fails(busy().with_retry_after(60s));
  driver.log(0ms, Level::kError);
  driver.close(5s);
  EXPECT_TRUE(driver.is_done());
  EXPECT_THAT(driver.attempts(), SizeIs(1));
}

TEST(Closing, AtTheDeadlineCancelsTheAttemptAndCountsWhatIsLeft) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kInfo, 3'000);
  driver.close(2s);
  driver.run_until(1'999ms);
  EXPECT_FALSE(driver.is_cancelled());
  driver.run_until(2s);
  EXPECT_TRUE(driver.is_cancelled());
  EXPECT_FALSE(driver.is_done()) << "the answer is still to come";
  driver.answer(Status(StatusCode::kCancelled, "cancelled"));
  EXPECT_TRUE(driver.is_done());
  EXPECT_EQ(sum(driver.stats().skipped_pending), 3'000U);
  EXPECT_EQ(driver.stats().in_doubt, 0U);
}

TEST(Closing, AnEarlierDeadlineWinsAndALaterOneChangesNothing) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kError);
  driver.close(10s);
  driver.close(2s);
  driver.close(30s);
  driver.run_until(1999ms);
  EXPECT_FALSE(driver.is_cancelled());
  driver.run_until(2s);
  EXPECT_TRUE(driver.is_cancelled());
}

TEST(Closing, KeepsApartWhatIsInDoubt) {
  CoreDriver driver;
  driver.database_hangs();
  driver.log(0ms, Level::kInfo, 3'000);
  driver.close(2s);
  driver.run_until(2s);
  driver.answer(answer_lost());
  EXPECT_TRUE(driver.is_done());
  EXPECT_EQ(driver.stats().in_doubt, 2'000U);
  EXPECT_EQ(sum(driver.stats().skipped_pending), 1'000U);
  EXPECT_FALSE(driver.stats().is_complete);
}

TEST(Closing, GoesOnReSendingWithinItsTime) {
  CoreDriver driver;
  int failures = 3;
  driver.database([&](const auto&) {
    return failures-- > 0 ? Status(StatusCode::kTransient, "starting up") : Status();
  });
  driver.log(0ms, Level::kInfo);
  driver.close(5s);
  driver.run_until(5s);
  EXPECT_TRUE(driver.is_done());
  EXPECT_EQ(driver.stats().stored, 1U);
}

TEST(Flushing, SendsWithoutWaitingForAFullerBatchAndSettles) {
  CoreDriver driver;
  driver.log(0ms, Level::kInfo, 3);
  EXPECT_THAT(driver.attempts(), IsEmpty());
  EXPECT_EQ(driver.core().settled_through(), 0);
  driver.flush();
  EXPECT_EQ(driver.core().settled_through(), 3);
}

TEST(Flushing, ARecordIsNotSettledBeforeItsGapRowIsStored) {
  CoreDriver driver;
  driver.database_fails(busy());
  driver.log(0ms, Level::kInfo, 3);
  driver.flush();
  driver.database_stores();
  driver.log(1s, Level::kError);
  EXPECT_EQ(driver.core().settled_through(), 0);
  driver.run_until(30s);
  EXPECT_EQ(driver.core().settled_through(), driver.core().last_seq());
}

TEST(Batching, SendsAtTheAgeOfTheOldestRecord) {
  CoreDriver driver;
  driver.log(0ms, Level::kInfo);
  driver.log(150ms, Level::kInfo);
  driver.run_until(1s);
  ASSERT_THAT(driver.attempts(), SizeIs(1));
  EXPECT_EQ(driver.attempts()[0].at, 200ms);
  EXPECT_THAT(driver.attempts()[0].rows, SizeIs(2));
}

TEST(Batching, SendsAtOnceWhenFullOrWhenThereIsAnError) {
  CoreDriver driver({.batch_rows_max = 10});
  driver.log(0ms, Level::kInfo, 25);
  EXPECT_THAT(driver.attempts(), SizeIs(2)) << "the rest of 5 waits";
  driver.log(10ms, Level::kError);
  EXPECT_THAT(driver.attempts(), SizeIs(3));
}

TEST(Batching, KeepsToTheBytesOfABatchButSendsALargerRecordAlone) {
  CoreDriver driver({.batch_bytes_max = 1'000});
  for (const std::size_t size : {300U, 300U, 300U, 5'000U, 300U}) {
    driver.log(0ms, Level::kInfo, std::string(size, 'x'));
  }
  driver.flush();
  std::vector<std::size_t> sizes;
  for (const auto& attempt : driver.attempts()) {
    sizes.push_back(attempt.rows.size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1, 1, 1}));
}

}  // namespace
}  // namespace spillway::testing
