// SPDX-License-Identifier: MIT
#include <spillway/retry.h>

#include "base/random.h"
#include "d1/guarded.h"

#include <algorithm>
#include <random>

namespace spillway {
namespace {

using std::chrono::milliseconds;

// Fresh from the system each time: processes forked from one parent must not wait alike, and there
// is time, for a wait follows.
double fresh_random() {
  std::uint64_t state = std::random_device()();
  return next_unit_random(state);
}

}  // namespace

bool is_passing(const Status& failure) noexcept {
  switch (failure.code()) {
    case StatusCode::kOverload:
    case StatusCode::kTransient:
    case StatusCode::kLost:
      return !failure.is_lasting() || failure.retry_after();
    case StatusCode::kRateLimited:
      return failure.retry_after().has_value();
    default:
      return false;
  }
}

bool is_server_error(const Status& failure) noexcept {
  return failure.http_status() >= 500 && failure.http_status() < 600;
}

namespace internal {

RetryLoop::RetryLoop(const RetryOptions& options, RetryReport* report)
    : options_(options),
      budget_(RetryScope::current()),
      began_(options.clock->steady_now()),
      report_(report == nullptr ? own_report_ : *report) {
  report_ = {.end = RetryEnd::kThrew};  // Until all has ended in another way.
  if (budget_ == nullptr || budget_->kind() == RetryBudget::Kind::kOperation) {
    budget_ = std::make_shared<RetryBudget>(kRetryWindow, std::move(budget_),
                                            RetryBudget::Kind::kOperation);
    own_scope_.emplace(budget_);  // What is retried within the operation looks at it.
  }
}

bool RetryLoop::goes_on_after(const Status& outcome) {
  const SteadyTime now = options_.clock->steady_now();
  ++report_.attempts;
  report_.elapsed = std::chrono::floor<milliseconds>(now - began_);
  if (outcome.is_ok()) {
    report_.end = RetryEnd::kSucceeded;
    budget_->on_success();
    if (options_.tokens) {
      options_.tokens->on_success(now);
    }
    return false;
  }
  is_in_doubt_ = is_in_doubt_ || outcome.execution() == Execution::kMaybe;
  const std::optional<milliseconds> delay = delay_after(outcome, now);
  if (!delay) {
    return false;
  }
  tell(outcome, *delay);
  if (!options_.sleeper->sleep(*delay, options_.cancel)) {
    report_.end = RetryEnd::kCancelled;
    return false;
  }
  failure_ = outcome;
  return true;
}

Status RetryLoop::final_status(const Status& outcome) const {
  // One that has a cause of its own says more already.
  const bool is_cut_short = outcome.code() == StatusCode::kCancelled && outcome.cause() == nullptr;
  const Status status = is_cut_short ? outcome.with_cause(failure_) : outcome;
  return is_in_doubt_ ? status.with_execution(Execution::kMaybe) : status;
}

// Empty: no more, and the report says why. The token comes last, for it is spent on a retry alone.
std::optional<milliseconds> RetryLoop::delay_after(const Status& failure, SteadyTime now) {
  const auto end = [this](RetryEnd why) {
    report_.end = why;
    return std::nullopt;
  };
  if (!may_repeat(failure)) {
    return end(why_refused(failure));
  }
  if (report_.attempts >= options_.policy.attempts_max) {
    return end(RetryEnd::kAttemptsUsed);
  }
  if (options_.cancel.stop_requested()) {
    return end(RetryEnd::kCancelled);
  }
  const milliseconds delay = std::max(options_.policy.delay_after(report_.attempts, random()),
                                      failure.retry_after().value_or(milliseconds(0)));
  if (delay > time_left(now)) {
    return end(RetryEnd::kOutOfTime);
  }
  if (options_.tokens && !options_.tokens->take(now)) {
    return end(RetryEnd::kNoTokens);
  }
  return delay;
}

// An attempt that was cut short fails as kCancelled.
RetryEnd RetryLoop::why_refused(const Status& failure) const {
  if (failure.code() != StatusCode::kCancelled) {
    return RetryEnd::kRefused;
  }
  if (options_.cancel.stop_requested()) {
    return RetryEnd::kCancelled;
  }
  return options_.deadline ? RetryEnd::kOutOfTime : RetryEnd::kRefused;
}

bool RetryLoop::may_repeat(const Status& failure) const {
  if (options_.predicate) {
    return options_.predicate(failure);
  }
  const bool is_harmless = options_.is_read_only || options_.is_idempotent;
  const bool is_undone = failure.execution() == Execution::kNo &&
                         options_.policy.writes == RetryWrites::kWhenNotExecuted;
  return is_passing(failure) && (is_harmless || is_undone);
}

// Less than nothing: there is no time even for the shortest wait.
milliseconds RetryLoop::time_left(SteadyTime now) const {
  const milliseconds left = budget_->left_after_failure(now);
  if (!options_.deadline) {
    return left;
  }
  const SteadyTime deadline = std::max(*options_.deadline, now);
  // An attempt at the deadline itself would have no time.
  return std::min(left, std::chrono::ceil<milliseconds>(deadline - now) - milliseconds(1));
}

// Without randomness the middle is as good as any.
double RetryLoop::random() const {
  const Result<double> given = guarded(Execution::kNo, [this]() -> Result<double> {
    return options_.random ? options_.random() : fresh_random();
  });
  return given ? *given : 0.5;
}

void RetryLoop::tell(const Status& failure, milliseconds delay) const {
  if (!options_.on_retry) {
    return;
  }
  static_cast<void>(guarded(Execution::kNo, [&] {
    options_.on_retry({.operation = options_.operation,
                       .is_read_only = options_.is_read_only,
                       .attempt = report_.attempts,
                       .attempts_max = options_.policy.attempts_max,
                       .failure_class = failure.code(),
                       .failure = failure,
                       .delay = delay});
    return Status();
  }));
}

}  // namespace internal
}  // namespace spillway
