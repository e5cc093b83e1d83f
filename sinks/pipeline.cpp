// SPDX-License-Identifier: MIT
#include <spillway/pipeline.h>

#include "base/one_line.h"
#include "sinks/fork_registry.h"
#include "sinks/inbox.h"
#include "sinks/pipeline_core.h"
#include "sinks/pipeline_options.h"
#include "sinks/scoreboard.h"
#include "sinks/shipper_thread.h"
#include "sinks/worker_thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace spillway {
namespace {

using std::chrono::milliseconds;

// How long close waits for an attempt that was told to stop. A Database that takes longer breaks
// its contract; its thread is left behind rather than the application held up.
constexpr milliseconds kStopGrace{500};

// A successful write says for this long that waiting for room is worth it.
constexpr std::chrono::seconds kHealthy{1};

/// Callers write milliseconds::max() for "as long as it takes"; added to a time it would overflow.
milliseconds bounded(milliseconds timeout) {
  constexpr milliseconds kYear = std::chrono::hours(24 * 365);
  return std::clamp(timeout, milliseconds(0), kYear);
}

void write_to_stderr(std::string_view line) {
  // When stderr is gone there is nobody left to tell.
  static_cast<void>(
      std::fprintf(stderr, "spillway: %.*s\n", static_cast<int>(line.size()), line.data()));
}

/// Below 2^53, so that JSON numbers carry it; 0 is left free.
std::int64_t random_writer() {
  std::random_device device;
  constexpr std::uint64_t kBits53 = (std::uint64_t{1} << 53U) - 1;
  const std::uint64_t high = device();
  const std::uint64_t bits = (high << 32U | device()) & kBits53;
  return static_cast<std::int64_t>(std::max<std::uint64_t>(bits, 1));
}

}  // namespace

/// Shared by the Pipeline and its two threads. The intake thread owns `core_` and what is around
/// it.
class Pipeline::State : public std::enable_shared_from_this<State> {
 public:
  State(DatabaseFactory factory, LogTable table, PipelineOptions options)
      : factory_(std::move(factory)),
        table_(std::move(table)),
        options_(std::move(options)),
        clock_(*options_.clock),
        inbox_(inbox_options(options_), clock_),
        core_(core_options(options_, std::random_device()())),
        shipper_(Shipper(factory_, table_, random_writer()), inbox_) {}

  /// The Pipeline's hold on it, until let_go.
  void hold() { self_ = shared_from_this(); }

  void start_threads() {
    const std::shared_ptr<State> self = shared_from_this();
    shipper_.start(self);
    try {
      intake_thread_ = start_worker_thread("spillway-intake", [self] { self->run_intake(); });
    } catch (...) {  // Thrown on once no thread is left behind.
      shipper_.end(ShipperThread::End::kJoin);
      throw;
    }
  }

  Inbox& inbox() { return inbox_; }

  Stats stats() const {
    Stats stats = scoreboard_.entry().stats;
    stats.after_close = inbox_.calls_after_close();
    stats.reentrant = inbox_.reentrant_calls();
    return stats;
  }

  Stats flush(milliseconds timeout) {
    const std::uint64_t request = inbox_.request_flush();
    const bool is_settled =
        scoreboard_.wait_for_flush(request, inbox_.is_own_thread() ? kNow : bounded(timeout));
    const Scoreboard::Entry entry = scoreboard_.entry();
    Stats now = stats();
    // After a close nothing more is settled than its own account says.
    now.is_complete = is_settled && !entry.has_unreportable && (now.is_complete || !entry.is_final);
    return now;
  }

  Stats close(milliseconds timeout) {
    is_closed_ = true;
    inbox_.request_close(clock_.steady_now() + bounded(timeout));
    if (inbox_.is_own_thread()) {
      return stats();  // It would wait for itself.
    }
    const std::lock_guard lock(close_mutex_);  // A second caller waits for the first.
    if (intake_thread_.joinable()) {
      intake_thread_.join();
      shipper_.end(is_shipper_stuck_ ? ShipperThread::End::kDetach : ShipperThread::End::kJoin);
    }
    return stats();
  }

