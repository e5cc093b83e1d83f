// SPDX-License-Identifier: MIT
//
// ShipperThread: makes one attempt at a time to write, on a thread of its own, so that a database
// that hangs stops nothing else. While the process forks it stands still and has no connection.
#pragma once

#include "sinks/fork_registry.h"
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

class ShipperThread final : public ForkListener {
 public:
  /// Answers go to `inbox`.
  ShipperThread(Shipper shipper, Inbox& inbox);
  ~ShipperThread();

  /// `owner` owns this object and the inbox; the thread keeps it alive. Throws std::system_error.
  void start(std::shared_ptr<void> owner);
  /// There must be no attempt under way.
  void post(Send send);
  /// Stops the attempt under way, and all later ones.
  void cancel() noexcept;

  enum class End : std::uint8_t {
    kJoin,    ///< Waits for the thread.
    kDetach,  ///< Leaves it behind with an attempt that does not return, or is called on it.
  };
  /// The thread ends after the attempt under way and lets go of the connection.
  void end(End how);

  /// False if an attempt could not be stopped before the last fork: its connection was open over
  /// it.
  [[nodiscard]] bool was_quiet_at_fork() const noexcept { return was_quiet_at_fork_; }

 private:
  void run() noexcept;
  [[nodiscard]] std::optional<Send> next();
  [[nodiscard]] bool end_attempt();
  void before_fork() noexcept override;
  void after_fork() noexcept override;

  Inbox& inbox_;
  Shipper shipper_;  // Of the thread while it ships; of whoever forks while it does not.

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::condition_variable is_quiet_;
  std::optional<Send> to_send_;
  std::stop_source stop_attempt_;  // A new one after each fork.
  bool is_cancelled_ = false;
  bool is_shipping_ = false;
  bool is_interrupted_ = false;  ///< By a fork: the attempt, or the last one.
  bool is_ended_ = false;
  bool was_quiet_at_fork_ = true;

  std::thread thread_;
};

}  // namespace spillway
