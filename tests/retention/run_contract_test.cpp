// SPDX-License-Identifier: MIT
//
// Goal: on each kind of database a run deletes exactly what the policy lets go, costs what it
// should, and leaves what the next run needs.
#include "retention/lease.h"
#include "tests/retention/run_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::retention {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using RunContract = RunTest;

TEST_P(RunContract, DeletesWhatIsStrictlyOlderWhateverTheChunk) {
  make_log_table();
  add_rows(2'500, days_ago(31), "INFO");  // One time: no chunk may end with it or be stuck in it.
  add(days_ago(30) - milliseconds(1));
  add(days_ago(30));
  add(now - minutes(1), "ERROR");
  add(now + hours(2));
  const Report report = run_with({.policy = keep(30), .allow_delete = 10'000});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(report.deleted, 2'501);
  EXPECT_THAT(report.deleted_by, ElementsAre(Pair("keep", 2'501)));
  EXPECT_EQ(report.oldest, days_ago(30));
  EXPECT_TRUE(report.is_met);
  EXPECT_EQ(count(), 3);
  EXPECT_GE(report.chunks, 2);
  const Report again = run_with({.policy = keep(30)});
  EXPECT_EQ(again.verdict.end, End::kDone) << again.verdict.why;
  EXPECT_EQ(again.deleted, 0);
}

TEST_P(RunContract, KeepsEachLevelAsLongAsItsRuleSays) {
  make_log_table();
  for (const char* const level : {"DEBUG", "debug", "INFO", "ERROR", "AUDIT"}) {
    for (const int days : {1, 3, 31, 400}) {
      add(days_ago(days), level);
    }
  }
  Policy policy = keep(30);
  policy.levels = {{"AUDIT", Keep()}, {"DEBUG", hours(48)}, {"ERROR", hours(24 * 365)}};
  const Report report = run_with({.policy = policy});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_THAT(report.deleted_by,
              UnorderedElementsAre(Pair("DEBUG", 6), Pair("keep", 2), Pair("ERROR", 1)));
  EXPECT_EQ(count("upper(level) = 'DEBUG'"), 2);
  EXPECT_EQ(count("level = 'INFO'"), 2);
  EXPECT_EQ(count("level = 'ERROR'"), 3);
  EXPECT_EQ(count("level = 'AUDIT'"), 4);
}

TEST_P(RunContract, ReadsTwoRowsForOneThatGoesAndWritesOne) {
  make_log_table();
  add_minutes(4'000, days_ago(31));
  add_minutes(4'000, now);
  const Report report = run_with({.policy = keep(30), .chunk = 1'000});
  ASSERT_EQ(report.deleted, 4'000) << report.verdict.why;
  if (database->traits().dialect == Dialect::kD1) {
    // A first run also counts, for its guard: what would go, and as much of the rest as it takes to
    // see that it is no more than nine tenths.
    EXPECT_LE(report.cost.rows_read, 2.1 * 4'000 + 4'000 + 1'001);
    EXPECT_GE(report.cost.rows_written, 4'000);
    EXPECT_LE(report.cost.rows_written, 4'010);
    add_minutes(1'440, days_ago(30) - minutes(1));
  }
}

TEST_P(RunContract, ReadsNextDayOnlyWhatExpiredSince) {
  make_log_table();
  // Forty days, of each minute a row, three of ten DEBUG.
  const WallTime until = days_ago(1);
  ASSERT_TRUE(
      status_of({{"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5759) "
                  "INSERT INTO logs SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', " +
                  std::to_string(until.time_since_epoch().count() / 1000) +
                  " - 600 * i, 'unixepoch'), 2, i, CASE WHEN i % 10 < 3 THEN 'DEBUG' ELSE 'INFO' "
                  "END, 'app', 'text', NULL FROM n"}})
          .is_ok());
  add(now);
  Policy policy = keep(30);
  policy.levels = {{"DEBUG", hours(48)}};
  // The day before, as a rehearsal: later than real is refused elsewhere.
  const Report first = run_with({.policy = policy, .now = days_ago(1)});
  ASSERT_EQ(first.verdict.end, End::kDone) << first.verdict.why;
  const Report second = run_with({.policy = policy});
  ASSERT_EQ(second.verdict.end, End::kDone) << second.verdict.why;
  EXPECT_NEAR(static_cast<double>(second.deleted), 144, 2);
  if (database->traits().dialect == Dialect::kD1) {
    EXPECT_LE(second.cost.rows_read, 4 * second.deleted + 30);
  }
}

TEST_P(RunContract, FindsLateRowsByLookingAtTheOldest) {
  make_log_table();
  add_minutes(10, days_ago(31));
  add(now);
  ASSERT_EQ(run_with({.policy = keep(30)}).deleted, 10);
  add(days_ago(200));
  EXPECT_EQ(run_with({.policy = keep(30)}).deleted, 1);
}

TEST_P(RunContract, IsRefusedWhereAllWouldGo) {
  make_log_table();
  add_minutes(100, days_ago(400));
  Report report = run_with({.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kRefused);
  EXPECT_THAT(report.verdict.why, HasSubstr("--allow-delete"));
  report = run_with({.policy = keep(30), .allow_delete = 99});
  EXPECT_EQ(report.verdict.end, End::kRefused);
  EXPECT_THAT(report.verdict.why, HasSubstr("100 rows would go"));
  EXPECT_EQ(count(), 100);
  EXPECT_EQ(run_with({.policy = keep(30), .allow_delete = 100}).deleted, 100);
  EXPECT_EQ(run_with({.policy = keep(30)}).verdict.end, End::kDone) << "an empty table is no case";
}

TEST_P(RunContract, IsRefusedWhereANewPolicyWouldTakeMost) {
  make_log_table();
  add_minutes(1'000, days_ago(31));
  add_minutes(100, now);
  EXPECT_EQ(run_with({.policy = keep(30)}).verdict.end, End::kRefused);
  add_minutes(112, days_ago(1));
  EXPECT_EQ(run_with({.policy = keep(30)}).deleted, 1'000);
  EXPECT_EQ(run_with({.policy = {.max_rows = 20}}).verdict.end, End::kDone) << "a small table";
  EXPECT_EQ(count(), 20);
}

TEST_P(RunContract, WalksATableOfOthersByInstant) {
  ASSERT_TRUE(status_of({{"CREATE TABLE logs(id INTEGER PRIMARY KEY, level TEXT, message TEXT, "
                          "created_at DATETIME)"}})
                  .is_ok());
  const auto put = [this](const std::string& values) {
    ASSERT_TRUE(
        status_of({{"INSERT INTO logs(level, message, created_at) VALUES " + values}}).is_ok());
  };
  put("('INFO', 'goes', '2025-06-10 11:59:59'), ('INFO', 'stays', '2025-06-10 12:00:00'),"
      "('INFO', 'stays', '2025-06-10 23:59:59'), ('INFO', 'goes', '2025-06-10T11:59:59Z'),"
      "('INFO', 'goes', '2025-06-10T11:59:59.999Z'), ('INFO', 'stays', '2025-06-10T12:00:00.000Z'),"
      "('INFO', 'goes', '2025-06-10T13:30:00+02:00'),"
      "('INFO', 'stays', '2025-06-10T10:30:00-05:00'), ('INFO', 'goes', '2025-06-10'),"
      "('INFO', 'stays', '2025-06-10T23:59:59'), ('INFO', 'stays', '2025-06-10T12:00:00:+01:00'),"
      "('INFO', 'stays', 'garbage'), ('INFO', 'stays', ''), ('INFO', 'stays', NULL),"
      "('INFO', 'goes', 1749556799), ('INFO', 'goes', 1749556799000),"
      "('INFO', 'stays', 1893456000000)");
  const auto cutoff = parse_time_text("2025-06-10T12:00:00.000Z");
  const Report report =
      run_with({.policy = keep(1), .chunk = 5, .allow_delete = 100, .now = *cutoff + hours(24)});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(count("message = 'goes'"), 0);
  EXPECT_EQ(count("message = 'stays'"), 10);
  EXPECT_THAT(report.kept, UnorderedElementsAre(Pair("null", 1), Pair("empty", 1),
                                                Pair("unreadable", 2), Pair("future", 1)));
}

TEST_P(RunContract, RefusesATableThatIsNoLog) {
  EXPECT_EQ(run_with({.policy = keep(30)}).verdict.end, End::kError);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_master WHERE name LIKE 'logs%'"), 0);
  ASSERT_TRUE(status_of({{"CREATE TABLE logs(id INTEGER PRIMARY KEY, stamp TEXT)"},
                         {"INSERT INTO logs(stamp) VALUES('2020-01-01 00:00:00')"}})
                  .is_ok());
  EXPECT_EQ(run_with({.policy = keep(30)}).verdict.end, End::kUsage);
  RunOptions options{.policy = keep(30)};
  options.choice.time_column = "stamp";
  EXPECT_EQ(run_with(options).verdict.end, End::kUsage) << "without --allow-delete";
  EXPECT_EQ(count(), 1);
  options.allow_delete = 1;
  EXPECT_EQ(run_with(options).deleted, 1);
}

TEST_P(RunContract, PassesRowsThatTheTableDoesNotLetGo) {
  make_log_table();
  add_minutes(500, days_ago(31));
  add(days_ago(40), "HELD");
  add(days_ago(33), "HELD");
  add(now);
  ASSERT_TRUE(status_of({{"CREATE TRIGGER hold BEFORE DELETE ON logs WHEN OLD.level = 'HELD' "
                          "BEGIN SELECT RAISE(ABORT, 'held'); END"}})
                  .is_ok());
  const Report report = run_with({.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kNotMet);
  EXPECT_EQ(report.deleted, 500);
  EXPECT_EQ(report.kept.at("refused"), 2);
  EXPECT_EQ(count(), 3);
}

TEST_P(RunContract, KeepsTheNewestRows) {
  make_log_table();
  add_minutes(300, now);
  const Report report = run_with({.policy = {.max_rows = 120}, .chunk = 50});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_THAT(report.deleted_by, ElementsAre(Pair("max-rows", 180)));
  EXPECT_EQ(count(), 120);
  EXPECT_EQ(number("SELECT max(seq) FROM logs"), 119) << "the oldest went";
}

TEST_P(RunContract, GoesOnWhereABudgetStoppedIt) {
  make_log_table();
  add_minutes(300, days_ago(31));
  add(now);
  const Report first = run_with({.policy = keep(30), .chunk = 40, .max_written = 100});
  EXPECT_EQ(first.verdict.end, End::kStopped);
  EXPECT_LE(first.deleted, 100);
  EXPECT_GE(first.deleted, 60);
  const Report second = run_with({.policy = keep(30)});
  EXPECT_EQ(second.verdict.end, End::kDone) << second.verdict.why;
  EXPECT_EQ(first.deleted + second.deleted, 300);
}

TEST_P(RunContract, DoesNotBeginWhileAnotherRunHasTheLease) {
  make_log_table();
  add_minutes(10, days_ago(31));
  add(now);
  ASSERT_TRUE(Lease::take(*database, "\"logs_meta\"", "somebody", {}).value().lease.has_value());
  const Report report = run_with({.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kLeaseHeld);
  EXPECT_THAT(report.verdict.why, HasSubstr("somebody"));
  EXPECT_EQ(count(), 11);
}

TEST_P(RunContract, DeletesNothingMoreOnceItsLeaseIsTakenOver) {
  make_log_table();
  add_minutes(100, days_ago(31));
  add(now);
  FaultyDatabase between(*database);
  int deletions = 0;
  between.fail_before([&](std::span<const Statement> statements) {
    if (does_delete(statements) && ++deletions == 3) {
      value_of(
          "UPDATE logs_meta SET value = json_set(value, '$.generation', 99) "
          "WHERE key = 'retention_lease' RETURNING 1");
    }
    return Status();
  });
  const Report report = run_on(between, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(report.verdict.end, End::kLeaseHeld);
  EXPECT_EQ(report.deleted, 20);
  EXPECT_EQ(count(), 81);
}

TEST_P(RunContract, MakesASpoiltStateAnew) {
  make_log_table();
  add_minutes(10, days_ago(31));
  add(now);
  ASSERT_TRUE(status_of({{"INSERT INTO logs_meta VALUES('retention_state', 'no JSON')"}}).is_ok());
  const Report report = run_with({.policy = keep(30)});
  EXPECT_EQ(report.deleted, 10);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("state")));
  EXPECT_THAT(run_with({.policy = keep(30)}).warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, RunContract, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway::retention
