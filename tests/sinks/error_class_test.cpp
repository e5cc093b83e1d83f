// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sinks/core_driver.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct ClassCase {
  StatusCode code;
  milliseconds pause;
  bool has_slots;
  std::string gap_message;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
void PrintTo(const ClassCase& which, std::ostream* out) { *out << to_string(which.code); }

class EachClass : public ::testing::TestWithParam<ClassCase> {
 protected:
  /// Logs INFO at 0 and lets the failure happen as often as it takes for writes to pause. Gives
  /// when they did.
  milliseconds pause_begins() {
    driver.database_fails(Status(GetParam().code, "why").with_execution(Execution::kNo));
    driver.log(0ms, Level::kInfo);
    driver.flush();
    while (driver.stats().pauses == 0 && driver.wake_at()) {
      driver.run_until(*driver.wake_at() + 1ms);
    }
    return driver.attempts().back().at;
  }
  CoreDriver driver;
};

INSTANTIATE_TEST_SUITE_P(
    OfFailures, EachClass,
    ::testing::Values(
        ClassCase{StatusCode::kOverload, 30s, true, "paused while SQLite was busy, 1"},
        ClassCase{StatusCode::kRateLimited, 300s, false,
                  "paused while SQLite was limiting requests, 1"},
        ClassCase{StatusCode::kTransient, 30s, true, "paused while SQLite was unreachable, 1"},
        ClassCase{StatusCode::kLost, 30s, true, "paused while SQLite was unreachable, 1"},
        ClassCase{StatusCode::kInternal, 30s, true, "paused while SQLite was unreachable, 1"},
        ClassCase{StatusCode::kSchema, 60s, false, "SQLite refused writes (schema), 1"},
        ClassCase{StatusCode::kStorageFull, 60s, false, "SQLite refused writes (storage_full), 1"},
        ClassCase{StatusCode::kAuth, 60s, false, "SQLite refused writes (auth), 1"},
        ClassCase{StatusCode::kConfig, 60s, false, "SQLite refused writes (config), 1"},
        ClassCase{StatusCode::kPermanent, 60s, false, "SQLite refused writes (permanent), 1"},
        ClassCase{StatusCode::kQuota, 900s, false, "SQLite refused writes (quota), 1"}),
    [](const auto& which) { return std::string(to_string(which.param.code)); });

TEST_P(EachClass, PausesAsLongAsItsCellSays) {
  const milliseconds began = pause_begins();
  const SteadyTime end(began + GetParam().pause);
  EXPECT_TRUE(driver.core().is_paused(end - 1ms));
  EXPECT_FALSE(driver.core().is_paused(end + 2ms));
}

TEST_P(EachClass, LetsErrorsThroughOnlyIfItsCellSaysSo) {
  const milliseconds began = pause_begins();
  driver.database_stores();
  const std::size_t before = driver.attempts().size();
  driver.log(began + 10s, Level::kError);
  EXPECT_EQ(driver.attempts().size() - before, GetParam().has_slots ? 1U : 0U);
}

