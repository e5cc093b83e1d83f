// SPDX-License-Identifier: MIT
#include "sinks/pipeline_state.h"

#include "base/one_line.h"
#include "sinks/pipeline_options.h"
#include "sinks/worker_thread.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
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

Pipeline::State::State(DatabaseFactory factory, LogTable table, PipelineOptions options)
    : factory_(std::move(factory)),
      table_(std::move(table)),
      options_(std::move(options)),
      clock_(*options_.clock),
      inbox_(inbox_options(options_), clock_),
      core_(core_options(options_, std::random_device()())),
      shipper_(Shipper(factory_, table_, random_writer()), inbox_) {}

std::shared_ptr<Pipeline::State> Pipeline::State::make(DatabaseFactory factory, LogTable table,
                                                       PipelineOptions options) {
  auto state = std::make_shared<State>(std::move(factory), std::move(table), std::move(options));
  ProcessRegistry::of_process().add(state);
  return state;
}

std::shared_ptr<Pipeline::State> Pipeline::State::start(DatabaseFactory factory, LogTable table,
                                                        PipelineOptions options) {
  auto state = make(std::move(factory), std::move(table), std::move(options));
  state->start_threads();
  state->self_ = state;
  return state;
}

std::shared_ptr<Pipeline::State> Pipeline::State::successor() const {
  auto state = make(factory_, table_, options_);
  state->self_ = state;
  if (is_closed_) {
    state->is_closed_ = true;
    state->stop({.stats = {.is_complete = true}});
  } else if (ProcessRegistry::has_inherited_connection()) {
    state->refuse("a database was in use when the process forked; this process does not log");
  } else {
    state->start_or_refuse();
  }
  return state;
}

bool Pipeline::State::is_of_this_process() const noexcept {
  return generation_ == ProcessRegistry::generation();
}

// What the handle calls.

Stats Pipeline::State::stats() const noexcept {
  Stats stats = scoreboard_.entry().stats;
  stats.after_close = inbox_.calls_after_close();
  stats.reentrant = inbox_.reentrant_calls();
  return stats;
}

Stats Pipeline::State::flush(milliseconds timeout) noexcept {
  if (inbox_.is_own_thread()) {  // It would wait for itself.
    Stats unsettled = stats();
    unsettled.is_complete = false;
    return unsettled;
  }
  const bool is_settled = scoreboard_.wait_for_flush(inbox_.request_flush(), bounded(timeout));
  const Scoreboard::Entry entry = scoreboard_.entry();
  Stats now = stats();
  // After a close nothing more is settled than its own account says.
  now.is_complete = is_settled && !entry.has_unreportable && (now.is_complete || !entry.is_final);
  return now;
}

Stats Pipeline::State::close(milliseconds timeout) noexcept {
  is_closed_ = true;
  inbox_.request_close(clock_.steady_now() + bounded(timeout));
  if (!inbox_.is_own_thread()) {
    const std::lock_guard lock(close_mutex_);  // A second caller waits for the first.
    join_threads();
  }
  return stats();
}

void Pipeline::State::let_go() noexcept {
  close(options_.close_timeout);
  if (inbox_.is_own_thread()) {  // A callback held the last reference: both finish by themselves.
    const std::unique_lock lock(close_mutex_, std::try_to_lock);
    if (lock && intake_thread_.joinable()) {
      intake_thread_.detach();
      shipper_.detach();
    }
  }
  self_.reset();
}

// Threads.

void Pipeline::State::start_threads() {
  const std::shared_ptr<State> self = shared_from_this();
  shipper_.start(self);
  try {
    intake_thread_ = start_worker_thread("spillway-intake", [self] { self->run_intake(); });
  } catch (...) {  // Thrown on once no thread is left behind.
    shipper_.finish();
    shipper_.join();
    throw;
  }
}

void Pipeline::State::start_or_refuse() noexcept {
  try {
    start_threads();
  } catch (const std::exception& error) {
    refuse(std::string("cannot start after a fork: ") + error.what());
  }
}

