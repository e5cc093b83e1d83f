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
// and
//   so `flush_on(err)`, wakes the sink and returns. Waiting is `flush(timeout)`.
// - Thread-safe: any number of threads and loggers may share one sink. There is no cheaper variant
//   for a single thread; database_sink_st is the same type, for those who look for it.
// - Synchronous loggers are the natural choice: an asynchronous one adds a second queue, which
// loses
//   records of its own accord. If you need it for other sinks, see `watch_overruns`.
// - The destructor sends what is left, for at most `close_timeout`. It runs when the last logger
// that
//   holds the sink goes: at spdlog::shutdown(), spdlog::drop_all(), or at the end of the program.
//   docs/lifecycle.md has a table of what is kept in each case, fork included.
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

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace spillway::sinks {

class database_sink final : public spdlog::sinks::sink {
 public:
  /// Logs into the database that `url` names (`sqlite:PATH`); the file is created if need be, its
  /// directory is not. Starts two threads and returns at once: the database is not touched before
  /// there is something to write, so a program starts also while it is locked, full or not there.
  /// What is wrong with it then is told on stderr, and mended without a restart.
  ///
  /// Throws spdlog::spdlog_ex when no waiting can help: the URL has no known form, an option is out
  /// of its bounds, or there is no thread to be had. The text names the thing and the way out.
  explicit database_sink(const std::string& url, PipelineOptions options = {})
      : database_sink(checked_factory(url), std::move(options)) {}

  /// The same with a database of your own making; see DatabaseFactory.
  explicit database_sink(DatabaseFactory factory, PipelineOptions options = {})
      : pipeline_(started(std::move(factory), std::move(options))) {}

  database_sink(const database_sink&) = delete;
  database_sink& operator=(const database_sink&) = delete;

  /// close(close_timeout), if `close` was not called.
  ~database_sink() override = default;

  /// Copies the record and returns. Any thread. After `close` it only counts the call; from within
  /// the sink's own work (a diagnostic callback that logs through this logger) too.
  void log(const spdlog::details::log_msg& message) noexcept override {
    note_overruns(message);
    pipeline_->accept({.time = std::chrono::floor<std::chrono::milliseconds>(message.time),
                       .level = level_of(message.level),
                       .context = view(message.logger_name),
                       .message = view(message.payload)});
  }

  /// Wakes the sink, so that what was logged so far goes without waiting for a fuller batch, and
  /// returns at once.
  void flush() noexcept override { static_cast<void>(flush(std::chrono::milliseconds(0))); }

  /// Returns when all that was logged before is in the table, or skipped and named there, at the
  /// latest after `timeout`: `is_complete` of the answer says which. See Pipeline::flush. Behind an
  /// asynchronous logger this is what has left that logger's queue.
  Stats flush(std::chrono::milliseconds timeout) noexcept { return pipeline_->flush(timeout); }

  /// Sends what is left and ends the threads, at the latest shortly after `timeout`. Later records
  /// are counted in `after_close`, and dropped. See Pipeline::close; a second call gives the same
  /// Stats.
  Stats close(std::chrono::milliseconds timeout) noexcept { return pipeline_->close(timeout); }

  /// The account as of the last event. Blocks for no I/O.
  [[nodiscard]] Stats stats() const noexcept { return pipeline_->stats(); }

  /// Behind asynchronous loggers of the policy overrun_oldest (or discard_new, where spdlog has it)
  /// the records that their queue loses never reach a sink. From now on what `pool` loses is
  /// counted here and becomes a gap row, `Async logger's queue overran, N skipped`, with the level
  /// UNKNOWN.
  ///
  ///   spdlog::init_thread_pool(8192, 1);
  ///   auto log = spdlog::create_async_nb<spillway::sinks::database_sink_mt>("app", url);
  ///   …sink->watch_overruns(spdlog::thread_pool());
  ///
  /// The pool counts for all its loggers together: let one sink watch it, and let that sink have no
  /// asynchronous loggers of another pool, whose threads could outlive this one. Do not reset the
  /// counter. Call it before the first record.
  template <typename ThreadPool>
  void watch_overruns(const std::shared_ptr<ThreadPool>& pool) {
    overruns_ = {.pool = pool, .counter_of = pool.get(), .count = &lost_by<ThreadPool>};
    overruns_seen_ = lost_by<ThreadPool>(pool.get());
  }

  /// Ignored: a row holds the payload, not a text made of it.
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  /// A pool of spdlog's, whose type is complete only where <spdlog/async.h> is included.
  struct Overruns {
    std::weak_ptr<void> pool = {};
    void* counter_of = nullptr;
    std::uint64_t (*count)(void*) = nullptr;
  };

  template <typename ThreadPool>
  static std::uint64_t lost_by(void* pool) {
    auto& counted = *static_cast<ThreadPool*>(pool);
    std::uint64_t lost = counted.overrun_counter();
    if constexpr (requires { counted.discard_counter(); }) {
      lost += counted.discard_counter();
    }
    return lost;
  }

  /// Asked on the pool's own threads only: to take a reference, as a thread of ours would have to,
  /// could make that the last one, and the pool would be destroyed where nobody expects it.
  void note_overruns(const spdlog::details::log_msg& message) noexcept {
    const std::size_t here = overruns_.count ? spdlog::details::os::thread_id() : message.thread_id;
    if (here == message.thread_id) {
      return;  // Nothing to watch, or a synchronous logger, on a thread that the pool may not
               // survive.
    }
    // While the pool is being destroyed its threads still write what is left in the queue.
    if (!overruns_.pool.expired()) {
      pool_thread_ = here;
    } else if (pool_thread_ != here) {
      return;
    }
    const std::uint64_t now = overruns_.count(overruns_.counter_of);
    std::uint64_t seen = overruns_seen_;
    while (now > seen && !overruns_seen_.compare_exchange_weak(seen, now)) {
    }
    if (now > seen) {
      const auto at = std::chrono::floor<std::chrono::milliseconds>(message.time);
      pipeline_->count_lost(now - seen, at, at);
    }
  }

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
    if (const Status status = check_url(url); !status.is_ok()) {
      spdlog::throw_spdlog_ex("spillway: " + status.message());
    }
    return [url] { return open(url, OpenMode::kCreate); };
  }

  static std::unique_ptr<Pipeline> started(DatabaseFactory factory, PipelineOptions options) {
    auto pipeline = Pipeline::start(std::move(factory), std::move(options));
    if (!pipeline) {
      spdlog::throw_spdlog_ex("spillway: " + pipeline.error().message());
    }
    return *std::move(pipeline);
  }

  Overruns overruns_;
  std::atomic<std::uint64_t> overruns_seen_{0};
  std::atomic<std::size_t> pool_thread_{0};
  const std::unique_ptr<Pipeline> pipeline_;
};

using database_sink_mt = database_sink;
using database_sink_st = database_sink;

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
