// SPDX-License-Identifier: MIT
#include "cli/retention_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/amount_text.h"
#include "cli/retention_progress.h"

#include <chrono>

namespace spillway {
namespace {

using retention::Check;
using retention::End;
using retention::Plan;
using retention::Progress;
using retention::Report;
using retention::Restored;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// 2026-08-28T06:35:12.345Z
constexpr WallTime kNow{milliseconds(1'787'898'912'345)};
constexpr WallTime kMonthAgo = kNow - std::chrono::hours(720);

const RetentionSubject kFile{"sqlite:app.db", false};
const RetentionSubject kD1{"d1:///abc", true};

Report full_report() {
  Report report;
  report.table = "logs";
  report.now = kNow;
  report.deleted = 15;
  report.deleted_by = {{"DEBUG", 5}, {"keep", 10}};
  report.kept = {{"future", 1}, {"null", 2}};
  report.oldest = kMonthAgo;
  report.is_met = true;
  report.cost = {30, 15, 4};
  report.chunks = 2;
  report.took = milliseconds(3'240);
  return report;
}

TEST(RetentionReport, IsOneObject) {
  Report report = full_report();
  EXPECT_EQ(
      outcome_of(report, kFile).json,
      R"({"ok":true,"exit":0,"why":"","command":"run","table":"logs","database":"sqlite:app.db",)"
      R"("now":"2026-08-28T06:35:12.345Z","deleted":15,"deleted_by":{"DEBUG":5,"keep":10},)"
      R"("kept":{"future":1,"null":2},"oldest":"2026-07-29T06:35:12.345Z","policy_met":true,)"
      R"("falling_behind":null,"rows_read":30,"rows_written":15,"requests":4,"dollars":0,)"
      R"("chunks":2,"took_ms":3240,"archive":null,"archived":0,"reclaimed_bytes":0,)"
      R"("warnings":[]})"
      "\n");
  report.verdict = {End::kNotMet, "2 rows are too old"};
  report.is_met = false;
  report.oldest.reset();
  report.falling_behind = 1.5;
  report.archive_file = "old/logs-1.ndjson.gz";
  report.archived = 15;
  report.warnings = {"a \"reader\" holds the log"};
  const std::string json = outcome_of(report, kD1).json;
  for (const char* const part :
       {R"({"ok":false,"exit":7,"why":"2 rows are too old",)", R"("oldest":null,)",
        R"("policy_met":false,"falling_behind":1.5,)", R"("archive":"old/logs-1.ndjson.gz",)",
        R"("archived":15,)", R"("warnings":["a \"reader\" holds the log"]})"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  EXPECT_THAT(json, Not(HasSubstr("\"dollars\":0,")));
}

TEST(RetentionReport, TellsPeopleWhatWasDone) {
  Report report = full_report();
  EXPECT_EQ(outcome_of(report, kFile).text,
            "logs in sqlite:app.db: deleted 15 rows (DEBUG 5, keep 10) in 2 chunks and 3.2 s\n"
            "  kept whatever their age: future 1, null 2\n"
            "  oldest row left: 2026-07-29T06:35:12.345Z\n"
            "  policy: met\n");
  report.verdict.end = End::kNotMet;
  report.is_met = false;
  report.oldest.reset();
  report.kept.clear();
  report.falling_behind = 1.5;
  report.archive_file = "old/logs-1.ndjson.gz";
  report.archived = 15;
  report.reclaimed_bytes = 3'145'728;
  report.cost = {2'000'000, 1'000'000, 4};
  EXPECT_EQ(outcome_of(report, kD1).text,
            "logs in d1:///abc: deleted 15 rows (DEBUG 5, keep 10) in 2 chunks and 3.2 s\n"
            "  oldest row left: none whose time is known\n"
            "  policy: not met\n"
            "  falling behind: the table grows 1.5 times as fast as runs delete\n"
            "  cost: 2000000 rows read and 1000000 written, $" +
                decimal_text(report.cost.dollars(), 6) +
                "\n"
                "  archived: 15 rows in old/logs-1.ndjson.gz\n"
                "  space given back: 3.0 MiB\n");
}