void Pipeline::State::join_threads() {
  if (intake_thread_.joinable()) {
    intake_thread_.join();
    is_shipper_stuck_ ? shipper_.detach() : shipper_.join();
  }
}

/// Takes no records from here on.
void Pipeline::State::stop(Scoreboard::Entry last) noexcept {
  inbox_.request_close(SteadyTime::min());
  last.is_final = true;
  scoreboard_.publish(last);
}

/// The same because something is missing.
void Pipeline::State::refuse(std::string_view why) noexcept {
  Scoreboard::Entry entry = scoreboard_.entry();
  entry.stats.is_complete = false;
  stop(entry);
  report(why);
}

// The end of the process: nobody will let go of the Pipeline any more.

void Pipeline::State::begin_exit() noexcept {
  is_exiting_ = true;
  exit_began_ = Clock::system().steady_now();
  inbox_.request_close(clock_.steady_now() + options_.close_timeout);
}

void Pipeline::State::end_exit() noexcept {
  if (inbox_.is_own_thread()) {
    const Stats left = stats();
    report("the process ends from within the log pipeline: about " +
           std::to_string(left.undecided()) + " records lost");
    return;
  }
  const auto waited = Clock::system().steady_now() - exit_began_;
  const bool is_final =
      scoreboard_.wait_until_final(options_.close_timeout + 2 * kStopGrace - waited);
  const std::unique_lock lock(close_mutex_, std::try_to_lock);
  if (is_final && lock) {  // Otherwise somebody else is waiting for them.
    join_threads();
  }
}

// The intake thread.

void Pipeline::State::run_intake() noexcept {
  inbox_.own_this_thread();
  try {
    while (!is_done_) {
      take_in(inbox_.wait(wake_at_));
    }
  } catch (...) {
    // There was no memory in the middle of a decision: the account can no longer be trusted, so
    // none is given from here on. The application goes on; its calls are counted as after close.
    shipper_.cancel();
    refuse("out of memory: the log pipeline has stopped");
  }
  shipper_.finish();
}

void Pipeline::State::take_in(Mail mail) {
  if (mail.answer) {
    abandon_at_.reset();
    step(*std::move(mail.answer));
  }
  if (!mail.records.is_empty()) {
    step(RecordsArrived{std::move(mail.records)});
  }
  for (const RecordsShed& shed : {mail.shed, mail.overrun}) {
    if (sum(shed.by_level) != 0) {
      step(shed);
    }
  }
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

void Pipeline::State::step(Event event) {
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

void Pipeline::State::abandon_if_stuck() {
  if (abandon_at_ && !is_done_ && clock_.steady_now() >= *abandon_at_) {
    is_shipper_stuck_ = true;
    step(SendDone{Status(StatusCode::kLost, "the database did not return"), ""});
  }
}

/// In a pause nothing is. Else a success is good for a moment, and so is an attempt that nothing
/// speaks against for all the time that it may take: one to a distant database takes longer.
SteadyTime Pipeline::State::worth_waiting_until() const noexcept {
  if (core_.is_paused(clock_.steady_now())) {
    return SteadyTime::min();
  }
  const SteadyTime healthy_until = core_.last_success().value_or(started_) + kHealthy;
  return std::max(healthy_until, core_.trusted_until().value_or(healthy_until));
}

void Pipeline::State::publish() {
  const QueueFill fill{.bytes = core_.queue().bytes(), .records = core_.queue().records()};
  inbox_.set_downstream(fill, worth_waiting_until());
  scoreboard_.publish({.stats = core_.stats(),
                       .settled_through = core_.settled_through(),
                       .flushes_seen = flushes_seen_,
                       .flush_target = flush_target_,
                       .has_unreportable = core_.has_unreportable(),
                       .is_final = is_done_});
}

void Pipeline::State::report(std::string_view line) const noexcept {
  try {
    // At the very end what the user's callback needs may be destroyed.
    const bool can_call = options_.on_diagnostic && !is_exiting_;
    can_call ? options_.on_diagnostic(line) : write_to_stderr(line);
  } catch (...) {  // The user's callback; the pipeline must not end because of it.
  }
}

}  // namespace spillway
