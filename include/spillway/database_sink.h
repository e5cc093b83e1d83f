// SPDX-License-Identifier: MIT
//
// database_sink_mt: an spdlog sink whose records survive an overloaded database. A program that
// logs through spdlog adds it beside its console and keeps its calls:
//
//   auto log = spillway::database_logger_mt("app", "sqlite:app-logs.db");
//   log->info("order {} placed", 42);
//
// or, beside sinks that are there already:
//
//   log->sinks().push_back(
//       std::make_shared<spillway::sinks::database_sink_mt>("sqlite:app-logs.db"));
//
// What becomes of a call: `log` copies the record into a queue and returns. Two threads of the
// sink's own bring it into the table, and while the database is overloaded they decide what is
// written and count what is not; <spillway/pipeline.h> says how, <spillway/stats.h> what is
// counted.
//
// - A row's context is the logger's name, its message the payload: a pattern is for text, and is
//   ignored. The level `off` of a message is stored as CRITICAL.
// - `log` never throws and never waits for the database, whatever that does. spdlog's `flush()`,
//   and so `flush_on(err)`, wakes the sink and returns. Waiting is `flush(timeout)`.
// - Not taken yet: the source location, and the MDC of newer spdlog.
// - Thread-safe: any number of threads and loggers may share one sink. There is no cheaper variant
//   for a single thread; database_sink_st is the same type, for those who look for it.
// - Synchronous loggers are the natural choice: an asynchronous one adds a second queue, which
//   loses records of its own accord. If you need it for other sinks, see `watch_overruns`.
// - The destructor sends what is left, for at most `close_timeout`. It runs when the last logger
//   that holds the sink goes: at spdlog::shutdown(), spdlog::drop_all(), or at the end of the
//   program. docs/lifecycle.md has a table of what is kept in each case, fork included.
//
// This header needs spdlog 1.10 or newer and nothing else of it: it is compiled with the spdlog of
// your program, header-only or not, and no type of spdlog or fmt crosses into the library.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/pipeline.h>
#include <spillway/record.h>
#include <spillway/stats.h>
#include <spillway/status.h>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/details/synchronous_factory.h>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace spillway::sinks {

/// What DatabaseSink::watch_overruns makes. It stands in the loggers of one pool and takes no
/// record: when one passes, it looks at how many the pool's queue has lost.
///
/// spdlog has no call for that, only the counter of the pool. Who may read it? A reference of ours
/// could be the last one, and the pool would be destroyed where nobody expects it. But the pool
/// joins its threads before it goes: on one of them, and so while it writes what is left in its
/// queue too, it is alive.
template <typename ThreadPool>
class OverrunWatch final : public spdlog::sinks::sink {
#ifdef SPDLOG_NO_THREAD_ID
  static_assert(sizeof(ThreadPool) == 0, "watch_overruns needs spdlog's thread ids");
#endif

 public:
  OverrunWatch(std::shared_ptr<Pipeline> pipeline, ThreadPool& pool)
      : pipeline_(std::move(pipeline)), pool_(pool), lost_(lost_so_far()) {}

  void log(const spdlog::details::log_msg& message) noexcept override {
    // A message from this very thread comes from a synchronous logger, where the watch does not
    // belong: the pool may be gone.
    if (message.thread_id != spdlog::details::os::thread_id()) {
      note(std::chrono::floor<std::chrono::milliseconds>(message.time));
    }
  }
  /// Nothing to do: whatever a full queue loses, records are left in it that are still to pass.
  void flush() noexcept override {}

  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  /// All threads of the pool may be here at once: each counts what the others have not.
  void note(WallTime time) noexcept {
    const WallTime before = last_.exchange(time);
    const std::uint64_t now = lost_so_far();
    std::uint64_t seen = lost_;
    while (seen < now && !lost_.compare_exchange_weak(seen, now)) {
    }
    if (seen < now) {
      pipeline_->count_lost(now - seen, std::min(before, time), time);
    }
  }

