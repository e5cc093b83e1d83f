// SPDX-License-Identifier: MIT
//
// Clock: the only place where Spillway reads the time.
//
// Two flavours that must not be mixed. Wall time stamps records and can jump. Steady time measures
// pauses, ages and deadlines; only differences mean anything. Code that decides takes a time as an
// argument; the thin shells around it hold a Clock. `Clock::system()` is the real one;
// spillway::testing::FakeClock moves only when told to.
//
// Implementations must be safe to call from any number of threads and must not block or throw.
#pragma once

#include <chrono>
#include <cstdint>

namespace spillway {

/// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds: the resolution of the `logs`
/// table.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;
/// Monotonic time with an arbitrary start.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
  [[nodiscard]] virtual SteadyTime steady_now() const noexcept = 0;

  /// The machine's clocks. One object for the whole process, never destroyed.
  [[nodiscard]] static const Clock& system() noexcept;
};

}  // namespace spillway
