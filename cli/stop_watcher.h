// SPDX-License-Identifier: MIT
//
// StopWatcher: the file descriptor of install_stop_signals as a stop token and as a wait.
#pragma once

#include <array>
#include <chrono>
#include <stop_token>
#include <thread>

namespace spillway {

/// Starts a thread that waits for `stop_fd` to become readable; the destructor ends it. `wait_for`
/// is for one thread, the token for any.
class StopWatcher {
 public:
  explicit StopWatcher(int stop_fd);
  StopWatcher(const StopWatcher&) = delete;
  StopWatcher& operator=(const StopWatcher&) = delete;
  ~StopWatcher();

  /// Cancels what runs when the program is asked to stop.
  [[nodiscard]] std::stop_token token() const noexcept { return stop_.get_token(); }

  /// Waits; true as soon as the program is to end, because of a signal or because nobody reads
  /// stdout any more.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) const noexcept;

 private:
  void watch() noexcept;

  int stop_fd_;
  std::array<int, 2> end_pipe_{-1, -1};  // Closed at one end, it wakes the thread.
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace spillway
