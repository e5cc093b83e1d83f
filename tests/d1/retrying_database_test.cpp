// SPDX-License-Identifier: MIT
#include <spillway/retrying_database.h>

#include <spillway/prepared_statement.h>

#include <gmock/gmock.h>

#include "tests/support/retry_fixture.h"
#include "tests/support/scripted_database.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Statements = std::vector<Statement>;

const Statement kRead{"SELECT 1"};
const Statement kWrite{"INSERT INTO r VALUES(1)"};

/// Answers everything, with nothing.
class AnsweringDatabase final : public Database {
 public:
  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions&) override {
    return std::vector<StatementResult>(statements.size());
  }
  [[nodiscard]] DatabaseTraits traits() const override { return d1_traits(); }
};

/// Does as the script says, and remembers the options that it was given.
class FailingDatabase final : public Database {
 public:
  FailingDatabase(std::shared_ptr<DatabaseScript> script, std::vector<ExecuteOptions>& options)
      : inner_(std::move(script), std::make_unique<AnsweringDatabase>()), options_(options) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& options) override {
    options_.push_back(options);
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

 private:
  ScriptedDatabase inner_;
  std::vector<ExecuteOptions>& options_;
};

class RetryingDatabaseTest : public RetryFixture {
 protected:
  RetryingDatabaseTest() { script->keep_statements(); }

  [[nodiscard]] std::unique_ptr<RetryingDatabase> wrapped(
      RetryPolicy policy = RetryPolicy::executor()) {
    return RetryingDatabase::wrap(std::make_unique<FailingDatabase>(script, given),
                                  options(std::move(policy)))
        .value();
  }

  // How often statements that always fail so are tried.
  std::size_t attempts_of(RetryPolicy policy, const Statements& statements, const Status& failure,
                          const ExecuteOptions& execute = {}) {
    const std::size_t before = script->attempts();
    script->set_default(Outcome::refuse(failure));
    const auto outcome = wrapped(std::move(policy))->execute(statements, execute);
    EXPECT_EQ(outcome.status().message(), failure.message());
    return script->attempts() - before;
  }

  std::shared_ptr<DatabaseScript> script = std::make_shared<DatabaseScript>(clock, "");
  std::vector<ExecuteOptions> given;
};

TEST_F(RetryingDatabaseTest, TriesAPermanentErrorOnce) {
  const Status permanent(StatusCode::kPermanent, "near \"x\": syntax error");
  EXPECT_EQ(attempts_of(RetryPolicy::executor(), {kRead}, permanent), 1U);
  EXPECT_EQ(attempts_of(RetryPolicy::panel(), {kRead}, permanent), 1U);
}

TEST_F(RetryingDatabaseTest, TriesAWriteThatMayHaveBeenExecutedOnce) {
  EXPECT_EQ(attempts_of(RetryPolicy::executor(), {kWrite}, internal_error()), 1U);
  EXPECT_EQ(attempts_of(RetryPolicy::panel(), {kWrite}, internal_error()), 1U);
}

TEST_F(RetryingDatabaseTest, TriesAWriteThatWasNotExecutedAgainIfThePolicySaysSo) {
  EXPECT_EQ(attempts_of(RetryPolicy::executor(), {kWrite}, too_many_requests()), 5U);
  EXPECT_EQ(attempts_of(RetryPolicy::panel(), {kWrite}, too_many_requests()), 1U);
}

TEST_F(RetryingDatabaseTest, TriesAReadAgain) {
  for (const RetryPolicy& policy : {RetryPolicy::executor(), RetryPolicy::panel()}) {
    EXPECT_EQ(attempts_of(policy, {kRead}, internal_error()), 5U);
    EXPECT_EQ(attempts_of(policy, {kRead}, too_many_requests()), 5U);
  }
}

TEST_F(RetryingDatabaseTest, TriesABatchAgainOnlyIfAllOfItReads) {
  const RetryPolicy executor = RetryPolicy::executor();
  EXPECT_EQ(attempts_of(executor, {kRead, kRead}, internal_error()), 5U);
  EXPECT_EQ(attempts_of(executor, {kRead, kWrite}, internal_error()), 1U);
  EXPECT_EQ(attempts_of(executor, {kWrite, kRead}, internal_error()), 1U);
  EXPECT_EQ(attempts_of(executor, {kRead, kWrite}, too_many_requests()), 5U);
}

