// SPDX-License-Identifier: MIT
#include "d1/attempt_limits.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace spillway {
namespace {

using std::chrono::milliseconds;

// Short at first, because most locks are held for a few milliseconds; the last one repeats.
constexpr std::array kWaits = {milliseconds(1),  milliseconds(2),  milliseconds(5),
                               milliseconds(10), milliseconds(15), milliseconds(20),
                               milliseconds(25)};

}  // namespace

AttemptLimits::AttemptLimits(const Clock& clock, milliseconds lock_wait,
                             std::optional<SteadyTime> deadline, std::stop_token cancel)
    : clock_(&clock), lock_wait_left_(lock_wait), deadline_(deadline), cancel_(std::move(cancel)) {}

bool AttemptLimits::is_past_deadline() const noexcept {
  return deadline_.has_value() && clock_->steady_now() >= *deadline_;
}

milliseconds AttemptLimits::next_wait() const noexcept {
  const milliseconds wait = std::min(kWaits[std::min(waits_, kWaits.size() - 1)], lock_wait_left_);
  if (!deadline_) {
    return wait;
  }
  return std::min(wait,
                  std::chrono::duration_cast<milliseconds>(*deadline_ - clock_->steady_now()));
}

bool AttemptLimits::wait_for_lock() noexcept {
  const milliseconds wait = next_wait();
  if (wait <= milliseconds::zero() || is_cancelled()) {
    return false;
  }
  std::this_thread::sleep_for(wait);
  // The sum of what was asked for, not of what the system made of it: no clock decides here, so a
  // test's clock that stands still does not make the wait endless.
  lock_wait_left_ -= wait;
  ++waits_;
  return true;
}

}  // namespace spillway
