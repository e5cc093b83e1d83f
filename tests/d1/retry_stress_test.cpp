// SPDX-License-Identifier: MIT
//
// Goal: many threads may retry at once, and share a scope, tokens and an observer; and with the
// tokens a database of which most calls fail gets little more work from the retries.
// Method: 16 threads with 1,000 calls each on databases that fail 60 % of the attempts at random,
// and a sleeper that does not sleep.
#include <spillway/retrying_database.h>

#include <spillway/prepared_statement.h>

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/support/retry_fixture.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

constexpr int kThreads = 16;
constexpr int kCalls = 1'000;
constexpr double kFailing = 0.6;
constexpr std::uint64_t kSeed = 6;

class NoSleeper final : public Sleeper {
 public:
  [[nodiscard]] bool sleep(std::chrono::milliseconds, const std::stop_token&) noexcept override {
    return true;
  }
};

class UnluckyDatabase final : public Database {
 public:
  UnluckyDatabase(std::uint64_t seed, std::atomic<int>& attempts)
      : state_(seed), attempts_(attempts) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions&) override {
    ++attempts_;
    if (next_unit_random(state_) < kFailing) {
      return next_random(state_) % 2 == 0 ? internal_error() : too_many_requests();
    }
    return std::vector<StatementResult>(statements.size());
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {}; }

 private:
  std::uint64_t state_;
  std::atomic<int>& attempts_;
};

struct Outcome {
  int attempts = 0;
  int retries = 0;
  int succeeded = 0;
};

Outcome run(const std::shared_ptr<RetryTokens>& tokens) {
  std::atomic<int> attempts = 0;
  std::atomic<int> retries = 0;
  std::atomic<int> succeeded = 0;
  NoSleeper sleeper;
  const RetryScope scope(std::chrono::hours(1));
  const auto work = [&](std::uint64_t seed, std::shared_ptr<RetryBudget> budget) {
    const RetryScope handed(std::move(budget));
    const auto db = *RetryingDatabase::wrap(
        std::make_unique<UnluckyDatabase>(seed, attempts),
        {.on_retry = [&](const RetryEvent&) { ++retries; }, .tokens = tokens, .sleeper = &sleeper});
    for (int call = 0; call < kCalls; ++call) {
      succeeded += db->prepare("SELECT 1").all().has_value() ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(work, kSeed + static_cast<std::uint64_t>(i), RetryScope::current());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return {attempts, retries, succeeded};
}

double per_call(int count) { return static_cast<double>(count) / (kThreads * kCalls); }

void print(const char* name, const Outcome& outcome) {
  std::printf("%s: seed %llu, %.3f attempts per call, %.1f %% of the calls succeed\n", name,
              static_cast<unsigned long long>(kSeed), per_call(outcome.attempts),
              100 * per_call(outcome.succeeded));
}

TEST(RetryStress, WithoutTokensNearlyAllCallsSucceedAtTwiceTheWork) {
  const Outcome outcome = run(nullptr);
  print("without tokens", outcome);
  EXPECT_EQ(outcome.attempts, kThreads * kCalls + outcome.retries);
  EXPECT_NEAR(per_call(outcome.attempts), 1 + 0.6 + 0.36 + 0.216 + 0.1296, 0.05);
  EXPECT_NEAR(per_call(outcome.succeeded), 1 - 0.07776, 0.02);
}

TEST(RetryStress, WithTokensRetriesAddLittleWork) {
  const Outcome outcome = run(std::make_shared<RetryTokens>());
  print("with tokens", outcome);
  EXPECT_EQ(outcome.attempts, kThreads * kCalls + outcome.retries);
  EXPECT_LE(per_call(outcome.attempts), 1.4);
  EXPECT_GE(outcome.retries, 10);
  EXPECT_LE(outcome.retries, 10 + outcome.succeeded / 10 + 1);
}

}  // namespace
}  // namespace spillway::testing