TEST_F(RetryingDatabaseTest, TriesAgainWhatTheCallerCallsIdempotent) {
  const ExecuteOptions idempotent{.is_idempotent = true};
  EXPECT_EQ(attempts_of(RetryPolicy::panel(), {kRead, kWrite}, internal_error(), idempotent), 5U);
  EXPECT_FALSE(events.front().is_read_only);
}

TEST_F(RetryingDatabaseTest, ReturnsTheLateAnswer) {
  script->add({Outcome::refuse(internal_error()), Outcome::refuse(too_many_requests())});
  const auto db = wrapped();
  EXPECT_TRUE(db->prepare("SELECT 1").all());
  EXPECT_THAT(slept(), ElementsAre(200, 400));
  EXPECT_EQ(db->last_report().attempts, 3);
  EXPECT_EQ(db->last_report().elapsed, milliseconds(600));
}

TEST_F(RetryingDatabaseTest, HasAnEmptyReportBeforeTheFirstCall) {
  const auto db = wrapped();
  EXPECT_EQ(db->last_report().attempts, 0);
  EXPECT_EQ(db->last_report().elapsed, milliseconds(0));
  EXPECT_EQ(db->last_report().end, RetryEnd::kSucceeded);
}

TEST_F(RetryingDatabaseTest, NamesItsOperationsToTheObserver) {
  const auto db = wrapped();
  const auto fail_once = [&](Statements statements) {
    script->add({Outcome::refuse(too_many_requests())});
    EXPECT_TRUE(db->execute(statements, {}));
    return events.back();
  };
  const RetryEvent read = fail_once({{"WITH a AS (SELECT 1) SELECT * FROM a"}});
  EXPECT_EQ(read.operation, "SELECT");
  EXPECT_TRUE(read.is_read_only);
  EXPECT_EQ(read.failure_class, StatusCode::kOverload);
  EXPECT_EQ(read.attempts_max, 5);
  const RetryEvent write = fail_once({kWrite});
  EXPECT_EQ(write.operation, "INSERT");
  EXPECT_FALSE(write.is_read_only);
  EXPECT_EQ(fail_once({kRead, kRead}).operation, "batch of 2");
  EXPECT_EQ(fail_once({{"(nonsense"}}).operation, "statement");
  EXPECT_EQ(fail_once({{"tenletters"}}).operation, "TENLETTERS");
  EXPECT_EQ(fail_once({{"secretsecre"}}).operation, "statement") << "too long for a verb";
  EXPECT_EQ(fail_once({{"SELECT 1; SELECT 2"}}).operation, "statement");
}

TEST_F(RetryingDatabaseTest, GivesTheWrappedDatabaseTheSameEachTime) {
  std::stop_source source;
  const ExecuteOptions execute{.deadline = clock.steady_now() + seconds(9),
                               .cancel = source.get_token(),
                               .bookmark = "b",
                               .lock_wait = milliseconds(7)};
  script->add({Outcome::refuse(internal_error())});
  EXPECT_TRUE(wrapped()->execute(Statements{{"SELECT ?", {{std::int64_t{42}}}}}, execute));
  ASSERT_EQ(given.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(given[i].deadline, execute.deadline);
    EXPECT_EQ(given[i].cancel, execute.cancel);
    EXPECT_EQ(given[i].bookmark, "b");
    EXPECT_EQ(given[i].lock_wait, milliseconds(7));
    const ScriptedCall call = script->calls().at(i);
    EXPECT_EQ(call.statements.at(0).sql, "SELECT ?");
    EXPECT_EQ(call.statements.at(0).rows, (std::vector<Row>{{std::int64_t{42}}}));
  }
}

TEST_F(RetryingDatabaseTest, KeepsToTheDeadlineAndStopsWhenCancelled) {
  script->set_default(Outcome::refuse(internal_error()));
  const auto db = wrapped();
  EXPECT_FALSE(db->prepare("SELECT 1").all({.deadline = clock.steady_now() + milliseconds(300)}));
  EXPECT_THAT(slept(), ElementsAre(200));
  EXPECT_EQ(db->last_report().end, RetryEnd::kOutOfTime);
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(db->prepare("SELECT 1").all({.cancel = source.get_token()}));
  EXPECT_EQ(db->last_report().end, RetryEnd::kCancelled);
  EXPECT_EQ(db->last_report().attempts, 1);
}

