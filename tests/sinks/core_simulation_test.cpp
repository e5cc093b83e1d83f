// SPDX-License-Identifier: MIT
//
// Goal: whatever the database does, every record is stored exactly once or named in a count.
// Method: each seed draws its own mix of faults and tiny limits, plays an hour of logging against a
// table in memory, heals, and compares what was issued with what is in the table, never with the
// core's own counters alone.
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/sinks/core_driver.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace spillway::testing {
namespace {

/// SPILLWAY_SEEDS asks for a longer search.
std::uint64_t seeds() {
  const char* asked = std::getenv("SPILLWAY_SEEDS");  // NOLINT(concurrency-mt-unsafe): one thread.
  return asked ? std::strtoull(asked, nullptr, 10) : 400;
}

std::uint64_t number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\"" + name + "\":");
  return at == std::string::npos ? 0
                                 : std::strtoull(text.c_str() + at + name.size() + 3, nullptr, 10);
}

/// The paths that a run must take now and then, or else it proves little.
struct Sightings {
  int in_doubt = 0;
  int in_flight = 0;
  int held_error = 0;
  int refused = 0;
  int two_reasons = 0;
  int shed = 0;
  int unfinished_close = 0;
  int retry_after = 0;
  int overrun = 0;
  int interrupted = 0;
  int lasting = 0;
  int held_back = 0;
  int took_last = 0;
  int kept_out = 0;
};

/// Watches from outside that a request rate is kept: a bucket that leaks.
class RateWatch {
 public:
  explicit RateWatch(RequestRate rate) : rate_(rate) {}

  /// An attempt that takes `requests` begins. `may_take_last`: it tells of an ERROR.
  void on_attempt(milliseconds now, int requests, bool may_take_last, Sightings& seen) {
    if (rate_.per_second <= 0) {
      return;
    }
    const double seconds = std::chrono::duration<double>(now - last_).count();
    level_ = std::max(0.0, level_ - seconds * rate_.per_second);
    last_ = now;
    const double room = rate_.burst - level_;
    constexpr double kRounding = 0.02;  // Times here are in milliseconds.
    EXPECT_GE(room + kRounding, may_take_last || rate_.burst == 1 ? 1 : 2);
    seen.took_last += room < 1.5 && rate_.burst > 1 ? 1 : 0;
    seen.held_back += room < 2.1 ? 1 : 0;
    level_ += requests;
  }

