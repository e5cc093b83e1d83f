// SPDX-License-Identifier: MIT
//
// Goal: what waiting can mend is tried again with growing waits and only as long as there is
// patience; nothing that may have been executed is, unless it may be; and all of it is counted.
#include "retention/patient_database.h"

#include <spillway/testing/recording_sleeper.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

Status failure(StatusCode code) { return {code, "no"}; }
Status failure(StatusCode code, Execution execution) {
  return failure(code).with_execution(execution);
}

class PatientDatabaseTest : public ::testing::Test, protected Database {
 protected:
  /// Every attempt takes 10 ms and fails with `answer`, if that is a failure.
  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& /*options*/) override {
    began.push_back(
        std::chrono::duration_cast<milliseconds>(clock.steady_now().time_since_epoch()));
    clock.advance(milliseconds(10));
    if (attempts_left > 0 && --attempts_left == 0) {
      answer = Status();
    }
    const Meta meta{.changes = 3, .rows_read = 20, .rows_written = 7};
    return answer.is_ok() ? Result<std::vector<StatementResult>>(std::vector<StatementResult>(
                                statements.size(), StatementResult{{}, {}, meta}))
                          : answer;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return told; }

  Status call(const ExecuteOptions& options = {}) {
    const std::array<Statement, 2> statements{Statement{"SELECT 1"}, Statement{"SELECT 2"}};
    return patient.execute(statements, options).status();
  }
  /// What the next call does.
  std::size_t attempts_at(Status status, const ExecuteOptions& options = {}) {
    answer = std::move(status);
    began.clear();
    static_cast<void>(call(options));
    return began.size();
  }

  testing::FakeClock clock;
  testing::RecordingSleeper sleeper{clock};
  World world{.clock = clock, .sleeper = sleeper, .random = [] { return 0.5; }};
  DatabaseTraits told{.name = "SQLite"};
  Status answer;
  int attempts_left = 0;  // 0: for ever.
  std::vector<milliseconds> began;
  PatientDatabase patient{*this, world, seconds(30)};
};

TEST_F(PatientDatabaseTest, WaitsUpTo8SecondsAndNoLongerThanItsPatience) {
  answer = failure(StatusCode::kOverload);
  EXPECT_EQ(call().code(), StatusCode::kOverload);
  EXPECT_THAT(sleeper.slept(), ElementsAre(milliseconds(250), milliseconds(500), seconds(1),
                                           seconds(2), seconds(4), seconds(8), seconds(8)));
  EXPECT_EQ(patient.cost().requests, 8);
  EXPECT_EQ(patient.last_took(), milliseconds(10)) << "without the waits";
  attempts_left = 3;
  EXPECT_TRUE(call().is_ok()) << "it is as patient again";
}

TEST_F(PatientDatabaseTest, WaitsAsLongAsItIsAsked) {
  answer = failure(StatusCode::kRateLimited).with_retry_after(seconds(12));
  attempts_left = 3;
  EXPECT_TRUE(call().is_ok());
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(12), seconds(12)));
  EXPECT_EQ(attempts_at(failure(StatusCode::kRateLimited).with_retry_after(seconds(31))), 1U);
  EXPECT_EQ(sleeper.slept().size(), 2U) << "there is no use in beginning to wait";
}

TEST_F(PatientDatabaseTest, RepeatsOnlyWhatWaitingHelpsAndNothingTwiceThatMayNotBe) {
  struct Case {
    StatusCode code;
    Execution execution;
    bool is_repeated;
    bool is_repeated_if_idempotent;
  };
  for (const Case& one : {Case{StatusCode::kOverload, Execution::kNo, true, true},
                          Case{StatusCode::kOverload, Execution::kMaybe, false, true},
                          Case{StatusCode::kRateLimited, Execution::kNo, true, true},
                          Case{StatusCode::kTransient, Execution::kNo, true, true},
                          Case{StatusCode::kTransient, Execution::kMaybe, false, true},
                          Case{StatusCode::kLost, Execution::kMaybe, false, true},
                          Case{StatusCode::kTooBig, Execution::kMaybe, false, false},
                          Case{StatusCode::kConstraint, Execution::kNo, false, false},
                          Case{StatusCode::kQuota, Execution::kNo, false, false},
                          Case{StatusCode::kAuth, Execution::kNo, false, false},
                          Case{StatusCode::kPermanent, Execution::kNo, false, false}}) {
    const Status status = failure(one.code, one.execution);
    ExecuteOptions idempotent;
    idempotent.is_idempotent = true;
    EXPECT_EQ(attempts_at(status) > 1, one.is_repeated) << to_string(one.code);
    EXPECT_EQ(attempts_at(status, idempotent) > 1, one.is_repeated_if_idempotent)
        << to_string(one.code);
  }
}

TEST_F(PatientDatabaseTest, BeginsNoWaitThatEndsAfterTheDeadline) {
  ExecuteOptions options;
  options.deadline = clock.steady_now() + seconds(1);
  EXPECT_EQ(attempts_at(failure(StatusCode::kOverload), options), 3U);
  EXPECT_THAT(sleeper.slept(), ElementsAre(milliseconds(250), milliseconds(500)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(attempts_at(failure(StatusCode::kOverload), {.cancel = stop.get_token()}), 1U);
}

TEST_F(PatientDatabaseTest, SpacesItsCallsByTheRate) {
  told.rate = {.per_second = 2, .burst = 5};
  EXPECT_EQ(attempts_at(Status()), 1U);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(call().is_ok());
  }
  // Five at once; from then on two a second, what each takes included.
  ASSERT_EQ(began.size(), 9U);
  EXPECT_EQ(began[4], milliseconds(40));
  for (std::size_t i = 5; i < began.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(began[i].count()), 500 * (static_cast<double>(i) - 4), 1);
  }
  clock.advance(std::chrono::hours(1));
  const std::size_t slept = sleeper.slept().size();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(call().is_ok());
  }
  EXPECT_EQ(sleeper.slept().size(), slept);
  EXPECT_TRUE(call().is_ok());
  EXPECT_EQ(sleeper.slept().size(), slept + 1) << "it holds five, however long nobody came";
}

TEST_F(PatientDatabaseTest, TellsWhenItIsStoppedBeforeItsTurn) {
  told.rate = {.per_second = 2, .burst = 1};
  EXPECT_EQ(attempts_at(Status()), 1U);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(call({.cancel = stop.get_token()}).code(), StatusCode::kCancelled);
  EXPECT_EQ(began.size(), 1U);
}

TEST_F(PatientDatabaseTest, CountsWhatEachKindOfDatabaseTells) {
  EXPECT_TRUE(call().is_ok());
  EXPECT_EQ(patient.cost().rows_read, 40);
  EXPECT_EQ(patient.cost().rows_written, 6) << "SQLite: changes";
  told.dialect = Dialect::kD1;
  EXPECT_TRUE(call().is_ok());
  EXPECT_EQ(patient.cost().rows_read, 80);
  EXPECT_EQ(patient.cost().rows_written, 6 + 14);
  EXPECT_EQ(patient.cost().requests, 2);
}

}  // namespace
}  // namespace spillway::retention