TEST_F(RetryingDatabaseTest, RunsABatchThatEitherDatabasePrepared) {
  FailingDatabase inner(script, given);
  script->add({Outcome::refuse(internal_error())});
  const auto db = wrapped();
  const auto sets = db->batch({db->prepare("SELECT 1"), inner.prepare("SELECT 2")});
  ASSERT_TRUE(sets);
  EXPECT_EQ(sets->size(), 2U);
  EXPECT_EQ(script->calls().at(1).statements.at(1).sql, "SELECT 2");
}

TEST_F(RetryingDatabaseTest, RetriesInEveryFormOfCall) {
  const auto db = wrapped();
  const auto fails_once = [&] {
    script->add({Outcome::refuse(internal_error())});
    return script->attempts() + 2;
  };
  const auto session = db->with_session();
  const auto read = db->prepare("SELECT 1");
  std::size_t expected = fails_once();
  EXPECT_TRUE(read.first());
  EXPECT_EQ(script->attempts(), expected);
  expected = fails_once();
  EXPECT_TRUE(read.raw());
  EXPECT_EQ(script->attempts(), expected);
  expected = fails_once();
  EXPECT_TRUE(read.run());
  EXPECT_EQ(script->attempts(), expected);
  expected = fails_once();
  EXPECT_TRUE(db->exec("SELECT 1; SELECT 2"));
  EXPECT_EQ(script->attempts(), expected);
  expected = fails_once();
  EXPECT_TRUE(session.prepare("SELECT 1").all());
  EXPECT_EQ(script->attempts(), expected);
}

TEST_F(RetryingDatabaseTest, WaitsSixSecondsInAScopeHoweverManyCallsFail) {
  script->set_default(Outcome::refuse(internal_error()));
  const auto db = wrapped(RetryPolicy::panel());
  const RetryScope scope;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(db->prepare("SELECT 1").all());
  }
  EXPECT_LE(slept_in_all(), 6000);
  EXPECT_GE(slept_in_all(), 5300);
}

TEST_F(RetryingDatabaseTest, SaysThatItRetriesAndElseWhatTheWrappedOneSays) {
  const DatabaseTraits traits = wrapped(RetryPolicy::none())->traits();
  EXPECT_TRUE(traits.does_retry);
  EXPECT_EQ(traits.name, "D1");
  EXPECT_EQ(traits.dialect, Dialect::kD1);
  EXPECT_EQ(traits.rate.burst, 5);
}

TEST_F(RetryingDatabaseTest, RefusesToBeWrappedAgain) {
  const auto again = RetryingDatabase::wrap(wrapped());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(again.error().message(), HasSubstr("once"));
}

TEST_F(RetryingDatabaseTest, RefusesWhatItCannotUse) {
  const Status nothing = RetryingDatabase::wrap(nullptr).status();
  EXPECT_EQ(nothing.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(nothing.message(), HasSubstr("no database"));
  RetryOptions all = options();
  all.predicate = [](const Status&) { return true; };
  const auto refused =
      RetryingDatabase::wrap(std::make_unique<FailingDatabase>(script, given), std::move(all));
  EXPECT_THAT(refused.status().message(), HasSubstr("predicate"));
}

class ThrowingDatabase final : public Database {
 public:
  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    throw std::runtime_error("somebody else's");
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {}; }
};

TEST_F(RetryingDatabaseTest, MakesAStatusOfAnException) {
  const auto db = *RetryingDatabase::wrap(std::make_unique<ThrowingDatabase>(), options());
  const auto outcome = db->execute(Statements{kRead}, {});
  EXPECT_EQ(outcome.status().code(), StatusCode::kInternal);
  EXPECT_EQ(outcome.status().execution(), Execution::kMaybe);
  EXPECT_THAT(slept(), IsEmpty());
  EXPECT_EQ(db->last_report().attempts, 0);
  EXPECT_EQ(db->last_report().end, RetryEnd::kThrew);
}

class DatabaseWithoutTraits final : public Database {
 public:
  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    return std::vector<StatementResult>();
  }
  [[nodiscard]] DatabaseTraits traits() const override { throw std::runtime_error("no traits"); }
};

TEST_F(RetryingDatabaseTest, MakesAStatusOfAnExceptionWhileWrapping) {
  const auto db = RetryingDatabase::wrap(std::make_unique<DatabaseWithoutTraits>(), options());
  EXPECT_EQ(db.status().code(), StatusCode::kInternal);
  EXPECT_EQ(db.status().execution(), Execution::kNo);
}

}  // namespace
}  // namespace spillway::testing