TEST_P(EachClass, NamesItselfInTheGapRowAfterThePause) {
  const milliseconds began = pause_begins();
  driver.database_stores();
  driver.run_until(began + GetParam().pause + 1s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_THAT(driver.table().gap_rows()[0].message, HasSubstr(GetParam().gap_message));
}

TEST_P(EachClass, SpeaksOfD1WhereItIsD1) {
  driver.database_is(d1_traits());
  const milliseconds began = pause_begins();
  driver.database_stores();
  driver.run_until(began + GetParam().pause + 1s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  const std::string gap_message = driver.table().gap_rows()[0].message;
  EXPECT_THAT(gap_message, HasSubstr(GetParam().code == StatusCode::kOverload
                                         ? "paused while D1 was overloaded, 1"
                                         : "D1" + GetParam().gap_message.substr(
                                                      GetParam().gap_message.find("SQLite") + 6)));
}

TEST_P(EachClass, HoldsTheOldestErrorOfTheBatchUntilItIsStored) {
  driver.database_fails(Status(GetParam().code, "why").with_execution(Execution::kNo));
  driver.log(0ms, Level::kError, 3);
  driver.run_until(10s);
  EXPECT_EQ(driver.stats().queued, 1U);
  driver.database_stores();
  driver.run_until(1h);
  EXPECT_EQ(driver.stats().stored, 1U);
  EXPECT_EQ(sum(driver.stats().skipped_reported), 2U);
}

TEST(TransientFailure, IsOverBeforeAnythingIsSkippedWhenAReSendWorks) {
  CoreDriver driver;
  int failures = 4;
  driver.database([&](const auto&) {
    return failures-- > 0 ? Status(StatusCode::kTransient, "starting up") : Status();
  });
  driver.log(0ms, Level::kInfo, 5);
  driver.log(1s, Level::kError);
  driver.run_until(5s);
  EXPECT_THAT(driver.diagnostics(), SizeIs(1)) << "told once, not with every attempt";
  EXPECT_EQ(driver.stats().stored, 6U);
  EXPECT_EQ(driver.stats().pauses, 0U);
  EXPECT_EQ(driver.stats().skipped(), 0U);
}

TEST(TransientFailure, EachBatchHasItsOwnFourReSends) {
  CoreDriver driver;
  int calls = 0;
  driver.database([&](const auto&) {  // Every batch fails four times.
    return ++calls % 5 != 0 ? Status(StatusCode::kTransient, "starting up") : Status();
  });
  for (int batch = 0; batch < 3; ++batch) {
    driver.log(batch * 10s, Level::kError);
    driver.run_until(batch * 10s + 9s);
  }
  EXPECT_EQ(driver.stats().stored, 3U);
  EXPECT_EQ(driver.stats().pauses, 0U);
}

TEST(LastingFailure, PausesAtOnceWithSlotsAndHealsByItself) {
  CoreDriver driver;
  driver.database_is(d1_traits());
  driver.database_fails(exporting());
  driver.log(0ms, Level::kInfo, 3);
  driver.flush();
  EXPECT_EQ(driver.stats().pauses, 1U) << "without re-sends";
  EXPECT_TRUE(driver.core().is_paused(SteadyTime(29'999ms)));
  EXPECT_FALSE(driver.core().is_paused(SteadyTime(30s)));
  for (auto time = 1s; time < 300s; time += 1s) {  // An export of five minutes.
    driver.log(time, time.count() % 7 == 0 ? Level::kError : Level::kInfo);
  }
  EXPECT_LE(driver.attempts().size(), 1U + 300 / 5) << "at most one for each slot";
  EXPECT_THAT(driver.diagnostics(), SizeIs(1)) << "no flood of alarms";
  driver.database_stores();
  driver.run_until(400s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_THAT(driver.table().gap_rows()[0].message, HasSubstr("paused while D1 was unreachable, "));
  EXPECT_TRUE(driver.stats().is_complete);
}

TEST(RetryAfter, NothingAtAllIsSentWhileItRuns) {
  CoreDriver driver;
  driver.database_fails(busy().with_retry_after(120s));
  driver.log(0ms, Level::kError);
  driver.database_stores();
  driver.log(10s, Level::kCritical);
  driver.run_until(119'999ms);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  driver.run_until(120s);
  EXPECT_EQ(driver.stats().stored, 1U);
}

TEST(RetryAfter, ShorterThanThePauseItDoesNotShortenIt) {
  CoreDriver driver;
  driver.database_fails(busy().with_retry_after(2s));
  driver.log(0ms, Level::kInfo);
  driver.flush();
  EXPECT_TRUE(driver.core().is_paused(SteadyTime(29'999ms)));
}

TEST(RetryAfter, IsObeyedBeforeTheHalvesOfARefusedBatchAreSent) {
  CoreDriver driver;
  driver.database_fails(
      Status(StatusCode::kTooBig, "413").with_execution(Execution::kNo).with_retry_after(9s));
  driver.log(0ms, Level::kInfo, 4);
  driver.flush();
  driver.database_stores();
  driver.run_until(8'999ms);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  driver.run_until(9s);
  EXPECT_EQ(driver.stats().stored, 4U);
}

TEST(RetryAfter, IsClampedToAQuarterOfAnHourAndToASecond) {
  const OverloadPolicy policy;
  const Status limited(StatusCode::kRateLimited, "slow down");
  EXPECT_EQ(rule_for(limited.with_retry_after(24h), policy).pause, 15min);
  EXPECT_EQ(rule_for(limited.with_retry_after(-5s), policy).pause, 1s);
  EXPECT_EQ(rule_for(limited, policy).pause, 300s);
}

TEST(RetryAfter, IsTakenAsFiveMinutesOfSilenceWhenARateLimitDoesNotSayIt) {
  CoreDriver driver;
  driver.database_fails(Status(StatusCode::kRateLimited, "slow down"));
  driver.log(0ms, Level::kError, 3);
  driver.flush();
  driver.close(5s);
  driver.run_until(10s);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  EXPECT_EQ(driver.stats().skipped(), 3U);
}

TEST(RetryAfter, OfAFailureThatWouldBeSentAgainSoonIsObeyedInstead) {
  CoreDriver driver;
  driver.database_fails(Status(StatusCode::kTransient, "starting up").with_retry_after(7s));
  driver.log(0ms, Level::kError);
  driver.run_until(6'999ms);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
}

/// A database that refuses every batch with the row "poison" in it.
class PoisonRow : public ::testing::TestWithParam<StatusCode> {
 protected:
  void SetUp() override {
    driver.database([](const std::vector<Record>& rows) {
      for (const Record& row : rows) {
        if (row.message == "poison") {
          return Status(GetParam(), "CHECK constraint failed").with_execution(Execution::kNo);
        }
      }
      return Status();
    });
  }
  void log_batch(int rows, int poison_at) {
    RecordsArrived arrived;
    for (int i = 0; i < rows; ++i) {
      arrived.records.push({.time = CoreDriver::wall(driver.now()),
                            .context = "app",
                            .message = i == poison_at ? "poison" : "fine"});
    }
    driver.step(std::move(arrived));
    driver.flush();
  }
  CoreDriver driver;
};

INSTANTIATE_TEST_SUITE_P(Refused, PoisonRow,
                         ::testing::Values(StatusCode::kConstraint, StatusCode::kTooBig),
                         [](const auto& which) { return std::string(to_string(which.param)); });

TEST_P(PoisonRow, CostsOneRowAndFewAttempts) {
  log_batch(100, 37);
  EXPECT_EQ(driver.stats().stored, 99U);
  EXPECT_LE(driver.attempts().size(), 1U + 2 * 7 + 2);
  EXPECT_EQ(driver.stats().pauses, 0U);
  driver.run_until(1s);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.table().gap_rows()[0].message, "Database refused rows, 1 skipped");
  EXPECT_THAT(driver.diagnostics(), Contains(HasSubstr("CHECK constraint failed")));
}

TEST_P(PoisonRow, FirstInTheQueueDoesNotStopTheRowsBehindIt) {
  log_batch(1, 0);
  log_batch(50, -1);
  EXPECT_EQ(driver.stats().stored, 50U);
}

TEST_P(PoisonRow, FoundWhileTheDatabaseIsOverloadedIsCountedOnce) {
  int calls = 0;
  driver.database([&](const std::vector<Record>&) {
    return ++calls == 2 ? busy() : calls == 1 ? Status(GetParam(), "no") : Status();
  });
  log_batch(10, 3);
  driver.run_until(1h);
  EXPECT_EQ(driver.stats().stored, 0U);
  EXPECT_EQ(sum(driver.stats().skipped_reported), 10U);
}

TEST(RefusedRows, AreToldNoFasterThanAPersonReads) {
  CoreDriver driver;
  driver.database_fails(Status(StatusCode::kConstraint, "CHECK"));
  driver.log(0ms, Level::kInfo, 1'000);
  driver.flush();
  EXPECT_THAT(driver.diagnostics(), SizeIs(1));
  driver.log(5s, Level::kInfo);
  driver.flush();
  ASSERT_THAT(driver.diagnostics(), SizeIs(2));
  EXPECT_THAT(driver.diagnostics()[1], HasSubstr("(and 1000 more before it)"))
      << "999 records and the gap row that names the first one";
}

// Rows that a trigger ignores.

TEST(KeptOutRows, AreRefusedByTheAttemptThatFindsThem) {
  CoreDriver driver;
  driver.table().keep_out([](const Record& row) { return row.level == Level::kDebug; });
  driver.log(0ms, Level::kDebug, 40);
  driver.log(0ms, Level::kInfo, 60);
  driver.flush();
  EXPECT_EQ(driver.stats().stored, 60U);
  EXPECT_EQ(driver.stats().attempts, 2U) << "the rows, and the gap row";
  EXPECT_EQ(driver.count(driver.stats().skipped_reported, Level::kDebug), 40U);
  ASSERT_THAT(driver.table().gap_rows(), SizeIs(1));
  EXPECT_EQ(driver.table().gap_rows()[0].message, "Database refused rows, 40 skipped");
  ASSERT_THAT(driver.diagnostics(), SizeIs(1));
  EXPECT_EQ(driver.diagnostics()[0],
            "the database refused the row with seq 1: it is not in the table after its insert: a "
            "trigger keeps rows out");
}

TEST(KeptOutRows, NeedNoNewAttemptThoughTheGapRowIsOneOfThem) {
  CoreDriver driver;
  driver.table().keep_out([](const Record&) { return true; });
  driver.log(0ms, Level::kInfo, 100);
  driver.run_until(1h);
  EXPECT_EQ(driver.stats().attempts, 2U);
  EXPECT_EQ(sum(driver.stats().skipped_pending), 100U);
  EXPECT_TRUE(driver.core().has_unreportable());
}

TEST(RefusedGapRow, IsNotTriedForEver) {
  CoreDriver driver;
  driver.database([](const std::vector<Record>& rows) {
    return rows[0].context == "spillway" ? Status(StatusCode::kConstraint, "CHECK") : Status();
  });
  driver.shed(0ms, Level::kInfo, 4);
  driver.run_until(1h);
  EXPECT_THAT(driver.attempts(), SizeIs(1));
  EXPECT_EQ(sum(driver.stats().skipped_pending), 4U) << "never reported, and never claimed to be";
  EXPECT_TRUE(driver.core().has_unreportable());
}

}  // namespace
}  // namespace spillway::testing
