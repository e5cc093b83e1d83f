// SPDX-License-Identifier: MIT
//
// CoreDriver: turns the crank of a PipelineCore in a test. Time is a number that the test sets; the
// database is a function that answers each attempt, or a table in memory behind it.
#pragma once

#include <gtest/gtest.h>

#include "sinks/pipeline_core.h"
#include "tests/support/scripted_database.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

inline Status busy() { return Status(StatusCode::kOverload, "database is locked"); }
inline Status refused_as_overloaded() {
  return Status(StatusCode::kOverload, "D1 DB is overloaded. Too many requests queued.");
}
inline Status queued_too_long() {
  return Status(StatusCode::kOverload, "D1 DB is overloaded. Requests queued for too long.")
      .with_execution(Execution::kMaybe);
}
/// Of D1, while a database is exported.
inline Status exporting() {
  return Status(StatusCode::kTransient, "Currently processing a long-running export.")
      .with_lasting();
}
inline Status answer_lost() { return Status(StatusCode::kLost, "Network connection lost."); }

/// The rows of `logs`, by their key: what is sent twice is there once.
class MemoryTable {
 public:
  /// A trigger that ignores such rows, from now on.
  void keep_out(std::function<bool(const Record&)> is_kept_out) {
    is_kept_out_ = std::move(is_kept_out);
  }
  void insert(const std::vector<Record>& rows) {
    for (const Record& row : rows) {
      if (!is_kept_out_(row)) {
        rows_.emplace(std::pair(row.time, row.seq), row);
      }
    }
  }
  /// What the comparison after an insert of these rows finds.
  [[nodiscard]] std::vector<std::int64_t> missing(const std::vector<Record>& rows) const {
    std::vector<std::int64_t> seqs;
    for (const Record& row : rows) {
      if (is_kept_out_(row)) {
        seqs.push_back(row.seq);
      }
    }
    return seqs;
  }
  [[nodiscard]] std::vector<Record> in_order() const {
    std::vector<Record> rows;
    for (const auto& [key, row] : rows_) {
      rows.push_back(row);
    }
    return rows;
  }
  [[nodiscard]] std::vector<Record> gap_rows() const { return rows_of(true); }
  [[nodiscard]] std::vector<Record> user_rows() const { return rows_of(false); }

 private:
  [[nodiscard]] std::vector<Record> rows_of(bool is_gap) const {
    std::vector<Record> rows;
    for (const Record& row : in_order()) {
      if ((row.context == "spillway") == is_gap) {
        rows.push_back(row);
      }
    }
    return rows;
  }
  std::map<std::pair<WallTime, std::int64_t>, Record> rows_;
  std::function<bool(const Record&)> is_kept_out_ = [](const Record&) { return false; };
};

class CoreDriver {
 public:
  /// Answers an attempt; empty: the answer is still to come, by answer().
  using DatabaseFunction = std::function<std::optional<Status>(const std::vector<Record>&)>;

  struct Attempt {
    milliseconds at;
    std::vector<Record> rows;
    LockWait lock_wait;
    milliseconds deadline;
  };

  explicit CoreDriver(CoreOptions options = {}) : core_(options) {}

  /// What the database says of itself with each answer. By default it is called SQLite and says
  /// nothing else.
  void database_is(DatabaseTraits traits) { traits_ = std::move(traits); }
  /// How many requests each attempt takes from now on.
  void attempts_take(int requests) { requests_ = requests; }

  /// What the database does from now on. The default stores everything.
  void database(DatabaseFunction function) { database_ = std::move(function); }
  void database_stores() {
    database([](const auto&) { return Status(); });
  }
  void database_fails(Status status) {
    database([status](const auto&) { return status; });
  }
  void database_hangs() {
    database([](const auto&) { return std::nullopt; });
  }

  /// Lets time go by until `time`, waking the core whenever it asked for it.
  void run_until(milliseconds time) {
    while (wake_at_ && *wake_at_ <= at(time)) {
      now_ = std::max(now_, *wake_at_);
      step(Tick{});
    }
    now_ = at(time);
  }

  /// Goes to `time` and logs a record there, with the wall time that belongs to it.
  void log(milliseconds time, Level level, std::string_view message = "message") {
    run_until(time);
    RecordsArrived arrived;
    arrived.records.push(
        {.time = wall(time), .level = level, .context = "app", .message = message});
    step(std::move(arrived));
  }
  void log(milliseconds time, Level level, int count) {
    run_until(time);
    RecordsArrived arrived;
    for (int i = 0; i < count; ++i) {
      arrived.records.push({.time = wall(time), .level = level, .context = "app", .message = "m"});
    }
    step(std::move(arrived));
  }
  void shed(milliseconds time, Level level, std::uint64_t count) {
    run_until(time);
    RecordsShed shed{.from = wall(time), .to = wall(time)};
    shed.by_level[static_cast<std::size_t>(level)] = count;
    step(shed);
  }
  void overrun(milliseconds time, std::uint64_t count) {
    run_until(time);
    RecordsShed lost{.reason = GapReason::kOverrun, .from = wall(time), .to = wall(time)};
    lost.by_level[kUnknownLevel] = count;
    step(lost);
  }
  void flush() { step(FlushRequested{}); }
  void close(milliseconds timeout) { step(CloseRequested{now_ + timeout}); }
  void answer(Status status) { step(done(std::move(status))); }

