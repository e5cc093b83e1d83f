// SPDX-License-Identifier: MIT
//
// Goal: a call through spdlog stays fast whatever the database does, flush_on included, and a close
// amid calls ends in time with every call counted. Method: eight threads log through one logger
// while the file is locked, the database hangs or refuses, or the sink is closed; each call is
// timed or counted, and compared with the account.
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/d1/raw_sqlite.h"
#include "tests/sinks/spdlog_fixture.h"
#include "tests/support/sanitizers.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kThreads = 8;

SteadyTime now() { return Clock::system().steady_now(); }

double as_ms(nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

template <typename Body>
std::vector<std::thread> start_threads(Body body) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(body);
  }
  return threads;
}

void join(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// The time of a call.

struct CallTimes {
  nanoseconds together{0};
  nanoseconds longest{0};
};

/// The longest of `calls` calls, every twentieth of them an ERROR.
nanoseconds longest_of(spdlog::logger& log, int calls) {
  nanoseconds longest{0};
  for (int i = 0; i < calls; ++i) {
    const SteadyTime before = now();
    log.log(i % 20 == 0 ? spdlog::level::err : spdlog::level::info, "order {} of {} placed", i,
            calls);
    longest = std::max<nanoseconds>(longest, now() - before);
  }
  return longest;
}

CallTimes time_calls(spdlog::logger& log, int calls) {
  std::latch ready(kThreads + 1);
  std::atomic<nanoseconds> longest = nanoseconds(0);
  auto threads = start_threads([&] {
    ready.arrive_and_wait();
    const nanoseconds mine = longest_of(log, calls / kThreads);
    nanoseconds seen = longest;
    while (seen < mine && !longest.compare_exchange_weak(seen, mine)) {
    }
  });
  ready.arrive_and_wait();
  const SteadyTime before = now();
  join(threads);
  return {.together = now() - before, .longest = longest};
}

class DatabaseSinkStress : public SpdlogFixture {
 protected:
  static constexpr int kCalls = 10'000;

  /// Calls through `sink` while the database is as `what` says. What other work of the machine
  /// takes from a call only adds to it, so one of three times has to be good. Gives the number of
  /// calls.
  static int expect_fast_calls(const std::shared_ptr<Sink>& sink, const std::string& what) {
    auto log = logger_of({sink});
    log->flush_on(spdlog::level::err);
    for (int calls = kCalls;; calls += kCalls) {
      const CallTimes times = time_calls(*log, kCalls);
      std::printf("%s: %d calls from %d threads in %.1f ms, the longest %.2f ms\n", what.c_str(),
                  kCalls, kThreads, as_ms(times.together), as_ms(times.longest));
      const bool is_good = times.together < 1s && times.longest < 50ms;
      if (is_good || kHasSanitizer || calls == 3 * kCalls) {
        EXPECT_TRUE(is_good || kHasSanitizer);
        return calls;
      }
    }
  }

  static void expect_every_call_counted(const Stats& stats, int calls) {
    EXPECT_EQ(stats.issued, static_cast<std::uint64_t>(calls));
    EXPECT_EQ(stats.stored + stats.skipped() + stats.in_doubt, stats.issued);
  }
};

TEST_F(DatabaseSinkStress, CallsAreFastWhileTheFileIsLocked) {
  RawSqlite other(directory.path("logs.db"));
  ASSERT_EQ(other.exec("CREATE TABLE held(x); BEGIN EXCLUSIVE"), SQLITE_OK);
  auto sink = make_sink();
  const int calls = expect_fast_calls(sink, "locked");
  ASSERT_EQ(other.exec("COMMIT"), SQLITE_OK);
  const Stats stats = sink->close(30s);
  expect_every_call_counted(stats, calls);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(user_rows() + total_in_gap_rows(), calls);
}

TEST_F(DatabaseSinkStress, CallsAreFastWhileTheDatabaseHangs) {
  script->set_default(Outcome::block());
  auto sink = make_sink();
  const int calls = expect_fast_calls(sink, "hanging");
  expect_every_call_counted(sink->close(100ms), calls);
}

// Closing amid calls.

struct ClosedRound {
  std::uint64_t calls = 0;
  Stats stats;
  nanoseconds took{0};
};

/// Eight threads log, and go on for a while after the sink is closed.
ClosedRound close_amid_calls(const std::shared_ptr<sinks::database_sink_mt>& sink,
                             spdlog::logger& log) {
  constexpr std::uint64_t kCallsBefore = 400;
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<bool> is_over = false;
  const SteadyTime begin = now();
  auto threads = start_threads([&] {
    for (int i = 0; !is_over; ++i) {
      log.log(i % 20 == 0 ? spdlog::level::err : spdlog::level::info, "record");
      ++calls;
      std::this_thread::yield();
    }
  });
  while (calls < kCallsBefore) {
    std::this_thread::yield();
  }
  const Stats closed = sink->close(1s);
  is_over = true;
  join(threads);
  const nanoseconds took = now() - begin;
  const Stats stats = sink->stats();
  EXPECT_EQ(stats.issued, closed.issued) << "after close nothing is issued";
  return {.calls = calls, .stats = stats, .took = took};
}

class ClosingStress : public SpdlogFixture {
 protected:
  ~ClosingStress() override {
    std::printf("%d rounds, the longest %.1f ms\n", rounds, as_ms(longest));
    RecordProperty("longest_round_ms", std::to_string(as_ms(longest)));
    if (!kHasSanitizer) {
      EXPECT_LT(longest, 3s);
    }
  }

  Stats play(const std::shared_ptr<Sink>& sink) {
    auto log = logger_of({sink});
    log->flush_on(spdlog::level::err);
    const ClosedRound round = close_amid_calls(sink, *log);
    const Stats& stats = round.stats;
    EXPECT_EQ(stats.stored + stats.skipped() + stats.in_doubt + stats.after_close, round.calls);
    expect_account_adds_up(stats);
    longest = std::max(longest, round.took);
    ++rounds;
    return stats;
  }

  int rounds = 0;
  nanoseconds longest{0};
};

TEST_F(ClosingStress, TwoHundredRoundsIntoAFile) {
  std::uint64_t stored = 0;
  for (int round = 0; round < 200; ++round) {
    stored += play(make_sink()).stored;
  }
  EXPECT_EQ(user_rows(), static_cast<std::int64_t>(stored));
}

TEST_F(ClosingStress, RoundsWithADatabaseThatRefusesAndLosesAnswers) {
  const Status busy(StatusCode::kOverload, "database is locked");
  const Status lost(StatusCode::kLost, "no answer came");
  for (int round = 0; round < 50; ++round) {
    const bool loses = round % 10 == 0;  // What is lost is sent again only after 0.2 s.
    script->add({Outcome::refuse(busy), Outcome::pass(),
                 loses ? Outcome::lose(lost) : Outcome::refuse(busy)});
    play(make_sink({.overload = {.write_pause = 2ms, .error_interval = 1ms}}));
  }
}

TEST_F(ClosingStress, RoundsWithADatabaseThatHangs) {
  script->set_default(Outcome::block());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(play(make_sink()).stored, 0U);
  }
}

}  // namespace
}  // namespace spillway::testing