  [[nodiscard]] std::uint64_t lost_so_far() const {
    std::uint64_t lost = pool_.overrun_counter();
    if constexpr (requires { pool_.discard_counter(); }) {  // spdlog 1.13 and newer.
      lost += pool_.discard_counter();
    }
    return lost;
  }

  const std::shared_ptr<Pipeline> pipeline_;
  ThreadPool& pool_;
  std::atomic<std::uint64_t> lost_;
  std::atomic<WallTime> last_ = Clock::system().wall_now();  ///< Of the record that passed before.
};

class DatabaseSink final : public spdlog::sinks::sink {
 public:
  /// Logs into the database that `url` names: `sqlite:PATH`, or `d1://ACCOUNT_ID/DATABASE_ID` with
  /// the token of CLOUDFLARE_API_TOKEN. A file is created if need be, its directory is not; a
  /// relative path means the directory that the process is in now, also after a chdir. Starts two
  /// threads and returns at once: the database is not touched before there is something to write,
  /// so a program starts also while it is locked, full or not there. What is wrong with it then is
  /// told on stderr, and mended without a restart.
  ///
  /// Throws spdlog::spdlog_ex when no waiting can help: the URL has no known form, there is no
  /// token for D1, an option is out of its bounds, or there is no thread to be had. The text names
  /// the thing and the way out.
  explicit DatabaseSink(const std::string& url, PipelineOptions options = {})
      : DatabaseSink(checked_factory(url), std::move(options)) {}

  /// The same with a database of your own making, see DatabaseFactory, or with a token file:
  ///
  ///   database_sink_mt(*database_factory(url, OpenMode::kCreate, {.token_file = "…"}))
  explicit DatabaseSink(DatabaseFactory factory, PipelineOptions options = {})
      : pipeline_(started(std::move(factory), std::move(options))) {}

  DatabaseSink(const DatabaseSink&) = delete;
  DatabaseSink& operator=(const DatabaseSink&) = delete;

  /// close(close_timeout), if `close` was not called.
  ~DatabaseSink() override = default;

  /// Copies the record and returns. Any thread. After `close` it only counts the call; from within
  /// the sink's own work (a Database or a diagnostic callback that logs through this logger) too.
  /// Behind an asynchronous logger such a call comes on another thread, and is a record like any.
  void log(const spdlog::details::log_msg& message) noexcept override {
    pipeline_->accept({.time = std::chrono::floor<std::chrono::milliseconds>(message.time),
                       .level = level_of(message.level),
                       .context = view(message.logger_name),
                       .message = view(message.payload)});
  }

  /// The same for a record that may have fields, such as a Logger's (logger_spdlog.h).
  void accept(const RecordView& record) noexcept { pipeline_->accept(record); }

  /// Wakes the sink, so that what was logged so far goes without waiting for a fuller batch, and
  /// returns at once.
  void flush() noexcept override { static_cast<void>(flush(std::chrono::milliseconds(0))); }

  /// Returns when all that was logged before is in the table, or skipped and named there, at the
  /// latest after `timeout`: `is_complete` of the answer says which. See Pipeline::flush. Behind an
  /// asynchronous logger this is what has left that logger's queue.
  Stats flush(std::chrono::milliseconds timeout) noexcept { return pipeline_->flush(timeout); }

  /// Sends what is left and ends the threads, at the latest shortly after `timeout`. Later records
  /// are counted in `after_close`, and dropped. See Pipeline::close; a second call gives the
  /// account again.
  Stats close(std::chrono::milliseconds timeout) noexcept { return pipeline_->close(timeout); }

  /// The account as of the last event. Blocks for no I/O.
  [[nodiscard]] Stats stats() const noexcept { return pipeline_->stats(); }