 private:
  RequestRate rate_;
  double level_ = 0;
  milliseconds last_{0};
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Sightings& seen)
      : random_(seed),
        options_(draw_options(seed)),
        driver_(options_),
        seen_(seen),
        faults_(draw(11)),
        failure_rate_(draw(100)),
        requests_(static_cast<int>(1 + draw(2))),
        watch_(options_.request_rate.value_or(traits_of(seed).rate)) {
    driver_.database_is(traits_of(seed));
    driver_.attempts_take(requests_);
    driver_.table().keep_out([this](const Record& row) {
      const bool is_kept_out =
          kept_out_every_ != 0 && row.seq % kept_out_every_ == 0 && row.context != "spillway";
      seen_.kept_out += is_kept_out ? 1 : 0;
      return is_kept_out;
    });
    driver_.database([this](const std::vector<Record>& rows) {
      watch_.on_attempt(driver_.now(), requests_, is_closing_ || tells_of_error(rows), seen_);
      return answer_or_keep(rows);
    });
  }

  void run() {
    Sightings& seen = seen_;
    milliseconds time = 0ms;
    while (time < 3600s) {
      time += milliseconds(draw(draw(4) == 0 ? 20'000 : 900));
      one_event(time, seen);
    }
    const bool heals = draw(4) != 0;
    if (heals) {
      failure_rate_ = 0;
      poison_every_ = 0;
      run_with_answers_until(time + 2h);
    }
    is_closing_ = true;
    driver_.close(5s);
    run_with_answers_until(driver_.now() + 10s);
    seen.unfinished_close += driver_.stats().is_complete ? 0 : 1;
    check(heals);
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return next_random(random_) % below; }

  static CoreOptions draw_options(std::uint64_t seed) {
    std::uint64_t random = ~seed;
    CoreOptions options;
    options.seed = seed;
    if (next_random(random) % 2 == 0) {
      options.overload = {.write_pause = milliseconds(1 + next_random(random) % 60'000),
                          .error_interval = milliseconds(1 + next_random(random) % 20'000)};
    }
    options.batch_rows_max = 1 + next_random(random) % 40;
    options.batch_bytes_max = 1'000 + next_random(random) % 4'000;
    if (next_random(random) % 3 == 0) {
      options.request_rate = RequestRate{1 + static_cast<double>(next_random(random) % 30) / 10,
                                         static_cast<int>(1 + next_random(random) % 6)};
      options.batch_rows_max += 10;  // Or the backlog of the hour would take days.
    }
    return options;
  }

  static DatabaseTraits traits_of(std::uint64_t seed) {
    return seed % 2 == 0 ? d1_traits() : DatabaseTraits{.name = "SQLite"};
  }

  /// The rows do, or bring nearer one that waits behind them or is still to be named.
  bool tells_of_error(const std::vector<Record>& rows) {
    const LevelCounts pending = driver_.stats().skipped_pending;
    return driver_.core().queue().errors() > 0 || driver_.count(pending, Level::kError) > 0 ||
           driver_.count(pending, Level::kCritical) > 0 ||
           std::any_of(rows.begin(), rows.end(),
                       [](const Record& row) { return row.level >= Level::kError; });
  }

  /// A third of the answers come later, so that all else also happens while an attempt is in
  /// flight.
  std::optional<Status> answer_or_keep(const std::vector<Record>& rows) {
    const Status status = respond(rows);
    if (draw(3) != 0) {
      return status;
    }
    late_answer_ = status;
    late_rows_ = rows;
    return std::nullopt;
  }

  void give_late_answer() {
    if (!late_answer_) {
      return;
    }
    Status status = *std::exchange(late_answer_, std::nullopt);
    if (!status.is_ok() && draw(4) == 0) {
      ++interruptions_;
      driver_.interrupt(status.execution());
      return;
    }
    if (status.is_ok()) {
      driver_.table().insert(late_rows_);
    } else if (driver_.is_cancelled() && draw(2) == 0) {
      status = Status(StatusCode::kCancelled, "cancelled").with_execution(status.execution());
    }
    driver_.answer(status);
  }

  void run_with_answers_until(milliseconds end) {
    while (driver_.now() < end || late_answer_) {
      driver_.run_until(std::max(driver_.now(), std::min(end, driver_.now() + 5s)));
      give_late_answer();
    }
  }

  void one_event(milliseconds time, Sightings& seen) {
    if (late_answer_ && draw(3) == 0) {
      driver_.run_until(time);
      give_late_answer();
    }
    const auto level = static_cast<Level>(draw(kLevelCount));
    switch (draw(11)) {
      case 0:
        driver_.shed(time, level, 1 + draw(5));
        seen.shed += 1;
        break;
      case 1:
        driver_.overrun(time, 1 + draw(5));
        seen.overrun += 1;
        break;
      case 2:
        driver_.run_until(time);
        driver_.flush();
        break;
      default:
        driver_.log(time, level, static_cast<int>(1 + draw(6)));
    }
    const Stats stats = driver_.stats();
    seen.in_flight += stats.in_flight > 0 ? 1 : 0;
    seen.in_doubt += stats.in_doubt > 0 ? 1 : 0;
    seen.held_error += driver_.core().is_paused(SteadyTime(time)) && stats.queued == 1 ? 1 : 0;
    seen.refused += refusals_ > 0 ? 1 : 0;
    seen.interrupted += interruptions_ > 0 ? 1 : 0;
    seen.retry_after += retry_afters_ > 0 ? 1 : 0;
    seen.two_reasons += reasons_.size() > 1 ? 1 : 0;
    seen.lasting += lastings_ > 0 ? 1 : 0;
  }

  Status respond(const std::vector<Record>& rows) {
    for (const Record& row : rows) {
      if (poison_every_ != 0 && row.seq % poison_every_ == 0 && row.context != "spillway") {
        ++refusals_;
        return Status(draw(2) == 0 ? StatusCode::kConstraint : StatusCode::kTooBig, "refused");
      }
    }
    if (draw(100) >= failure_rate_) {
      return Status();
    }
    Status status = draw_failure();
    reasons_.insert(status.code());
    if (status.execution() == Execution::kMaybe && draw(2) == 0) {
      driver_.table().insert(rows);
    }
    if (draw(20) == 0) {
      ++retry_afters_;
      status = status.with_retry_after(milliseconds(draw(100'000)));
    }
    return status;
  }

  Status draw_failure() {
    constexpr StatusCode kCodes[] = {
        StatusCode::kOverload,  StatusCode::kOverload, StatusCode::kLost,
        StatusCode::kTransient, StatusCode::kInternal, StatusCode::kRateLimited,
        StatusCode::kSchema,    StatusCode::kAuth,     StatusCode::kStorageFull,
        StatusCode::kPermanent, StatusCode::kQuota};
    // Swarm: a run sees only some of the kinds, so that rare ones are not always drowned by pauses.
    Status status(kCodes[draw(1 + faults_)], "scripted");
    if (draw(10) == 0) {
      ++lastings_;
      status = status.with_lasting();
    }
    return draw(3) == 0 ? status.with_execution(Execution::kMaybe) : status;
  }

  void check(bool healed) {
    const Stats stats = driver_.stats();
    std::uint64_t in_gap_rows = 0;
    std::set<std::int64_t> seqs;
    for (const Record& row : driver_.table().in_order()) {
      EXPECT_TRUE(seqs.insert(row.seq).second) << "seq " << row.seq << " is there twice";
      if (row.context == "spillway") {
        in_gap_rows += number_after(row.fields, "total");
        EXPECT_NE(row.message.find(std::to_string(number_after(row.fields, "total")) + " skipped"),
                  std::string::npos);
      }
    }
    const std::uint64_t user_rows = driver_.table().user_rows().size();
    EXPECT_TRUE(driver_.is_done());
    EXPECT_EQ(stats.queued + stats.in_flight, 0U);
    // What is in doubt may be in the table or not; all else is exact.
    EXPECT_GE(user_rows, stats.stored);
    EXPECT_LE(user_rows, stats.stored + stats.in_doubt);
    EXPECT_GE(in_gap_rows, sum(stats.skipped_reported));
    EXPECT_GE(driver_.table().gap_rows().size(), stats.own);
    if (healed) {
      EXPECT_TRUE(stats.is_complete);
      EXPECT_EQ(user_rows + in_gap_rows, stats.issued);
      EXPECT_EQ(user_rows + in_gap_rows + stats.own,
                static_cast<std::uint64_t>(driver_.core().last_seq()))
          << "every number is a row, or named in one";
    }
  }

  std::uint64_t random_;
  CoreOptions options_;
  CoreDriver driver_;
  Sightings& seen_;
  std::uint64_t faults_;
  std::uint64_t failure_rate_;
  std::int64_t poison_every_ = static_cast<std::int64_t>(draw(3) == 0 ? 1 + draw(300) : 0);
  std::int64_t kept_out_every_ = static_cast<std::int64_t>(draw(3) == 0 ? 1 + draw(300) : 0);
  int requests_;
  RateWatch watch_;
  bool is_closing_ = false;
  std::optional<Status> late_answer_;
  std::vector<Record> late_rows_;
  int refusals_ = 0;
  int retry_afters_ = 0;
  int interruptions_ = 0;
  int lastings_ = 0;
  std::set<StatusCode> reasons_;
};

TEST(CoreSimulation, EveryRecordIsStoredOnceOrNamedInACount) {
  Sightings seen;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation(seed, seen).run();
    if (HasFailure()) {
      break;
    }
  }
  for (const int sighting :
       {seen.in_doubt, seen.in_flight, seen.held_error, seen.refused, seen.two_reasons, seen.shed,
        seen.unfinished_close, seen.retry_after, seen.overrun, seen.interrupted, seen.lasting,
        seen.held_back, seen.took_last, seen.kept_out}) {
    EXPECT_GE(sighting, static_cast<int>(seeds() / 100));
  }
}

TEST(CoreSimulation, TheSameSeedGivesTheSameRun) {
  const auto play = [] {
    CoreDriver driver({.seed = 7});
    driver.database_fails(answer_lost());
    driver.log(0ms, Level::kError);
    driver.run_until(10s);
    return driver.attempt_times();
  };
  EXPECT_EQ(play(), play());
}

}  // namespace
}  // namespace spillway::testing
