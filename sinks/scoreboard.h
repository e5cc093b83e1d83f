// SPDX-License-Identifier: MIT
//
// Scoreboard: the account as the intake thread last published it, for all other threads to read and
// wait on.
#pragma once

#include <spillway/stats.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace spillway {

class Scoreboard {
 public:
  struct Entry {
    Stats stats;
    std::int64_t settled_through = 0;
    std::uint64_t flushes_seen = 0;  ///< The last flush request that was taken in …
    std::int64_t flush_target = 0;   ///< … and the last number that had been given out then.
    bool has_unreportable = false;   ///< See PipelineCore.
    bool is_final = false;
  };

  void publish(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    entry_ = entry;
    changed_.notify_all();
  }

  [[nodiscard]] Entry entry() const {
    const std::lock_guard lock(mutex_);
    return entry_;
  }

  /// Waits until all that had arrived before flush request number `request` is settled, or the time
  /// is up. True: it is.
  bool wait_for_flush(std::uint64_t request, std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    std::int64_t target = -1;
    return changed_.wait_for(lock, timeout, [&] {
      if (target < 0 && entry_.flushes_seen >= request) {
        target = entry_.flush_target;
      }
      return entry_.is_final || (target >= 0 && entry_.settled_through >= target);
    });
  }

  /// Waits until nothing will change any more; false: not so when the time was up.
  bool wait_until_final(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return entry_.is_final; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Entry entry_;
};

}  // namespace spillway
