// SPDX-License-Identifier: MIT
//
// ShipperThread: makes one attempt at a time to write, on a thread of its own, so that a database
// that hangs stops nothing else. While the process forks it stands still and has no connection.
#pragma once

#include <spillway/clock.h>

#include "sinks/inbox.h"
#include "sinks/pipeline_core.h"
#include "sinks/shipper.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace spillway {

class ShipperThread {
 public:
  /// Answers go to `inbox`.
  ShipperThread(Shipper shipper, Inbox& inbox);

  /// `owner` owns this object and the inbox; the thread keeps it alive. Throws std::system_error.
  void start(std::shared_ptr<void> owner);
  /// There must be no attempt under way.
  void post(Send send);
  /// Stops the attempt under way, and all later ones.
  void cancel() noexcept;
  /// The thread ends after the attempt under way, and lets go of the connection.
  void finish() noexcept;

  // Once, by whoever owns the thread, after `finish` or where it will be called.

  void join() { thread_.join(); }
  /// Leaves it behind.
  void detach() { thread_.detach(); }

  // See ProcessListener.

  void begin_fork() noexcept;
  [[nodiscard]] bool await_quiet(SteadyTime deadline) noexcept;
  void end_fork() noexcept;

 private:
  void run() noexcept;
  [[nodiscard]] std::optional<Send> next();
  [[nodiscard]] bool end_attempt();

  Inbox& inbox_;
  Shipper shipper_;  // Of the thread; of whoever forks while it is quiet.

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::condition_variable is_quiet_;
  std::optional<Send> to_send_;
  std::stop_source stop_attempt_;  // A new one after each fork.
  std::thread::id id_;
  bool is_cancelled_ = false;
  bool is_busy_ = false;
  bool is_forking_ = false;
  bool is_interrupted_ = false;  ///< By a fork: the attempt, or the last one.
  bool is_finished_ = false;

  std::thread thread_;
};

}  // namespace spillway
