// SPDX-License-Identifier: MIT
//
// AttemptLimits: how long one attempt may run and may wait for a lock, and whether it was called
// off. The callbacks that SQLite makes during the attempt ask it. One thread at a time.
#pragma once

#include <spillway/clock.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>

namespace spillway {

class AttemptLimits {
 public:
  /// `clock` must outlive the object. `lock_wait` is for all waits of the attempt together.
  AttemptLimits(const Clock& clock, std::chrono::milliseconds lock_wait,
                std::optional<SteadyTime> deadline = std::nullopt, std::stop_token cancel = {});

  [[nodiscard]] bool is_cancelled() const noexcept { return cancel_.stop_requested(); }
  [[nodiscard]] bool is_past_deadline() const noexcept;
  [[nodiscard]] bool must_stop() const noexcept { return is_cancelled() || is_past_deadline(); }

  /// Sleeps a little, at most 25 ms, so that a cancel is noticed within that time. False: waiting
  /// is over, because of the lock_wait, the deadline or a cancel.
  [[nodiscard]] bool wait_for_lock() noexcept;

 private:
  [[nodiscard]] std::chrono::milliseconds next_wait() const noexcept;

  const Clock* clock_;
  std::chrono::milliseconds lock_wait_left_;
  std::optional<SteadyTime> deadline_;
  std::stop_token cancel_;
  std::size_t waits_ = 0;
};

}  // namespace spillway
