// SPDX-License-Identifier: MIT
#include <spillway/retry_policy.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <vector>

namespace spillway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr double kHighest = 0x1.fffffffffffffp-1;  // The last number below 1.

// All waits of an operation that fails to the end.
std::vector<milliseconds::rep> delays_of(const RetryPolicy& policy, double random) {
  std::vector<milliseconds::rep> delays;
  for (int attempt = 1; attempt < policy.attempts_max; ++attempt) {
    delays.push_back(policy.delay_after(attempt, random).count());
  }
  return delays;
}

TEST(RetryPolicy, PanelWaitsAsPublishedWithinHalfOfItEitherWay) {
  const RetryPolicy panel = RetryPolicy::panel();
  EXPECT_THAT(delays_of(panel, 0), ElementsAre(100, 300, 750, 1500));
  EXPECT_THAT(delays_of(panel, 0.5), ElementsAre(200, 600, 1500, 3000));
  EXPECT_THAT(delays_of(panel, kHighest), ElementsAre(300, 900, 2250, 4500));
  EXPECT_EQ(panel.writes, RetryWrites::kNever);
}

TEST(RetryPolicy, ExecutorDoublesWithinAFifthEitherWay) {
  const RetryPolicy executor = RetryPolicy::executor();
  EXPECT_THAT(delays_of(executor, 0), ElementsAre(160, 320, 640, 1280));
  EXPECT_THAT(delays_of(executor, 0.5), ElementsAre(200, 400, 800, 1600));
  EXPECT_THAT(delays_of(executor, kHighest), ElementsAre(240, 480, 960, 1920));
  EXPECT_EQ(executor.writes, RetryWrites::kWhenNotExecuted);
}

TEST(RetryPolicy, ExecutorWaitsForThreePointSixSecondsAtWorst) {
  const auto delays = delays_of(RetryPolicy::executor(), kHighest);
  EXPECT_EQ(std::accumulate(delays.begin(), delays.end(), milliseconds::rep(0)), 3600);
}

TEST(RetryPolicy, ExecutorStopsGrowingAtTwoSeconds) {
  const RetryPolicy executor = RetryPolicy::executor();
  EXPECT_EQ(executor.delay_after(5, 0), milliseconds(1600));
  EXPECT_EQ(executor.delay_after(5, 0.5), milliseconds(2000));
  EXPECT_EQ(executor.delay_after(5, kHighest), milliseconds(2000));
}

TEST(RetryPolicy, SessionReadWaitsExactlyAsPublished) {
  for (const double random : {0.0, 0.5, kHighest}) {
    EXPECT_THAT(delays_of(RetryPolicy::session_read(), random), ElementsAre(150, 500, 1500, 3000));
  }
  EXPECT_EQ(RetryPolicy::session_read().writes, RetryWrites::kNever);
}

TEST(RetryPolicy, NoneHasOneAttempt) {
  EXPECT_EQ(RetryPolicy::none().attempts_max, 1);
  EXPECT_EQ(RetryPolicy::none().writes, RetryWrites::kNever);
}

TEST(RetryPolicy, TheLastOfTheListHoldsForAllThatFollow) {
  const RetryPolicy panel = RetryPolicy::panel();
  for (const int attempt : {4, 5, 10'000, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(panel.delay_after(attempt, 0.5), milliseconds(3000)) << attempt;
  }
}

// An exponent that overflows has made hot loops out of back-offs, after 22 to 64 attempts.
TEST(RetryPolicy, NeverOverflowsNorShrinksWhateverTheAttempt) {
  for (const milliseconds base : {milliseconds(1), milliseconds(200), milliseconds(hours(1))}) {
    for (const milliseconds cap : {milliseconds(seconds(1)), milliseconds(hours(24))}) {
      const RetryPolicy policy{.initial = base, .cap = cap};
      const milliseconds least = std::min(base, cap);
      milliseconds before(0);
      for (int attempt = 0; attempt <= 10'000; ++attempt) {
        const milliseconds delay = policy.delay_after(attempt, 0.5);
        ASSERT_GE(delay, std::max(least, before)) << base.count() << ", attempt " << attempt;
        ASSERT_LE(delay, cap) << base.count() << ", attempt " << attempt;
        before = delay;
      }
      EXPECT_EQ(before, cap);
    }
  }
}

TEST(RetryPolicy, KeepsTheJitterBelowTheCap) {
  const RetryPolicy policy{.initial = milliseconds(1), .cap = hours(24)};
  std::uint64_t state = 1;
  for (int attempt = 1; attempt <= 10'000; ++attempt) {
    const milliseconds delay = policy.delay_after(attempt, next_unit_random(state));
    ASSERT_GE(delay, milliseconds(1)) << attempt;
    ASSERT_LE(delay, policy.cap) << attempt;
  }
}

TEST(RetryPolicy, UsesTheWholeIntervalOfItsJitter) {
  const RetryPolicy policy = RetryPolicy::panel();
  std::uint64_t state = 1;
  milliseconds low = hours(1);
  milliseconds high(0);
  for (int i = 0; i < 1000; ++i) {
    const milliseconds delay = policy.delay_after(1, next_unit_random(state));
    low = std::min(low, delay);
    high = std::max(high, delay);
  }
  EXPECT_LE(low, milliseconds(102));
  EXPECT_GE(high, milliseconds(298));
}

TEST(RetryPolicy, TakesAnyNumbers) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(RetryPolicy{.factor = kNan}.delay_after(3, 0.5), milliseconds(200));
  EXPECT_EQ(RetryPolicy{.factor = 0.5}.delay_after(3, 0.5), milliseconds(200));
  EXPECT_EQ(RetryPolicy{.factor = kInfinity}.delay_after(9, 0.5), milliseconds(2000));
  EXPECT_EQ(RetryPolicy{.initial = milliseconds(0)}.delay_after(1, 0.5), milliseconds(1));
  EXPECT_EQ(RetryPolicy{.cap = milliseconds(-5)}.delay_after(2, 0.5), milliseconds(1));
  EXPECT_EQ(RetryPolicy{.cap = milliseconds::max()}.delay_after(100, 0.5), hours(24));
  EXPECT_EQ(RetryPolicy{.jitter_min = -9}.delay_after(1, 0), milliseconds(1));
  EXPECT_EQ(RetryPolicy{.jitter_max = kNan}.delay_after(1, 0.5), milliseconds(200));
  EXPECT_EQ(RetryPolicy{.jitter_max = kInfinity}.delay_after(1, 0.5), milliseconds(200));
  EXPECT_EQ((RetryPolicy{.jitter_min = 2, .jitter_max = 1}.delay_after(1, 0.5)), milliseconds(300));
  EXPECT_EQ(RetryPolicy{}.delay_after(1, kNan), milliseconds(160));
  EXPECT_EQ(RetryPolicy{}.delay_after(1, 7), milliseconds(240));
  EXPECT_EQ(RetryPolicy{}.delay_after(-7, 0.5), milliseconds(200));
  EXPECT_EQ(RetryPolicy{.delays = {milliseconds::max()}}.delay_after(1, 0.5), hours(24));
}

}  // namespace
}  // namespace spillway
