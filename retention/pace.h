// SPDX-License-Identifier: MIT
//
// Pace: leaves the database to others for as long as a run held it.
#pragma once

#include <spillway/clock.h>
#include <spillway/sleeper.h>

#include <chrono>
#include <stop_token>

namespace spillway::retention {

class Pace {
 public:
  /// The run has let go at `now` what it held for so long.
  void on_released(std::chrono::microseconds held, SteadyTime now) noexcept {
    free_until_ = now + held;
  }
  /// Waits for what is left of the time: what the run did meanwhile, without a lock, counts. False:
  /// told to stop.
  [[nodiscard]] bool wait(const Clock& clock, Sleeper& sleeper, const std::stop_token& stop) const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(free_until_ - clock.steady_now());
    return left.count() <= 0 ? !stop.stop_requested() : sleeper.sleep(left, stop);
  }

 private:
  SteadyTime free_until_{};
};

}  // namespace spillway::retention
