// SPDX-License-Identifier: MIT
//
// Goal: on each kind of database a plan says what a run would do, reads next to nothing unless it
// is asked to count, and writes nothing; a check tells from what runs left behind whether the
// policy is met. Method: the plan gets a connection that cannot write, and where it counted, a run
// afterwards deletes just that.
#include "retention/plan.h"

#include "retention/state.h"
#include "tests/retention/run_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace spillway::retention {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class PlanContract : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    if (source != nullptr) {
      reader = source->open(testing::Access::kReadOnly);
    }
  }
  Result<Plan> plan_of(const RunOptions& options, bool is_exact = false) {
    return plan(*reader, options, is_exact, options.now.value_or(now), {});
  }
  std::string refusal_of(const RunOptions& options, bool is_exact = false) {
    return plan_of(options, is_exact).value().refusal.value_or("");
  }
  void save(const State& state) {
    make_log_table();
    ASSERT_TRUE(status_of({save_statement("\"logs_meta\"", state)}).is_ok());
  }
  static Policy levels() {
    Policy policy = keep(30);
    policy.levels = {{"DEBUG", hours(48)}};
    return policy;
  }

  std::unique_ptr<Database> reader;
};

TEST_P(PlanContract, SaysRangeAgeAndPolicyForNextToNothing) {
  make_log_table();
  add_minutes(5'000, days_ago(31));
  add_minutes(5'000, days_ago(1));
  add(now + hours(1));
  const Plan plan = plan_of({.policy = levels()}).value();
  EXPECT_TRUE(plan.is_own);
  EXPECT_EQ(plan.policy, "keep=30d DEBUG=2d");
  // add_minutes cuts milliseconds off.
  EXPECT_EQ(plan.newest, std::chrono::floor<std::chrono::seconds>(days_ago(1)));
  EXPECT_EQ(plan.oldest, std::chrono::floor<std::chrono::seconds>(days_ago(31)) - minutes(4'999));
  ASSERT_EQ(plan.rules.size(), 2U);
  EXPECT_EQ(plan.rules[0].name, "keep");
  EXPECT_EQ(plan.rules[0].keep, "30d");
  EXPECT_EQ(plan.rules[0].cutoff, days_ago(30));
  EXPECT_EQ(plan.rules[0].from, std::nullopt);
  EXPECT_EQ(plan.rules[0].rows, std::nullopt);
  EXPECT_EQ(plan.rules[1].name, "DEBUG");
  EXPECT_EQ(plan.rules[1].cutoff, days_ago(2));
  EXPECT_TRUE(plan.is_full_walk);
  EXPECT_EQ(plan.refusal, std::nullopt);
  EXPECT_GE(plan.cost.requests, 3);
  EXPECT_LT(plan.cost.rows_read, 60);
  EXPECT_EQ(plan.cost.rows_written, 0);
  EXPECT_EQ(count(), 10'001);
}

TEST_P(PlanContract, CountsWhatARunThenDeletes) {
  make_log_table();
  for (const char* const level : {"DEBUG", "INFO"}) {
    add_rows(3, days_ago(31), level);
    add_rows(4, days_ago(3), level);
    add_rows(5, now - hours(1), level);
  }
  add_text("");
  add_text("soon");
  add_text("2020-01-01 00:00:00");
  add(now + hours(1));
  RunOptions options{.policy = levels()};
  options.policy.max_rows = 12;
  const Plan plan = plan_of(options, true).value();
  std::map<std::string, std::int64_t> planned;
  for (const PlannedRule& rule : plan.rules) {
    planned[rule.name] = rule.rows.value_or(-1);
  }
  EXPECT_THAT(planned, UnorderedElementsAre(Pair("keep", 3), Pair("DEBUG", 7)));
  EXPECT_EQ(plan.over_max_rows, 6);
  EXPECT_THAT(plan.kept,
              UnorderedElementsAre(Pair("empty", 1), Pair("future", 1), Pair("unreadable", 2)));
  EXPECT_EQ(plan.refusal, std::nullopt);

  options.policy.max_rows.reset();
  EXPECT_EQ(run_with(options).deleted_by, planned);
  for (const PlannedRule& rule : plan_of(options, true).value().rules) {
    EXPECT_EQ(rule.rows, 0) << rule.name;
  }
}

TEST_P(PlanContract, BeginsWhereTheLastRunEnded) {
  const WallTime yesterday = days_ago(1);
  State state{.policy = to_string(levels()), .at = yesterday, .newest = yesterday};
  state.watermarks = {{"keep", days_ago(31)}, {"DEBUG", days_ago(3)}};
  state.full_walk = days_ago(3);
  save(state);
  add_rows(2, days_ago(31) - minutes(1));
  add_rows(3, days_ago(31) + minutes(1));
  add_rows(4, days_ago(3) + minutes(1), "DEBUG");
  add_rows(5, now - minutes(1));
  // Two rows have come in behind all marks.
  EXPECT_TRUE(plan_of({.policy = levels()}).value().is_full_walk);

  ASSERT_TRUE(
      status_of({{"DELETE FROM logs WHERE created_at < ?", {{time_text(days_ago(31))}}}}).is_ok());
  const Plan next = plan_of({.policy = levels()}, true).value();
  EXPECT_FALSE(next.is_full_walk);
  EXPECT_EQ(next.rules[0].from, days_ago(31));
  EXPECT_EQ(next.rules[0].rows, 3);
  EXPECT_EQ(next.rules[1].from, days_ago(3));
  EXPECT_EQ(next.rules[1].rows, 4);
  EXPECT_TRUE(plan_of({.policy = keep(30)}).value().is_full_walk);
}

TEST_P(PlanContract, LooksAtATableThatOthersMade) {
  ASSERT_TRUE(status_of({{"CREATE TABLE logs(id INTEGER PRIMARY KEY, created_at, level TEXT, "
                          "message TEXT)"},
                         {"INSERT INTO logs(created_at, level) VALUES ('2024-01-02 03:04:05', 'A'),"
                          " ('2024-01-02T03:04:06+01:00', 'B'), (1704164647, 'A'), (NULL, 'A'), "
                          "('soon', 'A')"},
                         {"INSERT INTO logs(created_at, level) VALUES (?, 'A')",
                          {{time_text(days_ago(1))}}}})
                  .is_ok());
  const Plan plan = plan_of({.policy = keep(30)}, true).value();
  EXPECT_FALSE(plan.is_own);
  EXPECT_EQ(plan.oldest, parse_time_text("2024-01-02T02:04:06.000Z"));
  EXPECT_EQ(plan.newest, days_ago(1));
  EXPECT_EQ(plan.rules.at(0).rows, 3);
  EXPECT_THAT(plan.kept, UnorderedElementsAre(Pair("null", 1), Pair("unreadable", 1)));
  EXPECT_EQ(plan.refusal, std::nullopt);

  RunOptions named{.policy = keep(30)};
  named.choice.time_column = "created_at";
  EXPECT_THAT(refusal_of(named), HasSubstr("--allow-delete"));
  named.allow_delete = 10;
  EXPECT_THAT(refusal_of(named), IsEmpty());
  ASSERT_TRUE(status_of({{"INSERT INTO logs(created_at) VALUES (5)"}}).is_ok());
  EXPECT_THAT(refusal_of(named), HasSubstr("neither seconds nor milliseconds"));

  ASSERT_TRUE(status_of({{"ALTER TABLE logs DROP COLUMN level"}}).is_ok());
  named.policy = levels();
  EXPECT_EQ(plan_of(named).status().code(), StatusCode::kInvalidArgument);
  named.choice.table = "log";
  EXPECT_EQ(plan_of(named).status().code(), StatusCode::kSchema);
}

TEST_P(PlanContract, SaysWhatAGuardWould) {
  make_log_table();
  add_rows(1'990, days_ago(40));
  EXPECT_THAT(refusal_of({.policy = keep(30)}),
              AllOf(HasSubstr("the newest row is of " + time_text(days_ago(40))),
                    HasSubstr("--allow-delete N")));
  EXPECT_THAT(refusal_of({.policy = keep(30), .allow_delete = 1'000}), IsEmpty());
  EXPECT_THAT(refusal_of({.policy = keep(30), .allow_delete = 1'000}, true),
              AllOf(HasSubstr("1990 rows would go"), HasSubstr("lets 1000 go")));
  EXPECT_THAT(refusal_of({.policy = keep(30), .allow_delete = 1'990}, true), IsEmpty());

  add_rows(10, days_ago(1));
  EXPECT_THAT(refusal_of({.policy = keep(30)}), IsEmpty());  // Nobody has counted.
  EXPECT_THAT(refusal_of({.policy = keep(30)}, true),
              AllOf(HasSubstr("90 %"), HasSubstr("--allow-delete 1990")));

  EXPECT_THAT(refusal_of({.policy = keep(30), .now = now + hours(24 * 40)}),
              HasSubstr("the newest row is of " + time_text(days_ago(1))));
  now += hours(24 * 400);
  EXPECT_THAT(refusal_of({.policy = keep(30)}), HasSubstr("clock"));
}

TEST_P(PlanContract, ChecksWhatRunsLeftBehind) {
  const std::string policy = to_string(keep(30));
  struct Case {
    State state;
    std::string why;
  };
  make_log_table();
  add(days_ago(29));
  add_rows(500, now);
  const RunOptions options{.policy = keep(30)};
  const Check first = check(*reader, options, now, {}).value();
  EXPECT_FALSE(first.is_met);
  EXPECT_THAT(first.why, HasSubstr("no run has been here yet"));
  EXPECT_EQ(first.oldest, days_ago(29));
  for (const Case& each :
       {Case{{.policy = policy, .at = now, .met = now - kCheckGrace}, ""},
        Case{{.policy = policy, .at = now, .met = now - kCheckGrace - milliseconds(1)},
             time_text(now - kCheckGrace - milliseconds(1)) + ", 48 hours ago"},
        Case{{.policy = policy, .at = now}, "no run has met this policy yet"},
        Case{{.policy = policy, .at = now, .met = now + hours(1)}, "clock"},
        Case{{.policy = "keep=3d", .at = now, .met = now}, "another policy: \"keep=3d\""}}) {
    save(each.state);
    const Check found = check(*reader, options, now, {}).value();
    EXPECT_EQ(found.is_met, each.why.empty()) << found.why;
    EXPECT_THAT(found.why, HasSubstr(each.why));
    EXPECT_EQ(found.last_met, each.state.met);
    EXPECT_LE(found.cost.rows_read, 5);
    EXPECT_EQ(found.cost.rows_written, 0);
  }
  ASSERT_TRUE(
      status_of({{"UPDATE logs_meta SET value = '{' WHERE key = 'retention_state'"}}).is_ok());
  EXPECT_THAT(check(*reader, options, now, {}).value().why, HasSubstr("cannot be read"));
}

// A run that carries another policy out, and does not come to its end, has met neither.
TEST_P(PlanContract, ChecksThatThisVeryPolicyWasMet) {
  make_log_table();
  add_rows(100, days_ago(40));
  add_rows(100, now);
  ASSERT_EQ(run_with({.policy = keep(50)}).verdict.end, End::kDone);
  ASSERT_TRUE(check(*reader, {.policy = keep(50)}, now + hours(1), {}).value().is_met);
  ASSERT_EQ(run_with({.policy = keep(30), .chunk = 10, .max_written = 15}).verdict.end,
            End::kStopped);
  const Check stopped = check(*reader, {.policy = keep(30)}, now + hours(1), {}).value();
  EXPECT_FALSE(stopped.is_met);
  EXPECT_THAT(stopped.why, HasSubstr("no run has met this policy yet"));
  ASSERT_EQ(run_with({.policy = keep(30)}).verdict.end, End::kDone);
  EXPECT_TRUE(check(*reader, {.policy = keep(30)}, now + hours(1), {}).value().is_met);
}

INSTANTIATE_TEST_SUITE_P(Databases, PlanContract, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway::retention
