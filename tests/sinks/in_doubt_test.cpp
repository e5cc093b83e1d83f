// SPDX-License-Identifier: MIT
//
// Attempts whose fate is unknown: the rows may be in the table, or may come into it later. They are
// sent again under the same keys and are never counted as skipped while they are in doubt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

namespace spillway::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Whether the database had carried out the attempt whose answer says nothing certain.
class InDoubt : public ::testing::TestWithParam<bool> {
 protected:
  /// From now on attempts fail with `status`, applied or not.
  void database_fails_in_doubt(const Status& status) {
    driver.database([this, status](const std::vector<Record>& rows) {
      if (GetParam()) {
        driver.table().insert(rows);
      }
      return std::optional(status);
    });
  }

  CoreDriver driver;
};

INSTANTIATE_TEST_SUITE_P(AppliedOrNot, InDoubt, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "Applied" : "NotApplied"; });

TEST_P(InDoubt, ABatchQueuedForTooLongIsHeldAndSentAgainAtTheNextSlot) {
  database_fails_in_doubt(queued_too_long());
  driver.log(0ms, Level::kInfo, 3);
  driver.flush();
  EXPECT_EQ(driver.stats().in_doubt, 3U);
  EXPECT_EQ(driver.stats().skipped(), 0U);
  driver.database_stores();
  driver.run_until(1h);
  ASSERT_THAT(driver.attempts(), SizeIs(2));
  EXPECT_EQ(driver.attempts()[1].at, 5s);
  EXPECT_EQ(driver.attempts()[1].rows.at(2).seq, driver.attempts()[0].rows.at(2).seq);
  EXPECT_THAT(driver.table().in_order(), SizeIs(3));
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST_P(InDoubt, ALostAnswerIsTriedFourTimesAndThenPauses) {
  database_fails_in_doubt(answer_lost());
  driver.log(0ms, Level::kInfo);
  driver.flush();
  driver.run_until(4s);
  ASSERT_GE(driver.attempts().size(), 5U);
  const auto times = driver.attempt_times();
  const milliseconds nominal[] = {200ms, 400ms, 800ms, 1600ms};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto delay = times[i + 1] - times[i];
    EXPECT_GE(delay, nominal[i] * 8 / 10 - 1ms);
    EXPECT_LE(delay, nominal[i] * 12 / 10 + 1ms);
  }
  EXPECT_EQ(driver.stats().pauses, 1U);
  EXPECT_EQ(driver.stats().in_doubt, 1U);
  driver.database_stores();
  driver.run_until(1h);
  EXPECT_THAT(driver.table().in_order(), SizeIs(1));
}

TEST_P(InDoubt, OnceInDoubtABatchStaysSoWhenAReSendIsRefused) {
  database_fails_in_doubt(queued_too_long());
  driver.log(0ms, Level::kInfo, 2);
  driver.flush();
  driver.database_fails(refused_as_overloaded());
  driver.run_until(60s);
  EXPECT_GE(driver.attempts().size(), 12U);
  EXPECT_EQ(driver.stats().in_doubt, 2U);
  EXPECT_EQ(driver.stats().skipped(), 0U);
  driver.database_stores();
  driver.run_until(2h);
  EXPECT_EQ(driver.stats().stored, 2U);
  EXPECT_THAT(driver.table().in_order(), SizeIs(2)) << "and no gap row";
}

TEST_P(InDoubt, NewRecordsAreSkippedWhileABatchIsHeld) {
  database_fails_in_doubt(queued_too_long());
  driver.log(0ms, Level::kError);
  EXPECT_EQ(driver.stats().in_doubt, 1U);
  driver.log(1s, Level::kError);
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kError), 1U);
  EXPECT_EQ(driver.stats().in_doubt, 1U);
}

/// A gap of five skipped records whose own row is sent at 30 s and gets `fate`.
class GapRowFate : public InDoubt {
 protected:
  void SetUp() override {
    driver.database_fails(busy());
    driver.log(0ms, Level::kInfo, 5);
    driver.flush();
  }
};

INSTANTIATE_TEST_SUITE_P(AppliedOrNot, GapRowFate, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "Applied" : "NotApplied"; });

TEST_P(GapRowFate, UnknownTheRowIsSentAgainUnchangedAndLaterSkipsGoIntoTheNextOne) {
  database_fails_in_doubt(queued_too_long());
  driver.run_until(30s);
  driver.log(31s, Level::kInfo, 7);
  driver.database_stores();
  driver.run_until(1h);
  const std::vector<Record> gaps = driver.table().gap_rows();
  ASSERT_THAT(gaps, SizeIs(2));
  EXPECT_EQ(gaps[0].message, "Log persistence paused while SQLite was busy, 5 skipped");
  EXPECT_EQ(gaps[1].message, "Log persistence paused while SQLite was busy, 7 skipped");
  for (const auto& attempt : driver.attempts()) {
    if (attempt.at >= 30s && attempt.rows[0].seq == gaps[0].seq) {
      EXPECT_EQ(attempt.rows[0].fields, gaps[0].fields) << "sent unchanged";
    }
  }
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_reported, Level::kInfo), 12U);
  EXPECT_EQ(driver.stats().own, 2U);
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST_P(GapRowFate, CertainlyNotExecutedTheRowGrows) {
  driver.run_until(30s);  // Refused: the pause begins again and the gap is open again.
  driver.log(31s, Level::kWarn, 2);
  driver.database_stores();
  driver.run_until(1h);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.table().gap_rows()[0].message,
            "Log persistence paused while SQLite was busy, 7 skipped");
  EXPECT_EQ(sum(driver.stats().skipped_reported), 7U);
}

TEST_P(GapRowFate, RecordsSentBesideARefusedGapRowAreCountedInIt) {
  driver.run_until(29'900ms);
  driver.database_hangs();
  driver.log(29'950ms, Level::kError);
  driver.log(30'500ms, Level::kInfo, 3);
  driver.database_fails(busy());
  driver.answer(Status());  // The next batch is the gap row and the 3 records, refused together.
  EXPECT_EQ(CoreDriver::count(driver.stats().skipped_pending, Level::kInfo), 8U);
  driver.database_stores();
  driver.run_until(1h);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(sum(driver.stats().skipped_reported), 8U);
}

TEST(GapOfAFullQueue, SkipsWhileItsRowIsInFlightBelongToItWhenTheRowIsRefused) {
  CoreDriver driver;
  driver.database_hangs();
  driver.shed(0ms, Level::kInfo, 4);
  driver.run_until(200ms);
  ASSERT_THAT(driver.attempts(), SizeIs(1));
  driver.shed(300ms, Level::kInfo, 6);
  driver.database_stores();
  driver.answer(busy());
  driver.run_until(1h);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.table().gap_rows()[0].message, "Log queue was full, 10 skipped");
  EXPECT_EQ(driver.core().last_seq(), 11) << "no number is lost: 10 records and one row";
}

TEST(GapOfAFullQueue, SkipsWhileItsRowIsInFlightGetARowOfTheirOwnWhenItIsStored) {
  CoreDriver driver;
  driver.database_hangs();
  driver.shed(0ms, Level::kInfo, 4);
  driver.run_until(200ms);
  driver.shed(300ms, Level::kDebug, 6);
  driver.table().insert(driver.attempts()[0].rows);
  driver.database_stores();
  driver.answer(Status());
  driver.run_until(1s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(2));
  EXPECT_EQ(driver.core().last_seq(), 12);
  EXPECT_TRUE(driver.stats().is_complete);
}

}  // namespace
}  // namespace spillway::testing
