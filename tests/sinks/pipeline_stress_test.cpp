// SPDX-License-Identifier: MIT
//
// Goal: under many threads and a full queue the account stays exact, callers stay fast and memory
// stays bounded. Method: generators count what they hand over, the database counts what it takes,
// the table is read by another connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/sinks/pipeline_fixture.h"
#include "tests/support/sanitizers.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using PipelineStress = PipelineFixture;

/// Runs `body(thread number)` on `count` threads and waits for them.
template <typename Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(body, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Peak resident memory of this process, in bytes.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmHWM:", 0) == 0) {
      return std::strtoull(line.c_str() + 6, nullptr, 10) << 10U;
    }
  }
  return 0;
}

std::chrono::seconds flood_time() {
  const char* seconds =
      std::getenv("SPILLWAY_FLOOD_SECONDS");  // NOLINT(concurrency-mt-unsafe): before any thread.
  return std::chrono::seconds(seconds ? std::atoi(seconds) : 12);
}

TEST_F(PipelineStress, EightThreadsLoseNothingAndKeepTheirOrder) {
  constexpr int kThreads = 8;
  constexpr int kRecords = 5'000;
  auto pipeline = start();
  on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < kRecords; ++i) {
      log(*pipeline, Level::kInfo, std::to_string(thread) + " " + std::to_string(100'000 + i));
    }
  });
  const Stats stats = pipeline->close(60s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(user_rows(), kThreads * kRecords);
  // Within a thread the numbers rise as the messages do.
  EXPECT_EQ(number("SELECT count(*) FROM (SELECT message, lag(message) OVER "
                   "(PARTITION BY substr(message, 1, 1) ORDER BY seq) AS before FROM logs) "
                   "WHERE message <= before"),
            0);
}

TEST_F(PipelineStress, TwoPipelinesOnOneFileStoreEverything) {
  constexpr int kRecords = 50'000;
  auto first = start();
  auto second = start();
  on_threads(2, [&](int which) {
    Pipeline& pipeline = which == 0 ? *first : *second;
    for (int i = 0; i < kRecords; ++i) {
      pipeline.wait_for_room(user_record(Level::kInfo));
      log(pipeline, Level::kInfo);
    }
  });
  EXPECT_TRUE(first->close(60s).is_complete);
  EXPECT_TRUE(second->close(60s).is_complete);
  EXPECT_EQ(user_rows(), 2 * kRecords);
  EXPECT_EQ(number("SELECT count(DISTINCT writer) FROM logs"), 2);
}

TEST_F(PipelineStress, ClosingWhileEightThreadsLogCountsEveryCall) {
  for (int round = 0; round < 20; ++round) {
    auto pipeline = start();
    std::atomic<std::uint64_t> accepted = 0;
    std::atomic<std::uint64_t> calls = 0;
    std::atomic<bool> is_ended = false;
    std::thread closer([&] {
      while (calls < 2'000) {
        std::this_thread::yield();
      }
      pipeline->close(10s);
      is_ended = true;
    });
    on_threads(8, [&](int) {
      while (!is_ended) {
        accepted += log(*pipeline, Level::kInfo) ? 1 : 0;
        ++calls;
      }
    });
    closer.join();
    const Stats stats = pipeline->stats();
    expect_account_adds_up(stats);
    EXPECT_EQ(stats.issued + stats.after_close, calls);
    EXPECT_EQ(stats.stored + stats.skipped(), stats.issued);
    EXPECT_LE(accepted, stats.issued);
  }
}

TEST_F(PipelineStress, CallersStayFastWhileTheDatabaseHangs) {
  script->set_default(Outcome::block());
  auto pipeline = start();
  std::atomic<std::int64_t> longest_us = 0;
  const SteadyTime before = Clock::system().steady_now();
  on_threads(8, [&](int) {
    for (int i = 0; i < 10'000; ++i) {
      const SteadyTime begin = Clock::system().steady_now();
      log(*pipeline, i % 20 == 0 ? Level::kError : Level::kInfo);
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
          Clock::system().steady_now() - begin);
      std::int64_t seen = longest_us;
      while (seen < took.count() && !longest_us.compare_exchange_weak(seen, took.count())) {
      }
    }
  });
  EXPECT_LT(Clock::system().steady_now() - before, 5s);
  // An attempt hangs for 10 s; half a second is what a loaded machine may take from a thread.
  EXPECT_LT(longest_us, 500'000);
  pipeline->close(100ms);
}

TEST_F(PipelineStress, AFloodAgainstAHangingDatabaseIsBoundedInMemoryAndExactInTheAccount) {
  constexpr std::size_t kQueueBytes = std::size_t{8} << 20;
  constexpr int kPerMillisecond = 100;
  script->set_default(Outcome::block());
  auto pipeline = start({.queue_bytes_max = kQueueBytes});
  log(*pipeline, Level::kInfo);
  const std::size_t idle = peak_memory();

  std::uint64_t issued = 1;
  const SteadyTime begin = Clock::system().steady_now();
  const SteadyTime end = begin + flood_time();
  for (SteadyTime next = begin; next < end; next += 1ms) {
    for (int i = 0; i < kPerMillisecond; ++i) {
      log(*pipeline, i % 20 == 0 ? Level::kError : Level::kInfo,
          "a line of the length that lines of log files often have, with some detail at the end");
      ++issued;
    }
    std::this_thread::sleep_until(next + 1ms);
  }
  const std::size_t peak = peak_memory();
  script->set_default(Outcome::pass());
  script->release();
  const Stats stats = pipeline->close(60s);
  std::printf("flood: %llu records, idle %zu KiB, peak +%zu KiB, stored %llu, skipped %llu\n",
              static_cast<unsigned long long>(issued), idle >> 10U, (peak - idle) >> 10U,
              static_cast<unsigned long long>(stats.stored),
              static_cast<unsigned long long>(stats.skipped()));
  if (!kHasSanitizer) {
    EXPECT_LE(peak, idle + (std::size_t{24} << 20));
  }
  EXPECT_EQ(stats.issued, issued);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.attempts, script->attempts());
  EXPECT_EQ(user_rows(), static_cast<std::int64_t>(stats.stored));
  EXPECT_EQ(user_rows() + total_in_gap_rows(), static_cast<std::int64_t>(issued));
}

}  // namespace
}  // namespace spillway::testing
