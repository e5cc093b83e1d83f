// SPDX-License-Identifier: MIT
#include <spillway/retry_budget.h>

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWindowMax = std::chrono::hours(24);

constexpr std::int64_t kToken = 1'000;
constexpr std::int64_t kTokensMax = 10 * kToken;
constexpr std::int64_t kPerSuccess = kToken / 10;
constexpr std::chrono::nanoseconds kPerThousandth = milliseconds(30);  // 30 s a token.

std::shared_ptr<RetryBudget>& of_this_thread() noexcept {
  thread_local std::shared_ptr<RetryBudget> budget;
  return budget;
}

}  // namespace

RetryBudget::RetryBudget(milliseconds window, std::shared_ptr<RetryBudget> outer,
                         Kind kind) noexcept
    : window_(std::clamp(window, milliseconds(0), kWindowMax)),
      outer_(std::move(outer)),
      kind_(kind) {}

milliseconds RetryBudget::left_after_failure(SteadyTime now) noexcept {
  return std::max(std::chrono::floor<milliseconds>(end_after_failure(now, true) - now),
                  milliseconds(0));
}

SteadyTime RetryBudget::end_after_failure(SteadyTime now, bool is_own) noexcept {
  const SteadyTime outer_end = outer_ ? outer_->end_after_failure(now, false) : SteadyTime::max();
  const std::lock_guard lock(mutex_);
  if (end_ == SteadyTime::max()) {
    end_ = now + window_;
  }
  is_own_ = is_own_ || is_own;
  return std::min(end_, outer_end);
}

void RetryBudget::on_success() noexcept {
  if (outer_) {
    outer_->close_unless_own();
  }
}

void RetryBudget::close_unless_own() noexcept {
  if (kind_ == Kind::kScope) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    end_ = is_own_ ? end_ : SteadyTime::max();
  }
  on_success();
}

RetryScope::RetryScope(milliseconds window)
    : RetryScope(std::make_shared<RetryBudget>(window, current())) {}

RetryScope::RetryScope(std::shared_ptr<RetryBudget> budget) noexcept
    : before_(std::exchange(of_this_thread(), std::move(budget))) {}

RetryScope::~RetryScope() { of_this_thread() = std::move(before_); }

std::shared_ptr<RetryBudget> RetryScope::current() noexcept { return of_this_thread(); }

bool RetryTokens::take(SteadyTime now) noexcept {
  const std::lock_guard lock(mutex_);
  refill(now);
  if (thousandths_ < kToken) {
    return false;
  }
  thousandths_ -= kToken;
  return true;
}

void RetryTokens::on_success(SteadyTime now) noexcept {
  const std::lock_guard lock(mutex_);
  refill(now);
  add(kPerSuccess);
}

void RetryTokens::add(std::int64_t thousandths) noexcept {
  thousandths_ = std::min(thousandths_ + thousandths, kTokensMax);
}

// Time counts from the first call on. What is less than a thousandth is kept for the next time.
void RetryTokens::refill(SteadyTime now) noexcept {
  const SteadyTime from = refilled_until_.value_or(now);
  const std::int64_t gained = std::max<std::int64_t>((now - from) / kPerThousandth, 0);
  add(gained);
  refilled_until_ = from + gained * kPerThousandth;
}

}  // namespace spillway
