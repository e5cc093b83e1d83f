// SPDX-License-Identifier: MIT
#include <spillway/retry.h>

#include <gmock/gmock.h>

#include "tests/support/retry_fixture.h"

#include <chrono>
#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

namespace spillway::testing {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Status with_retry_after(StatusCode code, milliseconds delay) {
  return Status(code, "wait").with_retry_after(delay);
}

class Retry : public RetryFixture {
 protected:
  [[nodiscard]] RetryOptions reading(RetryPolicy policy = RetryPolicy::executor()) {
    RetryOptions all = options(std::move(policy));
    all.is_read_only = true;
    return all;
  }

  // Runs an operation that fails as told, and succeeds after that.
  Status run(const RetryOptions& all, std::deque<Status> failures) {
    calls = 0;
    return retry(
        [&] {
          ++calls;
          Status next;
          if (!failures.empty()) {
            next = failures.front();
            failures.pop_front();
          }
          return next;
        },
        all, &report);
  }
  // Runs one that always fails so.
  Status run_failing(const RetryOptions& all, const Status& failure) {
    return run(all, std::deque<Status>(100, failure));
  }

  int calls = 0;
  RetryReport report;
};

TEST_F(Retry, ReturnsASuccessAtOnce) {
  EXPECT_TRUE(run(options(), {}).is_ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(report.attempts, 1);
  EXPECT_EQ(report.end, RetryEnd::kSucceeded);
  EXPECT_THAT(slept(), IsEmpty());
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(Retry, WaitsAsThePolicySaysAndReturnsTheLateSuccess) {
  EXPECT_TRUE(run(reading(), {internal_error(), internal_error(), too_many_requests()}).is_ok());
  EXPECT_THAT(slept(), ElementsAre(200, 400, 800));
  EXPECT_EQ(report.attempts, 4);
  EXPECT_EQ(report.elapsed, milliseconds(1400));
  EXPECT_EQ(report.end, RetryEnd::kSucceeded);
}

TEST_F(Retry, ReturnsTheOriginalErrorWhenAllAttemptsFailed) {
  const Status failure = internal_error().with_http_status(500).with_d1_code(7500);
  const Status status = run_failing(reading(), failure);
  EXPECT_EQ(status.to_string(), failure.to_string());
  EXPECT_EQ(status.d1_code(), 7500);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(report.attempts, 5);
  EXPECT_EQ(report.elapsed, seconds(3));
  EXPECT_EQ(report.end, RetryEnd::kAttemptsUsed);
}

TEST_F(Retry, TakesOperationsThatReturnAValue) {
  int count = 0;
  const auto operation = [&]() -> Result<std::unique_ptr<int>> {
    if (++count < 3) {
      return internal_error();
    }
    return std::make_unique<int>(count);
  };
  EXPECT_EQ(*retry(operation, reading()).value(), 3);
  const auto failed = retry([]() -> Result<int> { return internal_error(); }, reading());
  EXPECT_EQ(failed.error().message(), internal_error().message());
}

TEST_F(Retry, TriesOnceWhatCannotPass) {
  for (const StatusCode code :
       {StatusCode::kTooBig, StatusCode::kConstraint, StatusCode::kSchema, StatusCode::kStorageFull,
        StatusCode::kAuth, StatusCode::kConfig, StatusCode::kPermanent, StatusCode::kQuota,
        StatusCode::kInvalidArgument, StatusCode::kCancelled, StatusCode::kInternal}) {
    const Status status = run_failing(reading(), Status(code, "no"));
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(calls, 1) << to_string(code);
    EXPECT_EQ(report.end, RetryEnd::kRefused) << to_string(code);
  }
  EXPECT_THAT(slept(), IsEmpty());
}

TEST_F(Retry, RepeatsAWriteOnlyWhenNothingWasExecuted) {
  const struct {
    RetryPolicy policy;
    Status failure;
    int calls;
  } cases[] = {
      {RetryPolicy::executor(), too_many_requests(), 5},
      {RetryPolicy::executor(), too_many_requests().with_execution(Execution::kMaybe), 1},
      {RetryPolicy::executor(), internal_error(), 1},
      {RetryPolicy::executor(), internal_error().with_execution(Execution::kNo), 5},
      {RetryPolicy::panel(), too_many_requests(), 1},
      {RetryPolicy::session_read(), too_many_requests(), 1},
      {RetryPolicy::none(), too_many_requests(), 1},
  };
  for (const auto& each : cases) {
    EXPECT_FALSE(run_failing(options(each.policy), each.failure).is_ok());
    EXPECT_EQ(calls, each.calls) << each.failure.to_string();
  }
}

TEST_F(Retry, RepeatsWhatReadsAndWhatIsIdempotentAfterAnyFailureThatPasses) {
  RetryOptions idempotent = options(RetryPolicy::panel());
  idempotent.is_idempotent = true;
  for (const RetryOptions& all : {reading(RetryPolicy::panel()), idempotent}) {
    for (const Status& failure : {too_many_requests(), internal_error()}) {
      EXPECT_TRUE(run(all, {failure, failure}).is_ok());
      EXPECT_EQ(calls, 3);
    }
  }
}

// A first attempt that may have been executed must not be hidden by a second one that was not.
TEST_F(Retry, SaysMaybeExecutedWhenAnyAttemptMayHaveBeen) {
  RetryOptions all = options();
  all.is_idempotent = true;
  const Status permanent(StatusCode::kPermanent, "no");
  const Status status = run(all, {internal_error(), permanent});
  EXPECT_EQ(status.code(), StatusCode::kPermanent);
  EXPECT_EQ(status.execution(), Execution::kMaybe);
  EXPECT_EQ(run(all, {too_many_requests(), permanent}).execution(), Execution::kNo);
}

TEST_F(Retry, WaitsAsLongAsItIsAskedTo) {
  EXPECT_TRUE(run(reading(), {with_retry_after(StatusCode::kRateLimited, seconds(2))}).is_ok());
  EXPECT_TRUE(run(reading(), {with_retry_after(StatusCode::kOverload, milliseconds(1))}).is_ok());
  EXPECT_TRUE(run(reading(), {with_retry_after(StatusCode::kOverload, milliseconds(-5))}).is_ok());
  EXPECT_THAT(slept(), ElementsAre(2000, 200, 200));
}

TEST_F(Retry, ReturnsAtOnceWhenItIsAskedToWaitForTooLong) {
  EXPECT_TRUE(run(reading(), {with_retry_after(StatusCode::kOverload, seconds(6))}).is_ok());
  for (const milliseconds delay :
       {milliseconds(6001), milliseconds(hours(1)), milliseconds::max()}) {
    EXPECT_FALSE(run(reading(), {with_retry_after(StatusCode::kOverload, delay)}).is_ok());
    EXPECT_EQ(report.end, RetryEnd::kOutOfTime);
  }
  EXPECT_THAT(slept(), ElementsAre(6000));
}

TEST_F(Retry, WaitsForARateLimitOrALongExportOnlyIfToldHowLong) {
  const Status lasting = Status(StatusCode::kTransient, "export").with_lasting();
  EXPECT_FALSE(run(reading(), {Status(StatusCode::kRateLimited, "971")}).is_ok());
  EXPECT_FALSE(run(reading(), {lasting}).is_ok());
  EXPECT_THAT(slept(), IsEmpty());
  EXPECT_TRUE(run(reading(), {lasting.with_retry_after(seconds(1))}).is_ok());
  EXPECT_THAT(slept(), ElementsAre(1000));
}

TEST_F(Retry, AloneWaitsSixSecondsAtMost) {
  RetryPolicy panel = RetryPolicy::panel();
  panel.attempts_max = 100;
  EXPECT_FALSE(run_failing(reading(panel), internal_error()).is_ok());
  EXPECT_THAT(slept(), ElementsAre(200, 600, 1500, 3000));
  EXPECT_EQ(report.end, RetryEnd::kOutOfTime);
  EXPECT_FALSE(run_failing(reading(panel), internal_error()).is_ok());  // A window of its own.
  EXPECT_EQ(slept().size(), 8U);
}

TEST_F(Retry, InAScopeThreeOperationsWaitSixSecondsTogether) {
  const RetryScope scope;
  clock.advance(hours(1));  // The window is not open yet.
  EXPECT_FALSE(run(reading(), {Status(StatusCode::kAuth, "no")}).is_ok());
  clock.advance(hours(1));  // Only what may be tried again opens it.
  const SteadyTime began = clock.steady_now();
  EXPECT_FALSE(run_failing(reading(RetryPolicy::panel()), internal_error()).is_ok());
  EXPECT_FALSE(run_failing(reading(RetryPolicy::panel()), internal_error()).is_ok());
  EXPECT_FALSE(run_failing(reading(RetryPolicy::panel()), internal_error()).is_ok());
  EXPECT_THAT(slept(), ElementsAre(200, 600, 1500, 3000, 200, 200));
  EXPECT_LE(slept_in_all(), 6000);
  EXPECT_LE(clock.steady_now() - began, seconds(6));
}

TEST_F(Retry, InAScopeOfItsOwnMayTakeLonger) {
  const RetryScope scope(seconds(60));
  RetryPolicy policy = RetryPolicy::panel();
  policy.attempts_max = 10;
  EXPECT_FALSE(run_failing(reading(policy), internal_error()).is_ok());
  EXPECT_EQ(calls, 10);
}

TEST_F(Retry, WithinARetryHasNoTimeOfItsOwn) {
  const auto inner = [&] { return run_failing(reading(RetryPolicy::panel()), internal_error()); };
  EXPECT_FALSE(retry(inner, reading(RetryPolicy::panel())).is_ok());
  EXPECT_LE(slept_in_all(), 6000);
}

// A worker's whole round may stand in one retry: a read in it that fails once an hour is ridden out
// each time.
TEST_F(Retry, KeepsItsWindowClosedWhileWhatFailsWithinItPasses) {
  int passed = 0;
  const auto work = [&] {
    for (int round = 0; round < 20; ++round) {
      passed += run(reading(), {internal_error(), internal_error()}).is_ok() ? 1 : 0;
      clock.advance(hours(1));
    }
    return Status();
  };
  EXPECT_TRUE(retry(work, reading()).is_ok());
  EXPECT_EQ(passed, 20);
}

TEST_F(Retry, KeepsAScopesWindowWhateverPassesWithinIt) {
  const RetryScope scope;
  EXPECT_TRUE(run(reading(), {internal_error()}).is_ok());
  clock.advance(seconds(7));
  EXPECT_FALSE(run(reading(), {internal_error()}).is_ok());
}

TEST_F(Retry, SleepsNeitherPastNorUpToTheDeadline) {
  RetryOptions all = reading();
  all.deadline = clock.steady_now() + milliseconds(200);
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(report.end, RetryEnd::kOutOfTime);
  for (const microseconds longer : {microseconds(201'000), microseconds(200'001)}) {
    all.deadline = clock.steady_now() + longer;
    EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
    EXPECT_EQ(calls, 2);
  }
  EXPECT_THAT(slept(), ElementsAre(200, 200));
}

// Attempts of 0.7 s with waits of 1 s: the second one ends at 2.4 s unless it looks at the time.
TEST_F(Retry, CountsTheTimeOfAttemptsAgainstTheDeadline) {
  RetryOptions all = reading({.delays = {seconds(1)}, .jitter_min = 1, .jitter_max = 1});
  all.deadline = clock.steady_now() + seconds(2);
  const Status status = retry(
      [&] {
        clock.advance(std::min(milliseconds(700), std::chrono::floor<milliseconds>(
                                                      *all.deadline - clock.steady_now())));
        return internal_error();
      },
      all, &report);
  EXPECT_EQ(status.code(), StatusCode::kLost);
  EXPECT_EQ(report.attempts, 2);
  EXPECT_EQ(report.elapsed, seconds(2));
}

TEST_F(Retry, MakesOneAttemptWhenTheDeadlineHasPassed) {
  RetryOptions all = reading();
  clock.advance(hours(1));
  for (const SteadyTime deadline :
       {clock.steady_now(), clock.steady_now() - hours(1), SteadyTime::min()}) {
    all.deadline = deadline;
    EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
    EXPECT_EQ(calls, 1);
  }
  all.deadline = SteadyTime::max();
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 5);
}

class ClockThatMovesByItself final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const noexcept override { return {}; }
  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return SteadyTime(microseconds(1'900 * ++calls_));
  }

 private:
  mutable int calls_ = 0;
};

TEST_F(Retry, ReportsNoMoreTimeThanHasPassed) {
  const ClockThatMovesByItself moving;
  RetryOptions all = options();
  all.clock = &moving;
  EXPECT_TRUE(run(all, {}).is_ok());
  EXPECT_EQ(report.elapsed, milliseconds(1));
}

TEST_F(Retry, StopsWhenItIsCancelled) {
  std::stop_source source;
  RetryOptions all = reading();
  all.cancel = source.get_token();
  const Status status = retry(
      [&] {
        source.request_stop();
        return internal_error();
      },
      all, &report);
  EXPECT_EQ(status.message(), internal_error().message());
  EXPECT_EQ(report.end, RetryEnd::kCancelled);
  EXPECT_EQ(report.attempts, 1);
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(Retry, TellsAnAttemptThatWasCutShortFromOneThatWasRefused) {
  const Status cut(StatusCode::kCancelled, "cancelled");
  std::stop_source source;
  RetryOptions all = reading();
  all.deadline = clock.steady_now() + hours(1);
  all.cancel = source.get_token();
  EXPECT_FALSE(run_failing(all, cut).is_ok());
  EXPECT_EQ(report.end, RetryEnd::kOutOfTime);
  EXPECT_FALSE(run_failing(all, Status(StatusCode::kConstraint, "no")).is_ok());
  EXPECT_EQ(report.end, RetryEnd::kRefused);
  source.request_stop();
  EXPECT_FALSE(run_failing(all, cut).is_ok());
  EXPECT_EQ(report.end, RetryEnd::kCancelled);
}

TEST_F(Retry, KeepsTheFailureThatAnAttemptCutShortCameAfter) {
  const Status cut(StatusCode::kCancelled, "deadline passed before the attempt");
  const Status status = run(reading(), {internal_error(), cut});
  EXPECT_EQ(status.message(), cut.message());
  ASSERT_NE(status.cause(), nullptr);
  EXPECT_EQ(status.cause()->message(), internal_error().message());
  EXPECT_EQ(run(reading(), {cut}).cause(), nullptr);
  const Status told = cut.with_cause(too_many_requests());
  EXPECT_EQ(run(reading(), {told}).to_string(), told.to_string());
  EXPECT_EQ(run(reading(), {internal_error(), told}).cause()->message(),
            too_many_requests().message());
}

TEST_F(Retry, ReportsHowFarItCameWhereTheOperationThrows) {
  int count = 0;
  const auto operation = [&]() -> Status {
    if (++count == 2) {
      throw std::runtime_error("mine");
    }
    return internal_error();
  };
  report = {.attempts = 7, .elapsed = hours(1), .end = RetryEnd::kSucceeded};
  EXPECT_THROW(static_cast<void>(retry(operation, reading(), &report)), std::runtime_error);
  EXPECT_EQ(report.attempts, 1);
  EXPECT_EQ(report.elapsed, milliseconds(0));
  EXPECT_EQ(report.end, RetryEnd::kThrew);
}

TEST_F(Retry, StopsWhenItIsCancelledWhileItWaits) {
  std::stop_source source;
  RetryOptions all = reading();
  all.cancel = source.get_token();
  all.on_retry = [&](const RetryEvent&) { source.request_stop(); };
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(report.end, RetryEnd::kCancelled);
}

TEST_F(Retry, LetsAPredicateDecideInPlaceOfTheClass) {
  RetryOptions all = options(RetryPolicy::session_read());
  all.predicate = [](const Status& failure) {
    return is_passing(failure) || is_server_error(failure);
  };
  const Status unavailable = Status(StatusCode::kPermanent, "unavailable").with_http_status(503);
  EXPECT_TRUE(run(all, {unavailable, internal_error()}).is_ok());
  EXPECT_THAT(slept(), ElementsAre(150, 500));
  EXPECT_FALSE(run(all, {unavailable.with_http_status(404)}).is_ok());
  EXPECT_EQ(calls, 1);
}

TEST(IsServerError, IsEvery5xx) {
  const Status failure(StatusCode::kPermanent, "no");
  for (const int status : {500, 503, 599}) {
    EXPECT_TRUE(is_server_error(failure.with_http_status(status))) << status;
  }
  for (const int status : {0, 404, 499, 600}) {
    EXPECT_FALSE(is_server_error(failure.with_http_status(status))) << status;
  }
}

TEST_F(Retry, TellsTheObserverBeforeEachWait) {
  RetryOptions all = reading();
  all.operation = "read user";
  EXPECT_TRUE(run(all, {internal_error(), too_many_requests()}).is_ok());
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].operation, "read user");
  EXPECT_TRUE(events[0].is_read_only);
  EXPECT_EQ(events[0].attempt, 1);
  EXPECT_EQ(events[0].attempts_max, 5);
  EXPECT_EQ(events[0].failure_class, StatusCode::kLost);
  EXPECT_EQ(events[0].failure.message(), internal_error().message());
  EXPECT_EQ(events[0].delay, milliseconds(200));
  EXPECT_EQ(events[1].attempt, 2);
  EXPECT_EQ(events[1].failure_class, StatusCode::kOverload);
  EXPECT_EQ(events[1].delay, milliseconds(400));
}

TEST(RetryEvent, IsOfTheOnlyAttemptUnlessToldOtherwise) {
  const RetryEvent event;
  EXPECT_FALSE(event.is_read_only);
  EXPECT_EQ(event.attempt, 1);
  EXPECT_EQ(event.attempts_max, 1);
  EXPECT_EQ(event.failure_class, StatusCode::kOk);
  EXPECT_EQ(event.delay, milliseconds(0));
}

TEST_F(Retry, OutlivesAnObserverAndARandomnessThatThrow) {
  RetryOptions all = reading();
  all.on_retry = [](const RetryEvent&) { throw std::runtime_error("observer"); };
  all.random = []() -> double { throw std::runtime_error("random"); };
  EXPECT_TRUE(run(all, {internal_error()}).is_ok());
  EXPECT_THAT(slept(), ElementsAre(200));
}

TEST_F(Retry, LetsTheExceptionsOfTheOperationThrough) {
  int count = 0;
  const auto operation = [&]() -> Status {
    ++count;
    throw std::runtime_error("mine");
  };
  EXPECT_THROW(static_cast<void>(retry(operation, reading())), std::runtime_error);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(RetryScope::current(), nullptr);
}

TEST_F(Retry, WaitsDifferentlyEachTimeUnlessToldOtherwise) {
  const RetryScope scope(hours(24));
  RetryOptions all = reading({.attempts_max = 3, .initial = hours(1), .cap = hours(24)});
  all.random = {};
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  const auto delays = slept();
  ASSERT_EQ(delays.size(), 4U);
  EXPECT_TRUE(delays[0] != delays[2] || delays[1] != delays[3]);
}

TEST_F(Retry, TakesATokenForEachRetry) {
  RetryOptions all = reading();
  all.tokens = std::make_shared<RetryTokens>();
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 5);
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 3);  // Ten in all.
  EXPECT_EQ(report.end, RetryEnd::kNoTokens);
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(run(all, {}).is_ok());
  }
  EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  EXPECT_EQ(calls, 2);
}

TEST_F(Retry, SpendsNoTokenOnARetryThatHasNoTime) {
  RetryOptions all = reading();
  all.tokens = std::make_shared<RetryTokens>();
  all.deadline = clock.steady_now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(run_failing(all, internal_error()).is_ok());
  }
  int left = 0;
  while (all.tokens->take(clock.steady_now())) {
    ++left;
  }
  EXPECT_EQ(left, 10);
}

}  // namespace
}  // namespace spillway::testing
