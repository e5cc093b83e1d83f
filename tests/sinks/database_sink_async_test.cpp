// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/async.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/spdlog.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/sinks/spdlog_fixture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using Pool = spdlog::details::thread_pool;
using PoolPtr = std::shared_ptr<Pool>;

constexpr std::size_t kQueue = 16;
constexpr int kBurst = 200;

/// Holds up every thread that logs into it until it is opened.
class GateSink final : public spdlog::sinks::sink {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// Returns when a thread is held up; false if that takes longer than `timeout`.
  [[nodiscard]] bool await_arrival(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return has_arrived_; });
  }
  /// Returns when `count` records are through; false if that takes longer than `timeout`.
  [[nodiscard]] bool await(std::uint64_t count, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return passed_ >= count; });
  }

  void log(const spdlog::details::log_msg&) override {
    std::unique_lock lock(mutex_);
    has_arrived_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
    ++passed_;
    changed_.notify_all();
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t passed_ = 0;
  bool has_arrived_ = false;
  bool is_open_ = false;
};

class DatabaseSinkAsync : public SpdlogFixture {
 protected:
  static PoolPtr make_pool(std::size_t threads) { return std::make_shared<Pool>(kQueue, threads); }

  static std::shared_ptr<spdlog::logger> overrunning_logger(spdlog::sinks_init_list sinks,
                                                            const PoolPtr& pool) {
    return std::make_shared<spdlog::async_logger>("app", sinks, pool,
                                                  spdlog::async_overflow_policy::overrun_oldest);
  }

  static void burst(spdlog::logger& log, int calls = kBurst) {
    for (int i = 0; i < calls; ++i) {
      log.info("record {}", i);
    }
  }

  /// Destroys the pool while it still has to write nearly all that is in its queue.
  static void shut_down_at_once(PoolPtr pool, const std::shared_ptr<GateSink>& gate) {
    std::thread opener([gate, watched = std::weak_ptr<Pool>(pool)] {
      while (!watched.expired()) {
        std::this_thread::yield();
      }
      gate->open();
    });
    pool.reset();
    opener.join();
  }
};