  /// For asynchronous loggers of the policy overrun_oldest (or discard_new, where spdlog has it):
  /// the records that their queue loses never reach a sink. Put what this returns beside the sink,
  /// and from now on what `pool` loses is counted and becomes a gap row, `Async logger's queue
  /// overran, N skipped`, with the level UNKNOWN.
  ///
  ///   auto pool = std::make_shared<spdlog::details::thread_pool>(8192, 1);
  ///   auto sink = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:app-logs.db");
  ///   auto log = std::make_shared<spdlog::async_logger>(
  ///       "app", spdlog::sinks_init_list{sink, sink->watch_overruns(pool)}, pool,
  ///       spdlog::async_overflow_policy::overrun_oldest);
  ///
  /// It belongs into asynchronous loggers of this pool and nowhere else. The pool counts for all of
  /// them together, a lost `flush()` as a record: let one sink watch it, in each logger of the
  /// pool. A loss is seen when the next record passes, so one stays untold when after it only
  /// flushes are left in the queue, or records logged by the pool's own threads. Do not reset the
  /// pool's counter. The watch keeps the sink's threads going as the sink does. Throws
  /// spdlog::spdlog_ex when `pool` is null.
  template <typename ThreadPool>
  [[nodiscard]] std::shared_ptr<spdlog::sinks::sink> watch_overruns(
      const std::shared_ptr<ThreadPool>& pool) {
    if (pool == nullptr) {
      spdlog::throw_spdlog_ex(
          "spillway: watch_overruns needs a thread pool; call spdlog::init_thread_pool before");
    }
    return std::make_shared<OverrunWatch<ThreadPool>>(pipeline_, *pool);
  }

  /// Ignored: a row holds the payload, not a text made of it.
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  static std::string_view view(spdlog::string_view_t text) noexcept {
    return {text.data(), text.size()};
  }

  static Level level_of(spdlog::level::level_enum level) noexcept {
    switch (level) {
      case spdlog::level::trace:
        return Level::kTrace;
      case spdlog::level::debug:
        return Level::kDebug;
      case spdlog::level::info:
        return Level::kInfo;
      case spdlog::level::warn:
        return Level::kWarn;
      case spdlog::level::err:
        return Level::kError;
      default:
        return Level::kCritical;
    }
  }

  static DatabaseFactory checked_factory(const std::string& url) {
    auto factory = database_factory(url, OpenMode::kCreate);
    if (!factory) {
      spdlog::throw_spdlog_ex("spillway: " + factory.error().message());
    }
    return *std::move(factory);
  }

  static std::unique_ptr<Pipeline> started(DatabaseFactory factory, PipelineOptions options) {
    auto pipeline = Pipeline::start(std::move(factory), std::move(options));
    if (!pipeline) {
      spdlog::throw_spdlog_ex("spillway: " + pipeline.error().message());
    }
    return *std::move(pipeline);
  }

  const std::shared_ptr<Pipeline> pipeline_;  ///< Shared with the watches alone.
};

/// The names that spdlog's users look for.
using database_sink_mt = DatabaseSink;
using database_sink_st = DatabaseSink;

}  // namespace spillway::sinks

namespace spillway {

/// A logger that has one database sink, registered in spdlog under `name`, in spdlog's manner:
///
///   auto log = spillway::database_logger_mt("app", "sqlite:app-logs.db");
///
/// Throws spdlog::spdlog_ex as the sink's constructor does, and when a logger of that name exists.
template <typename Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger> database_logger_mt(const std::string& name, const std::string& url,
                                                   PipelineOptions options = {}) {
  return Factory::template create<sinks::database_sink_mt>(name, url, std::move(options));
}

/// The same: there is only one kind of database sink.
template <typename Factory = spdlog::synchronous_factory>
std::shared_ptr<spdlog::logger> database_logger_st(const std::string& name, const std::string& url,
                                                   PipelineOptions options = {}) {
  return database_logger_mt<Factory>(name, url, std::move(options));
}

}  // namespace spillway