TEST(RetentionReport, SaysNothingOfARunThatDidNothing) {
  Report report;
  report.table = "logs";
  report.verdict = {End::kLeaseHeld, "another run is at work"};
  EXPECT_THAT(outcome_of(report, kFile).text, IsEmpty());
  report.verdict.end = End::kStopped;
  report.chunks = 1;
  EXPECT_THAT(outcome_of(report, kFile).text, HasSubstr("deleted 0 rows in 1 chunk and 0.0 s\n"));
}

Plan full_plan() {
  Plan plan;
  plan.table = "logs";
  plan.policy = "keep=30d DEBUG=2d max-rows=100";
  plan.is_own = true;
  plan.now = kNow;
  plan.oldest = kMonthAgo - std::chrono::hours(1);
  plan.newest = kNow;
  plan.rules = {{"keep", "30d", kMonthAgo}, {"DEBUG", "2d", kNow, kMonthAgo, 7}};
  plan.max_rows = 100;
  plan.over_max_rows = 1;
  plan.kept = {{"future", 3}};
  return plan;
}

TEST(RetentionReport, TellsThePlan) {
  Plan plan = full_plan();
  EXPECT_EQ(outcome_of(plan, kFile).verdict.end, End::kDone);
  EXPECT_EQ(outcome_of(plan, kFile).text,
            "logs in sqlite:app.db: a table of Spillway's own; the plan for "
            "2026-08-28T06:35:12.345Z\n"
            "  policy: keep=30d DEBUG=2d max-rows=100\n"
            "  rows: from 2026-07-29T05:35:12.345Z to 2026-08-28T06:35:12.345Z\n"
            "  keep (30d): rows older than 2026-07-29T06:35:12.345Z go, from the oldest on\n"
            "  DEBUG (2d): rows older than 2026-08-28T06:35:12.345Z go, from "
            "2026-07-29T06:35:12.345Z on; now 7 rows\n"
            "  max-rows: the newest 100 rows stay; now 1 row over it\n"
            "  kept whatever their age: future 3\n"
            "  the walk: what has become too old since the last run\n");
  EXPECT_EQ(
      outcome_of(plan, kFile).json,
      R"({"ok":true,"exit":0,"why":"","command":"plan","table":"logs","database":"sqlite:app.db",)"
      R"("now":"2026-08-28T06:35:12.345Z","policy":"keep=30d DEBUG=2d max-rows=100",)"
      R"("own_table":true,"oldest":"2026-07-29T05:35:12.345Z",)"
      R"("newest":"2026-08-28T06:35:12.345Z","full_walk":false,"rules":[{"name":"keep",)"
      R"("keep":"30d","cutoff":"2026-07-29T06:35:12.345Z","from":null,"rows":null},)"
      R"({"name":"DEBUG","keep":"2d","cutoff":"2026-08-28T06:35:12.345Z",)"
      R"("from":"2026-07-29T06:35:12.345Z","rows":7}],"max_rows":100,"over_max_rows":1,)"
      R"("kept":{"future":3},)"
      R"("rows_read":0,"rows_written":0,"requests":0,"dollars":0})"
      "\n");
  plan.refusal = "all 5 rows would go";
  const RetentionOutcome refused = outcome_of(plan, kFile);
  EXPECT_EQ(refused.verdict.end, End::kRefused);
  EXPECT_EQ(refused.verdict.why, "a run would be refused: all 5 rows would go");
  EXPECT_THAT(refused.json, HasSubstr(R"({"ok":false,"exit":4,"why":"a run would be refused:)"));
}

TEST(RetentionReport, TellsWhatCheckFound) {
  Check check;
  check.table = "logs";
  check.is_met = true;
  check.last_met = kNow;
  EXPECT_EQ(outcome_of(check, kFile).verdict.end, End::kDone);
  EXPECT_EQ(outcome_of(check, kFile).text,
            "logs in sqlite:app.db: policy met; last met by the run of 2026-08-28T06:35:12.345Z; "
            "oldest row: none whose time is known\n");
  check = {"logs", false, "no run has met it", {}, kMonthAgo, {}};
  EXPECT_EQ(outcome_of(check, kFile).verdict.end, End::kNotMet);
  EXPECT_EQ(outcome_of(check, kFile).json,
            R"({"ok":false,"exit":7,"why":"no run has met it","command":"check","table":"logs",)"
            R"("database":"sqlite:app.db","policy_met":false,"last_met":null,)"
            R"("oldest":"2026-07-29T06:35:12.345Z","rows_read":0,"rows_written":0,"requests":0,)"
            R"("dollars":0})"
            "\n");
}

TEST(RetentionReport, TellsWhatWasRestored) {
  const RetentionOutcome all = outcome_of(Restored{1, 2, 0}, "x.gz", "", kFile);
  EXPECT_EQ(all.verdict.end, End::kDone);
  EXPECT_EQ(all.text, "sqlite:app.db: put back 1 row of x.gz; 2 were there already\n");
  const RetentionOutcome part = outcome_of(Restored{1, 2, 3}, "x.gz", "logs", kFile);
  EXPECT_EQ(part.verdict.end, End::kError);
  EXPECT_THAT(part.json,
              HasSubstr(R"("command":"restore","table":"logs","database":"sqlite:app.db",)"
                        R"("file":"x.gz","restored":1,"already_there":2,"conflicting":3})"));
}

TEST(RetentionReport, LetsNoNameForgeALine) {
  EXPECT_EQ(retention_place("a\nb", {"sqlite:\x1b[2J.db", false}), "a b in sqlite: [2J.db");
}

TEST(RetentionReport, HasAnObjectForWhatFailedBefore) {
  EXPECT_EQ(failure_json({End::kUsage, "no \"x\""}), R"({"ok":false,"exit":2,"why":"no \"x\""})"
                                                     "\n");
}

