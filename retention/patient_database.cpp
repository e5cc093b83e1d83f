// SPDX-License-Identifier: MIT
#include "retention/patient_database.h"

#include <spillway/retry_policy.h>

#include "retention/counted_database.h"

#include <algorithm>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;

// 0.25, 0.5, 1 … 8 s, each ±20 %.
const RetryPolicy& waits() {
  static const RetryPolicy policy{.initial = milliseconds(250), .cap = milliseconds(8'000)};
  return policy;
}

bool may_be_repeated(const Status& failure, bool is_idempotent) {
  switch (failure.code()) {
    case StatusCode::kOverload:
    case StatusCode::kRateLimited:
    case StatusCode::kTransient:
      return is_idempotent || failure.execution() == Execution::kNo;
    case StatusCode::kLost:
      return is_idempotent;
    default:
      return false;
  }
}

bool is_over(const ExecuteOptions& options, SteadyTime now) {
  return options.cancel.stop_requested() || (options.deadline && now >= *options.deadline);
}

}  // namespace

Result<std::vector<StatementResult>> PatientDatabase::execute(std::span<const Statement> statements,
                                                              const ExecuteOptions& options) {
  std::optional<SteadyTime> give_up;
  for (int attempt = 1;; ++attempt) {
    if (!wait_for_turn(options)) {
      return Status(StatusCode::kCancelled, "stopped before the request");
    }
    ++cost_.requests;
    const SteadyTime begin = world_.clock.steady_now();
    auto results = inner_.execute(statements, options);
    last_took_ =
        std::chrono::duration_cast<std::chrono::microseconds>(world_.clock.steady_now() - begin);
    if (results) {
      add_cost(cost_, *results, traits().dialect);
      return results;
    }
    const SteadyTime now = world_.clock.steady_now();
    give_up = give_up.value_or(now + patience_);
    const milliseconds wait = std::max(waits().delay_after(attempt, world_.random()),
                                       results.error().retry_after().value_or(milliseconds(0)));
    if (!may_be_repeated(results.error(), options.is_idempotent) || now + wait > *give_up ||
        is_over(options, now + wait) || !world_.sleeper.sleep(wait, options.cancel)) {
      return results;
    }
  }
}

bool PatientDatabase::wait_for_turn(const ExecuteOptions& options) {
  const RequestRate rate = inner_.traits().rate;
  if (rate.per_second <= 0) {
    return true;
  }
  const SteadyTime now = world_.clock.steady_now();
  const std::chrono::duration<double> since = now - turns_at_.value_or(now);
  turns_ = turns_at_ ? std::min<double>(rate.burst, turns_ + since.count() * rate.per_second)
                     : rate.burst;
  turns_at_ = now;
  turns_ -= 1;
  if (turns_ >= 0) {
    return true;
  }
  const std::chrono::duration<double> wait(-turns_ / rate.per_second);
  return world_.sleeper.sleep(std::chrono::ceil<milliseconds>(wait), options.cancel);
}

}  // namespace spillway::retention