TEST_F(DatabaseSinkAsync, ALoggerOfTheFactoryStoresEverything) {
  spdlog::init_thread_pool(kQueue, 1);
  auto log = database_logger_mt<spdlog::async_factory>("async", url());
  burst(*log, 5'000);
  log.reset();
  spdlog::shutdown();
  EXPECT_EQ(user_rows(), 5'000);
}

TEST_F(DatabaseSinkAsync, WhatTheQueueLosesBecomesOneGapRow) {
  auto sink = make_sink();
  auto gate = std::make_shared<GateSink>();
  auto pool = make_pool(1);
  auto log = overrunning_logger({sink, sink->watch_overruns(pool), gate}, pool);
  log->info("the first");
  ASSERT_TRUE(gate->await_arrival(30s));
  burst(*log);
  const std::uint64_t lost = pool->overrun_counter();
  ASSERT_EQ(lost, kBurst - kQueue);
  gate->open();
  EXPECT_TRUE(gate->await(1 + kQueue, 30s));
  EXPECT_TRUE(sink->flush(30s).is_complete);

  const std::vector<LogRow> gaps = gap_rows();
  ASSERT_EQ(gaps.size(), 1U);
  const std::string count = std::to_string(lost);
  EXPECT_EQ(gaps[0].level, "WARN");
  EXPECT_EQ(gaps[0].message, "Async logger's queue overran, " + count + " skipped");
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("reason":"overrun")"));
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("skipped":{"UNKNOWN":)" + count + "}"));
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 1 + kBurst);
  // The lost ones came after a record that stands before them and before one that stands behind.
  EXPECT_EQ(number("SELECT fields ->> 'from' >= (SELECT min(created_at) FROM logs) AND "
                   "fields ->> 'to' <= (SELECT max(created_at) FROM logs) FROM logs "
                   "WHERE context = 'spillway'"),
            1);
}

TEST_F(DatabaseSinkAsync, NothingLostGivesNoGapRow) {
  auto sink = make_sink();
  auto pool = make_pool(1);
  auto log = overrunning_logger({sink, sink->watch_overruns(pool)}, pool);
  burst(*log, static_cast<int>(kQueue));
  pool.reset();
  EXPECT_EQ(sink->close(30s).stored, kQueue);
  EXPECT_TRUE(gap_rows().empty());
}

TEST_F(DatabaseSinkAsync, LossesAreCountedWhenThePoolIsShutDownAtOnce) {
  constexpr int kRounds = 25;
  auto sink = make_sink();
  std::int64_t calls = 0;
  for (const std::size_t threads : {1U, 2U, 3U}) {
    for (int round = 0; round < kRounds; ++round) {
      auto gate = std::make_shared<GateSink>();
      auto pool = make_pool(threads);
      auto log = overrunning_logger({gate, sink, sink->watch_overruns(pool)}, pool);
      burst(*log);
      calls += kBurst;
      ASSERT_GT(pool->overrun_counter(), 0U);
      shut_down_at_once(std::move(pool), gate);
    }
    EXPECT_TRUE(sink->flush(30s).is_complete);
    EXPECT_EQ(user_rows() + total_in_gap_rows(), calls) << threads << " pool threads";
  }
}

TEST_F(DatabaseSinkAsync, LossesOfManyCallersAndTwoPoolThreadsAreCountedOnce) {
  auto sink = make_sink();
  auto pool = make_pool(2);
  auto log = overrunning_logger({sink, sink->watch_overruns(pool)}, pool);
  std::thread other([&log] { burst(*log, 5'000); });
  burst(*log, 5'000);
  other.join();
  pool.reset();
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 10'000);
}

TEST_F(DatabaseSinkAsync, AFlushCommandInTheQueueHidesNoLoss) {
  auto sink = make_sink();
  auto gate = std::make_shared<GateSink>();
  auto pool = make_pool(1);
  auto log = overrunning_logger({gate, sink, sink->watch_overruns(pool)}, pool);
  burst(*log);
  log->flush();
  log->flush();
  const std::uint64_t lost = pool->overrun_counter();
  shut_down_at_once(std::move(pool), gate);
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(total_in_gap_rows(), static_cast<std::int64_t>(lost));
  EXPECT_EQ(user_rows() + total_in_gap_rows(), kBurst);
}

TEST_F(DatabaseSinkAsync, LossesBehindARecordThatTheSinksLevelKeepsOutAreCounted) {
  auto sink = make_sink();
  sink->set_level(spdlog::level::err);
  auto gate = std::make_shared<GateSink>();
  auto pool = make_pool(1);
  auto log = overrunning_logger({gate, sink, sink->watch_overruns(pool)}, pool);
  burst(*log);
  const std::uint64_t lost = pool->overrun_counter();
  shut_down_at_once(std::move(pool), gate);
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(total_in_gap_rows(), static_cast<std::int64_t>(lost));
}

TEST_F(DatabaseSinkAsync, LossesAfterCloseAreCountedWithTheCalls) {
  auto sink = make_sink();
  auto gate = std::make_shared<GateSink>();
  auto pool = make_pool(1);
  auto log = overrunning_logger({gate, sink, sink->watch_overruns(pool)}, pool);
  burst(*log);
  sink->close(30s);
  shut_down_at_once(std::move(pool), gate);
  EXPECT_EQ(sink->stats().after_close, kBurst);
}

TEST_F(DatabaseSinkAsync, SynchronousLoggersMayShareTheSinkAndGoOnWhenThePoolIsGone) {
  auto sink = make_sink();
  auto pool = make_pool(1);
  auto watch = sink->watch_overruns(pool);
  auto async = overrunning_logger({sink, watch}, pool);
  auto sync = logger_of({sink}, "sync");
  auto mistaken = logger_of({sink, watch}, "mistaken");
  burst(*async, static_cast<int>(kQueue));
  burst(*sync);
  burst(*mistaken);
  pool.reset();
  burst(*sync);
  burst(*mistaken);
  mistaken->flush();
  EXPECT_EQ(sink->close(30s).stored, kQueue + 4 * kBurst);
}

/// Stands for the pool of a newer spdlog, and knows how often it was asked.
struct CountedPool {
  std::size_t overrun_counter() {
    ++asked;
    return overrun;
  }
  [[nodiscard]] std::size_t discard_counter() const { return discarded; }

  std::size_t overrun = 0;
  std::size_t discarded = 0;
  int asked = 0;
};

/// As if another thread had logged it.
spdlog::details::log_msg foreign_message(std::chrono::seconds time = 0s) {
  spdlog::details::log_msg message(spdlog::log_clock::time_point(time), {}, "app",
                                   spdlog::level::info, "record");
  message.thread_id += 1;
  return message;
}

TEST_F(DatabaseSinkAsync, DiscardedRecordsCountAsWell) {
  auto sink = make_sink();
  auto pool = std::make_shared<CountedPool>(CountedPool{.overrun = 7, .discarded = 7});
  auto watch = sink->watch_overruns(pool);
  pool->overrun += 2;
  pool->discarded += 3;
  watch->log(foreign_message());
  watch->log(foreign_message());
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(total_in_gap_rows(), 5) << "what was lost before the watch is not counted";
}

/// Loses one more whenever it is asked.
struct RisingPool {
  std::size_t overrun_counter() { return ++overrun; }
  std::atomic<std::size_t> overrun{0};
};

TEST_F(DatabaseSinkAsync, ThreadsThatSeeTheSameLossCountItOnce) {
  auto sink = make_sink();
  auto pool = std::make_shared<RisingPool>();
  auto watch = sink->watch_overruns(pool);
  const auto before = static_cast<std::int64_t>(pool->overrun);
  const auto look = [&watch] {
    for (int i = 0; i < 5'000; ++i) {
      watch->log(foreign_message());
    }
  };
  std::array threads = {std::thread(look), std::thread(look), std::thread(look)};
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(total_in_gap_rows(), static_cast<std::int64_t>(pool->overrun) - before);
}

TEST_F(DatabaseSinkAsync, AGapReachesFromTheRecordBeforeItToTheOneBehindIt) {
  auto sink = make_sink();
  auto pool = std::make_shared<CountedPool>();
  auto watch = sink->watch_overruns(pool);
  watch->log(foreign_message(10s));
  pool->overrun += 5;
  watch->log(foreign_message(20s));
  watch->log(foreign_message(30s));
  EXPECT_TRUE(sink->close(30s).is_complete);
  const std::vector<LogRow> gaps = gap_rows();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("from":"1970-01-01T00:00:10.000Z")"));
  EXPECT_THAT(gaps[0].fields, HasSubstr(R"("to":"1970-01-01T00:00:20.000Z")"));
}

TEST_F(DatabaseSinkAsync, ASynchronousLoggerNeverAsksThePool) {
  auto sink = make_sink();
  auto pool = std::make_shared<CountedPool>();
  auto watch = sink->watch_overruns(pool);
  const int asked = pool->asked;
  auto log = logger_of({sink, watch});
  log->flush_on(spdlog::level::info);
  burst(*log);
  EXPECT_EQ(pool->asked, asked);
}

TEST_F(DatabaseSinkAsync, WithoutAPoolThereIsNothingToWatch) {
  auto sink = make_sink();
  try {
    static_cast<void>(sink->watch_overruns(PoolPtr()));
    FAIL() << "nothing was thrown";
  } catch (const spdlog::spdlog_ex& error) {
    EXPECT_THAT(error.what(), HasSubstr("watch_overruns needs a thread pool"));
  }
}

TEST_F(DatabaseSinkAsync, TheWatchOfADroppedSinkStillCounts) {
  auto sink = make_sink();
  auto gate = std::make_shared<GateSink>();
  auto pool = make_pool(1);
  auto log = overrunning_logger({gate, sink->watch_overruns(pool)}, pool);
  sink.reset();
  burst(*log);
  const std::uint64_t lost = pool->overrun_counter();
  log.reset();
  shut_down_at_once(std::move(pool), gate);  // The last record takes the watch with it.
  EXPECT_EQ(total_in_gap_rows(), static_cast<std::int64_t>(lost));
}

}  // namespace
}  // namespace spillway::testing