TEST(RetentionProgress, TellsWhatIsKnown) {
  Progress progress;
  EXPECT_EQ(progress_text(progress), "0 rows");
  progress.deleted = 5'000;
  progress.elapsed = milliseconds(2'000);
  EXPECT_EQ(progress_text(progress), "5000 rows, 2500 rows/s");
  progress.begin = kMonthAgo;
  progress.end = kNow;
  progress.reached = kMonthAgo;
  EXPECT_EQ(progress_text(progress), "5000 rows, 2500 rows/s, 0 %");
  progress.reached = kMonthAgo + std::chrono::hours(72);
  EXPECT_EQ(progress_text(progress), "5000 rows, 2500 rows/s, 10 %, 18 s left");
  progress.reached = kNow + std::chrono::hours(1);
  EXPECT_EQ(progress_text(progress), "5000 rows, 2500 rows/s, 100 %, 0.0 s left");
  progress.end = kMonthAgo;
  EXPECT_EQ(progress_text(progress), "5000 rows, 2500 rows/s");
}

TEST(AmountText, IsAsShortAsPeopleRead) {
  EXPECT_EQ(length_text(milliseconds(40)), "0.0 s");
  EXPECT_EQ(length_text(milliseconds(9'949)), "9.9 s");
  EXPECT_EQ(length_text(milliseconds(10'400)), "10 s");
  EXPECT_EQ(length_text(std::chrono::seconds(99)), "99 s");
  EXPECT_EQ(length_text(std::chrono::seconds(100)), "2 min");
  EXPECT_EQ(length_text(std::chrono::seconds(3'599)), "1 h 0 min");
  EXPECT_EQ(length_text(std::chrono::minutes(125)), "2 h 5 min");
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(4'096), "4096 bytes");
  EXPECT_EQ(bytes_text(1'572'864), "1.5 MiB");
}

}  // namespace
}  // namespace spillway