  /// The Pipeline goes. On one of the two threads (a callback held the last reference) both finish
  /// by themselves.
  void let_go() {
    close(options_.close_timeout);
    if (intake_thread_.joinable()) {
      intake_thread_.detach();
      shipper_.end(ShipperThread::End::kDetach);
    }
    self_.reset();
  }

  // What a fork makes of it: see Pipeline::state_of_child.

  bool is_of_this_process() const noexcept { return generation_ == ForkRegistry::generation(); }

  /// In a child: the same pipeline with nothing in it. Uses of this one only what never changes, or
  /// changes at once.
  std::shared_ptr<State> successor() const {
    auto state = std::make_shared<State>(factory_, table_, options_);
    state->hold();
    if (is_closed_) {
      state->stop({.stats = {.is_complete = true}});
    } else if (!shipper_.was_quiet_at_fork()) {
      state->refuse("the database was in use when the process forked; this process does not log");
    } else {
      state->start_or_refuse();
    }
    return state;
  }

  /// It is never used or freed, and no leak checker shall take it for forgotten.
  void abandon() noexcept {
    static std::atomic<State*> abandoned{nullptr};
    next_abandoned_ = abandoned.exchange(this);
  }

 private:
  static constexpr milliseconds kNow{0};

  void start_or_refuse() noexcept {
    try {
      start_threads();
    } catch (const std::exception& error) {
      refuse(std::string("cannot start after a fork: ") + error.what());
    }
  }

  /// Takes no records from here on.
  void stop(Scoreboard::Entry last) noexcept {
    is_closed_ = true;
    inbox_.request_close(SteadyTime::min());
    last.is_final = true;
    scoreboard_.publish(last);
  }

  /// The same because something is missing.
  void refuse(std::string_view why) noexcept {
    Scoreboard::Entry entry = scoreboard_.entry();
    entry.stats.is_complete = false;
    stop(entry);
    report(why);
  }

  // The intake thread.

  void run_intake() noexcept {
    inbox_.own_this_thread();
    try {
      while (!is_done_) {
        take_in(inbox_.wait(wake_at_));
      }
    } catch (...) {
      // There was no memory in the middle of a decision: the account can no longer be trusted, so
      // none is given from here on. The application goes on; its calls are counted as after close.
      is_done_ = true;
      shipper_.cancel();
      refuse("out of memory: the log pipeline has stopped");
    }
  }

  void take_in(Mail mail) {
    if (mail.answer) {
      abandon_at_.reset();
      step(*std::move(mail.answer));
    }
    if (!mail.records.is_empty()) {
      step(RecordsArrived{std::move(mail.records)});
    }
    step(mail.shed);
    step(mail.overrun);
    if (mail.flush_requests != flushes_seen_) {
      flushes_seen_ = mail.flush_requests;
      flush_target_ = core_.last_seq();
      step(FlushRequested{});
    }
    if (mail.close_deadline) {
      step(CloseRequested{*mail.close_deadline});
    }
    step(Tick{});
    abandon_if_stuck();
    publish();
  }

  void step(Event event) {
    Actions actions = core_.step(std::move(event), clock_.steady_now());
    if (actions.send) {
      shipper_.post(*std::move(actions.send));
    }
    if (actions.cancel_send && !abandon_at_) {
      shipper_.cancel();
      abandon_at_ = clock_.steady_now() + kStopGrace;
    }
    for (const std::string& line : actions.diagnostics) {
      report(one_line(line));
    }
    wake_at_ = actions.wake_at;
    if (abandon_at_) {
      wake_at_ = abandon_at_;
    }
    is_done_ = is_done_ || actions.is_done;
  }

  void abandon_if_stuck() {
    if (abandon_at_ && !is_done_ && clock_.steady_now() >= *abandon_at_) {
      is_shipper_stuck_ = true;
      step(SendDone{Status(StatusCode::kLost, "the database did not return"), ""});
    }
  }