  /// A fork cuts the attempt short.
  void interrupt(Execution execution) {
    SendDone interrupted =
        done(Status(StatusCode::kCancelled, "cancelled").with_execution(execution));
    interrupted.is_interrupted = true;
    step(std::move(interrupted));
  }

  /// One wake or event; follows the answers of a database that answers at once.
  void step(Event event) {
    std::optional<Event> next = step_once(std::move(event));
    while (next) {
      next = step_once(*std::exchange(next, std::nullopt));
    }
  }

  [[nodiscard]] PipelineCore& core() { return core_; }
  [[nodiscard]] Stats stats() const { return core_.stats(); }
  [[nodiscard]] MemoryTable& table() { return table_; }
  [[nodiscard]] const std::vector<Attempt>& attempts() const { return attempts_; }
  [[nodiscard]] const std::vector<std::string>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// An attempt has got no answer yet.
  [[nodiscard]] bool is_in_flight() const { return is_in_flight_; }
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }
  [[nodiscard]] std::optional<milliseconds> wake_at() const {
    return wake_at_ ? std::optional(as_time(*wake_at_)) : std::nullopt;
  }
  [[nodiscard]] milliseconds now() const { return as_time(now_); }

  /// The times of all attempts so far.
  [[nodiscard]] std::vector<milliseconds> attempt_times() const {
    std::vector<milliseconds> times;
    for (const Attempt& attempt : attempts_) {
      times.push_back(attempt.at);
    }
    return times;
  }

  [[nodiscard]] static WallTime wall(milliseconds time) {
    return WallTime(1'787'898'912'000ms + time);  // 2026-08-28T06:35:12Z
  }
  [[nodiscard]] static std::uint64_t count(const LevelCounts& counts, Level level) {
    return counts[static_cast<std::size_t>(level)];
  }

 private:
  /// Gives the answer of a database that answers at once.
  std::optional<Event> step_once(Event event) {
    is_in_flight_ = is_in_flight_ && !std::holds_alternative<SendDone>(event);
    Actions actions = core_.step(std::move(event), now_);
    is_in_flight_ = is_in_flight_ || actions.send;
    wake_at_ = actions.wake_at;
    is_done_ = is_done_ || actions.is_done;
    is_cancelled_ = is_cancelled_ || actions.cancel_send;
    diagnostics_.insert(diagnostics_.end(), actions.diagnostics.begin(), actions.diagnostics.end());
    expect_account_adds_up();
    return actions.send ? carry_out(*actions.send) : std::nullopt;
  }

  static SteadyTime at(milliseconds time) { return SteadyTime(time); }
  static milliseconds as_time(SteadyTime time) {
    return std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  }

  std::optional<Event> carry_out(const Send& send) {
    attempts_.push_back({as_time(now_), *send.rows, send.lock_wait, as_time(send.deadline)});
    const std::optional<Status> status = database_(*send.rows);
    if (!status) {
      return std::nullopt;
    }
    if (status->is_ok()) {
      table_.insert(*send.rows);
    }
    return done(*status);
  }

  [[nodiscard]] SendDone done(Status status) const {
    return {.status = std::move(status),
            .database = traits_ ? traits_->name : "SQLite",
            .traits = traits_,
            .requests = requests_,
            .inserted = {.missing = table_.missing(attempts_.back().rows)}};
  }

  void expect_account_adds_up() const {
    const Stats stats = core_.stats();
    EXPECT_EQ(stats.issued, stats.stored + stats.queued + stats.in_flight + stats.in_doubt +
                                stats.skipped() + stats.spooled + stats.dead_lettered);
  }

  PipelineCore core_;
  DatabaseFunction database_ = [](const auto&) { return Status(); };
  std::optional<DatabaseTraits> traits_;
  int requests_ = 1;
  SteadyTime now_{};
  std::optional<SteadyTime> wake_at_;
  MemoryTable table_;
  std::vector<Attempt> attempts_;
  std::vector<std::string> diagnostics_;
  bool is_done_ = false;
  bool is_cancelled_ = false;
  bool is_in_flight_ = false;
};

}  // namespace spillway::testing
