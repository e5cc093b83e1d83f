// SPDX-License-Identifier: MIT
//
// RecordingSleeper: a Sleeper for tests. It returns at once, having moved a FakeClock by as much as
// it was to sleep and written that down. Thread-safe.
#pragma once

#include <spillway/sleeper.h>
#include <spillway/testing/fake_clock.h>

#include <mutex>
#include <vector>

namespace spillway::testing {

class RecordingSleeper final : public Sleeper {
 public:
  explicit RecordingSleeper(FakeClock& clock) noexcept : clock_(clock) {}

  /// Where `cancel` was asked to stop before, nothing is written down and no time passes.
  [[nodiscard]] bool sleep(std::chrono::milliseconds duration,
                           const std::stop_token& cancel) noexcept override {
    if (cancel.stop_requested()) {
      return false;
    }
    clock_.advance(duration);
    const std::lock_guard lock(mutex_);
    slept_.push_back(duration);
    return true;
  }

  /// Each sleep, in order.
  [[nodiscard]] std::vector<std::chrono::milliseconds> slept() const {
    const std::lock_guard lock(mutex_);
    return slept_;
  }

 private:
  FakeClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> slept_;
};

}  // namespace spillway::testing