  void publish() {
    const QueueFill fill{.bytes = core_.queue().bytes(), .records = core_.queue().records()};
    const SteadyTime now = clock_.steady_now();
    const SteadyTime healthy_until = core_.last_success().value_or(started_) + kHealthy;
    inbox_.set_downstream(fill, core_.is_paused(now) ? SteadyTime::min() : healthy_until);
    scoreboard_.publish({.stats = core_.stats(),
                         .settled_through = core_.settled_through(),
                         .flushes_seen = flushes_seen_,
                         .flush_target = flush_target_,
                         .has_unreportable = core_.has_unreportable(),
                         .is_final = is_done_});
  }

  void report(std::string_view line) const noexcept {
    try {
      options_.on_diagnostic ? options_.on_diagnostic(line) : write_to_stderr(line);
    } catch (...) {  // The user's callback; the pipeline must not end because of it.
    }
  }

  const DatabaseFactory factory_;
  const LogTable table_;
  const PipelineOptions options_;
  const Clock& clock_;
  const std::uint64_t generation_ = ForkRegistry::generation();
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

  std::atomic<bool> is_closed_{false};

  ShipperThread shipper_;
  std::mutex close_mutex_;
  std::thread intake_thread_;
  std::shared_ptr<State> self_;  ///< The Pipeline's hold on it.
  State* next_abandoned_ = nullptr;
};

Result<std::unique_ptr<Pipeline>> Pipeline::start(DatabaseFactory factory,
                                                  PipelineOptions options) {
  if (!factory) {
    return Status(StatusCode::kInvalidArgument, "the database factory is empty");
  }
  if (Status status = check(options); !status.is_ok()) {
    return status;
  }
  auto table = LogTable::named(options.table);
  if (!table) {
    return table.error();
  }
  try {
    auto state = std::make_shared<State>(std::move(factory), *std::move(table), std::move(options));
    state->start_threads();
    state->hold();
    return std::unique_ptr<Pipeline>(new Pipeline(*state));
  } catch (const std::exception& error) {  // No thread, no memory, no randomness.
    return Status(StatusCode::kInternal, std::string("cannot start: ") + error.what());
  }
}

Pipeline::Pipeline(State& state) : state_(&state) {}

Pipeline::~Pipeline() {
  State& state = *state_;
  state.is_of_this_process() ? state.let_go() : state.abandon();
}

Pipeline::State* Pipeline::state() noexcept {
  State* const state = state_.load(std::memory_order_acquire);
  return state->is_of_this_process() ? state : state_of_child(state);
}

/// The first call in a child. Locks nothing that was inherited: it may have been locked at the
/// fork, by a thread that is not there. Null without memory.
Pipeline::State* Pipeline::state_of_child(State* inherited) noexcept {
  try {
    const std::shared_ptr<State> state = inherited->successor();
    State* expected = inherited;
    if (!state_.compare_exchange_strong(expected, state.get(), std::memory_order_acq_rel)) {
      state->let_go();  // Another thread was faster.
      return expected;
    }
    inherited->abandon();
    return state.get();
  } catch (...) {
    return nullptr;
  }
}

bool Pipeline::accept(const RecordView& record) noexcept {
  State* const state = this->state();
  return state != nullptr && state->inbox().accept(record);
}

void Pipeline::count_lost(std::uint64_t records, WallTime from, WallTime to) noexcept {
  if (State* const state = this->state()) {
    state->inbox().count_lost(records, from, to);
  }
}

void Pipeline::wait_for_room(const RecordView& record) noexcept {
  if (State* const state = this->state()) {
    state->inbox().wait_for_room(record);
  }
}

Stats Pipeline::flush(milliseconds timeout) noexcept {
  State* const state = this->state();
  return state != nullptr ? state->flush(timeout) : Stats();
}

Stats Pipeline::close(milliseconds timeout) noexcept {
  State* const state = this->state();
  return state != nullptr ? state->close(timeout) : Stats();
}

Stats Pipeline::stats() const noexcept {
  const State* const state = state_.load(std::memory_order_acquire);
  return state->is_of_this_process() ? state->stats() : Stats{.is_complete = true};
}

}  // namespace spillway
