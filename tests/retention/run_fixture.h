// SPDX-License-Identifier: MIT
//
// What tests of whole runs share: a database of any kind with a log table in it, a clock that
// starts at the real time (ages are measured by the database's, too) and moves only when a run
// sleeps, and a Database in between that fails as told.
#pragma once

#include "retention/run.h"

#include <spillway/clock.h>
#include <spillway/sleeper.h>
#include <spillway/testing/recording_sleeper.h>

#include "base/time_text.h"
#include "d1/exact_integer.h"
#include "table/log_schema.h"
#include "tests/contract/database_source.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::retention {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

/// The machine's clock, by which databases go, too; only that what was slept on it took no time.
class SkippingClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const noexcept override { return Clock::system().wall_now(); }
  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return Clock::system().steady_now() + skipped_.steady_now().time_since_epoch();
  }
  [[nodiscard]] Sleeper& sleeper() noexcept { return sleeper_; }
  /// Lets time pass without a sleep.
  void pass(milliseconds time) noexcept { skipped_.advance(time); }
  [[nodiscard]] std::vector<milliseconds> slept() const { return sleeper_.slept(); }

 private:
  testing::FakeClock skipped_;  // Begins at 0.
  testing::RecordingSleeper sleeper_{skipped_};
};

/// Hands everything on, unless `before` or `after` it has a failure to say.
class FaultyDatabase final : public Database {
 public:
  using Fault = std::function<Status(std::span<const Statement>)>;

  explicit FaultyDatabase(Database& inner) : inner_(inner) {}
  void fail_before(Fault fault) { before_ = std::move(fault); }
  void fail_after(Fault fault) { after_ = std::move(fault); }

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    if (const Status status = before_ ? before_(statements) : Status(); !status.is_ok()) {
      return status;
    }
    auto results = inner_.execute(statements, options);
    const Status status = after_ ? after_(statements) : Status();
    return status.is_ok() ? std::move(results) : status;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

 private:
  Database& inner_;
  Fault before_;
  Fault after_;
};

inline bool does_delete(std::span<const Statement> statements) {
  return statements.size() > 1 && statements[1].sql.starts_with("DELETE");
}

class RunTest : public testing::DatabaseContract {
 protected:
  void SetUp() override {
    DatabaseContract::SetUp();
    now = clock.wall_now();
  }

  void make_log_table() { ASSERT_TRUE(status_of(create_statements("logs")).is_ok()); }

  /// One row; each has a seq of its own.
  void add(WallTime time, const std::string& level = "INFO") { add_text(time_text(time), level); }
  void add_text(const std::string& time, const std::string& level = "INFO") {
    add_rows(1, time, level);
  }
  void add_rows(int count, WallTime time, const std::string& level = "INFO") {
    add_rows(count, time_text(time), level);
  }
  void add_rows(int count, const std::string& time, const std::string& level) {
    const std::string first = std::to_string(rows_made_ + 1);
    rows_made_ += count;
    ASSERT_TRUE(status_of({{"WITH RECURSIVE n(i) AS (SELECT " + first +
                            " UNION ALL SELECT i + 1 FROM n WHERE i < " +
                            std::to_string(rows_made_) + ") INSERT INTO logs SELECT '" + time +
                            "', 1, i, '" + level + "', 'app', 'text', NULL FROM n"}})
                    .is_ok());
  }
  /// `count` rows a minute apart, the last one at `until`.
  void add_minutes(int count, WallTime until, const std::string& level = "INFO") {
    ASSERT_TRUE(
        status_of({{"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                    std::to_string(count - 1) +
                    ") INSERT INTO logs SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', " +
                    std::to_string(until.time_since_epoch().count() / 1000) +
                    " - 60 * i, 'unixepoch'), 2, i, '" + level + "', 'app', 'text', NULL FROM n"}})
            .is_ok());
  }

  std::int64_t number(const std::string& sql) { return exact_integer(value_of(sql)).value_or(-1); }
  std::int64_t count(const std::string& where = "true") {
    return number("SELECT count(*) FROM logs WHERE " + where);
  }

  /// At `now`, unless the options say otherwise.
  Report run_on(Database& on, RunOptions options) {
    options.now = options.now.value_or(now);
    return retention::run(on, options,
                          World{.clock = clock,
                                .sleeper = clock.sleeper(),
                                .stop = stop.get_token(),
                                .owner = "test:" + std::to_string(++runs_),
                                .random = [] { return 0.5; }});
  }
  Report run_with(const RunOptions& options) { return run_on(*database, options); }

  static Policy keep(int days) { return {.keep = hours(24) * days}; }
  WallTime days_ago(int days) const { return now - hours(24) * days; }

  SkippingClock clock;
  std::stop_source stop;
  WallTime now;

 private:
  int rows_made_ = 0;
  int runs_ = 0;
};

}  // namespace spillway::retention
