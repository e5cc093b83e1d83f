// SPDX-License-Identifier: MIT
//
// FakeClock: a Clock for tests. It starts at 2026-08-28T06:35:12.000Z and at steady zero, and moves
// only when told to. Thread-safe.
#pragma once

#include <spillway/clock.h>

#include <atomic>

namespace spillway::testing {

class FakeClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return WallTime(std::chrono::milliseconds(wall_ms_.load()));
  }
  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return SteadyTime(std::chrono::nanoseconds(steady_ns_.load()));
  }

  /// Moves both clocks. `by` must not be negative.
  void advance(std::chrono::milliseconds by) noexcept {
    wall_ms_ += by.count();
    steady_ns_ += std::chrono::nanoseconds(by).count();
  }
  /// Sets the wall clock alone, forwards or backwards: what NTP or a person may do at any moment.
  void set_wall(WallTime time) noexcept { wall_ms_ = time.time_since_epoch().count(); }

 private:
  static constexpr std::int64_t kStartMs = 1'787'898'912'000;  // 2026-08-28T06:35:12Z

  std::atomic<std::int64_t> wall_ms_{kStartMs};
  std::atomic<std::int64_t> steady_ns_{0};
};

}  // namespace spillway::testing
