// SPDX-License-Identifier: MIT
//
// Pipeline::State: one pipeline in one process. The intake thread owns the core and what is around
// it, and does nothing but carry events in and actions out; the shipper thread makes the attempts.
// Pipeline is the handle: in a forked child it gets a new State.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/pipeline.h>
#include <spillway/stats.h>

#include "sinks/inbox.h"
#include "sinks/pipeline_core.h"
#include "sinks/process_registry.h"
#include "sinks/scoreboard.h"
#include "sinks/shipper_thread.h"
#include "table/log_table.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace spillway {

class Pipeline::State final : public ProcessListener, public std::enable_shared_from_this<State> {
 public:
  /// Has its hold on itself, which let_go ends. Throws when there is no thread to be had.
  [[nodiscard]] static std::shared_ptr<State> start(DatabaseFactory factory, LogTable table,
                                                    PipelineOptions options);
  /// In a child: the same pipeline with nothing in it. Uses of the inherited one only what never
  /// changes, or changes at once. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<State> successor() const;
  [[nodiscard]] bool is_of_this_process() const noexcept;

  State(DatabaseFactory factory, LogTable table, PipelineOptions options);

  [[nodiscard]] Inbox& inbox() noexcept { return inbox_; }
  [[nodiscard]] const Inbox& inbox() const noexcept { return inbox_; }

  // See Pipeline. On a thread of the pipeline's own these do not wait.

  [[nodiscard]] Stats stats() const noexcept;
  Stats flush(std::chrono::milliseconds timeout) noexcept;
  Stats close(std::chrono::milliseconds timeout) noexcept;
  /// The Pipeline goes: close, and the hold ends.
  void let_go() noexcept;

 private:
  void begin_fork() noexcept override { shipper_.begin_fork(); }
  [[nodiscard]] bool await_quiet(SteadyTime deadline) noexcept override {
    return shipper_.await_quiet(deadline);
  }
  void end_fork() noexcept override { shipper_.end_fork(); }
  void begin_exit() noexcept override;
  void end_exit() noexcept override;

  [[nodiscard]] static std::shared_ptr<State> make(DatabaseFactory factory, LogTable table,
                                                   PipelineOptions options);
  void start_threads();
  void start_or_refuse() noexcept;
  void join_threads();
  void stop(Scoreboard::Entry last) noexcept;
  void refuse(std::string_view why) noexcept;
  void report(std::string_view line) const noexcept;

  // The intake thread.

  void run_intake() noexcept;
  void take_in(Mail mail);
  void step(Event event);
  void abandon_if_stuck();
  [[nodiscard]] SteadyTime worth_waiting_until() const noexcept;
  void publish();

  const DatabaseFactory factory_;
  const LogTable table_;
  const PipelineOptions options_;
  const Clock& clock_;
  const std::uint64_t generation_ = ProcessRegistry::generation();
  Inbox inbox_;
  Scoreboard scoreboard_;

  // Of the intake thread; the flag is_shipper_stuck_ is read after it has ended.
  PipelineCore core_;
  const SteadyTime started_ = clock_.steady_now();
  std::optional<SteadyTime> wake_at_;
  std::optional<SteadyTime> abandon_at_;
  std::uint64_t flushes_seen_ = 0;
  std::int64_t flush_target_ = 0;
  bool is_done_ = false;
  bool is_shipper_stuck_ = false;

  std::atomic<bool> is_closed_{false};  ///< By the application.
  std::atomic<bool> is_exiting_{false};
  SteadyTime exit_began_;  ///< Of the thread that ends the process.

  ShipperThread shipper_;
  std::mutex close_mutex_;  ///< Held by who joins or detaches the threads.
  std::thread intake_thread_;
  std::shared_ptr<State> self_;
};

}  // namespace spillway
