// SPDX-License-Identifier: MIT
#include <spillway/pipeline.h>

#include "base/one_line.h"
#include "sinks/inbox.h"
#include "sinks/pipeline_core.h"
#include "sinks/scoreboard.h"
#include "sinks/shipper.h"
#include "sinks/worker_thread.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <iomanip>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <stop_token>
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
std::int64_t random_writer(std::random_device& device) {
  constexpr std::uint64_t kBits53 = (std::uint64_t{1} << 53U) - 1;
  const std::uint64_t high = device();
  const std::uint64_t bits = (high << 32U | device()) & kBits53;
  return static_cast<std::int64_t>(std::max<std::uint64_t>(bits, 1));
}

struct Bound {
  const char* option;
  long double value;
  long double min;
  long double max;
};

long double as_number(milliseconds duration) { return static_cast<long double>(duration.count()); }
long double as_number(std::size_t size) { return static_cast<long double>(size); }

Status check(const PipelineOptions& options) {
  constexpr long double kHour = 3'600'000;
  const Bound bounds[] = {
      {"overload.write_pause", as_number(options.overload.write_pause), 1, kHour},
      {"overload.error_interval", as_number(options.overload.error_interval), 1, kHour},
      {"close_timeout", as_number(options.close_timeout), 0, kHour},
      {"queue_bytes_max", as_number(options.queue_bytes_max), 64 << 10, 16.0L * (1 << 30)},
      {"queue_records_max", as_number(options.queue_records_max), 100, 2147483648.0L},
      {"batch_rows_max", as_number(options.batch_rows_max), 1, 100'000},
      {"batch_bytes_max", as_number(options.batch_bytes_max), 1'000, 2'000'000},
      {"batch_age_max", as_number(options.batch_age_max), 0, 60'000},
      {"attempt_timeout", as_number(options.attempt_timeout), 10, 600'000},
  };
  for (const Bound& bound : bounds) {
    if (bound.value < bound.min || bound.value > bound.max) {
      std::ostringstream text;
      text << std::fixed << std::setprecision(0) << bound.option << " is " << bound.value
           << "; it must be from " << bound.min << " to " << bound.max;
      return Status(StatusCode::kInvalidArgument, text.str());
    }
  }
  return options.clock ? Status() : Status(StatusCode::kInvalidArgument, "clock is null");
}

CoreOptions core_options(const PipelineOptions& options, std::uint64_t seed) {
  return {.overload = options.overload,
          .batch_rows_max = options.batch_rows_max,
          .batch_bytes_max = options.batch_bytes_max,
          .batch_age_max = options.batch_age_max,
          .attempt_timeout = options.attempt_timeout,
          .seed = seed};
}

InboxOptions inbox_options(const PipelineOptions& options) {
  // Of a batch, so that the next one is collected while one is sent.
  constexpr std::size_t kPart = 4;
  return {.limit = {.bytes = options.queue_bytes_max, .records = options.queue_records_max},
          .wake_records = std::max<std::size_t>(options.batch_rows_max / kPart, 1),
          .wake_bytes = options.batch_bytes_max / kPart,
          .collect_max = options.batch_age_max};
}

}  // namespace

/// Shared by the Pipeline and its two threads. The intake thread owns `core_` and what is around
/// it.
class Pipeline::State : public std::enable_shared_from_this<State> {
 public:
  State(DatabaseFactory factory, LogTable table, PipelineOptions options, std::int64_t writer,
        std::uint64_t seed)
      : options_(std::move(options)),
        clock_(*options_.clock),
        inbox_(inbox_options(options_), clock_),
        core_(core_options(options_, seed)),
        shipper_(std::move(factory), std::move(table), writer) {}

  void start_threads() {
    const std::shared_ptr<State> self = shared_from_this();
    shipper_thread_ = start_worker_thread("spillway-ship", [self] { self->run_shipper(); });
    try {
      intake_thread_ = start_worker_thread("spillway-intake", [self] { self->run_intake(); });
    } catch (...) {  // Thrown on once no thread is left behind.
      end_shipper();
      throw;
    }
  }

  Inbox& inbox() { return inbox_; }

  Stats stats() const {
    Stats stats = scoreboard_.entry().stats;
    stats.after_close = inbox_.calls_after_close();
    return stats;
  }

  Stats flush(milliseconds timeout) {
    const std::uint64_t request = inbox_.request_flush();
    const bool is_settled = scoreboard_.wait_for_flush(request, bounded(timeout));
    const Scoreboard::Entry entry = scoreboard_.entry();
    Stats now = stats();
    // After a close nothing more is settled than its own account says.
    now.is_complete = is_settled && !entry.has_unreportable && (now.is_complete || !entry.is_final);
    return now;
  }

  Stats close(milliseconds timeout) {
    inbox_.request_close(clock_.steady_now() + bounded(timeout));
    const std::lock_guard lock(close_mutex_);  // A second caller waits for the first.
    if (intake_thread_.joinable()) {
      intake_thread_.join();
      end_shipper();
    }
    return stats();
  }

  milliseconds close_timeout() const { return options_.close_timeout; }

 private:
  // The intake thread.

  void run_intake() noexcept {
    try {
      while (!is_done_) {
        take_in(inbox_.wait(wake_at_));
      }
    } catch (...) {
      stop_for_good();
    }
  }

  /// There was no memory in the middle of a decision: the account can no longer be trusted, so none
  /// is given from here on. The application goes on; its calls are counted as after close.
  void stop_for_good() noexcept {
    is_done_ = true;
    inbox_.request_close(SteadyTime::min());
    cancel_.request_stop();
    Scoreboard::Entry entry = scoreboard_.entry();
    entry.is_final = true;
    entry.stats.is_complete = false;
    scoreboard_.publish(entry);
    report("out of memory: the log pipeline has stopped");
  }

  void take_in(Mail mail) {
    if (mail.answer) {
      abandon_at_.reset();
      step(*std::move(mail.answer));
    }
    if (!mail.records.is_empty()) {
      step(RecordsArrived{std::move(mail.records)});
    }
    if (sum(mail.shed.by_level) != 0) {
      step(mail.shed);
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

  void step(Event event) {
    Actions actions = core_.step(std::move(event), clock_.steady_now());
    if (actions.send) {
      post_send(*std::move(actions.send));
    }
    if (actions.cancel_send && !abandon_at_) {
      cancel_.request_stop();
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

  // The shipper thread, and how the intake thread talks to it.

  void post_send(Send send) {
    const std::lock_guard lock(shipper_mutex_);
    to_send_ = std::move(send);
    shipper_wakes_.notify_one();
  }

  void run_shipper() {
    while (std::optional<Send> send = next_send()) {
      inbox_.answer(shipper_.ship(*send, cancel_.get_token()));
    }
  }

  std::optional<Send> next_send() {
    std::unique_lock lock(shipper_mutex_);
    shipper_wakes_.wait(lock, [this] { return to_send_ || is_shipper_ended_; });
    return std::exchange(to_send_, std::nullopt);
  }

  void end_shipper() {
    {
      const std::lock_guard lock(shipper_mutex_);
      is_shipper_ended_ = true;
      shipper_wakes_.notify_one();
    }
    // A stuck thread keeps this State alive until it comes back.
    is_shipper_stuck_ ? shipper_thread_.detach() : shipper_thread_.join();
  }

  const PipelineOptions options_;
  const Clock& clock_;
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

  Shipper shipper_;  // Of the shipper thread.
  std::stop_source cancel_;
  std::mutex shipper_mutex_;
  std::condition_variable shipper_wakes_;
  std::optional<Send> to_send_;
  bool is_shipper_ended_ = false;

  std::mutex close_mutex_;
  std::thread shipper_thread_;
  std::thread intake_thread_;
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
    std::random_device device;
    auto state = std::make_shared<State>(std::move(factory), *std::move(table), std::move(options),
                                         random_writer(device), device());
    state->start_threads();
    return std::unique_ptr<Pipeline>(new Pipeline(std::move(state)));
  } catch (const std::exception& error) {  // No thread, no memory, no randomness.
    return Status(StatusCode::kInternal, std::string("cannot start: ") + error.what());
  }
}

Pipeline::Pipeline(std::shared_ptr<State> state) : state_(std::move(state)) {}

Pipeline::~Pipeline() { state_->close(state_->close_timeout()); }

bool Pipeline::accept(const RecordView& record) noexcept { return state_->inbox().accept(record); }

void Pipeline::wait_for_room(const RecordView& record) noexcept {
  state_->inbox().wait_for_room(record);
}

Stats Pipeline::flush(milliseconds timeout) noexcept { return state_->flush(timeout); }

Stats Pipeline::close(milliseconds timeout) noexcept { return state_->close(timeout); }

Stats Pipeline::stats() const noexcept { return state_->stats(); }

}  // namespace spillway
