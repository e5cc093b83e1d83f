// SPDX-License-Identifier: MIT
//
// Sleeper: how retries wait. `Sleeper::system()` really does; spillway::testing::RecordingSleeper
// only writes down how long it would have.
#pragma once

#include <chrono>
#include <stop_token>

namespace spillway {

/// Implementations must be safe to call from any number of threads, and must not throw.
class Sleeper {
 public:
  Sleeper() = default;
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  virtual ~Sleeper() = default;

  /// Blocks for `duration`, at most 24 h, or until `cancel` is asked to stop: then it is false.
  [[nodiscard]] virtual bool sleep(std::chrono::milliseconds duration,
                                   const std::stop_token& cancel) noexcept = 0;

  /// Blocks the thread. One object for the whole process, never destroyed.
  [[nodiscard]] static Sleeper& system() noexcept;
};

}  // namespace spillway
