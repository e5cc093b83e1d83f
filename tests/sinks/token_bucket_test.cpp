// SPDX-License-Identifier: MIT
#include "sinks/token_bucket.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace spillway {
namespace {

using namespace std::chrono_literals;
using Share = TokenBucket::Share;

SteadyTime at(std::chrono::nanoseconds time) { return SteadyTime(1h + time); }

TokenBucket bucket_of(double per_second, int burst) {
  TokenBucket bucket;
  bucket.set_rate({per_second, burst});
  return bucket;
}

bool has(const TokenBucket& bucket, SteadyTime now, Share share = Share::kAll) {
  return bucket.available_at(share) <= now;
}

TEST(TokenBucket, WithoutARateAlwaysHasOne) {
  TokenBucket bucket;
  bucket.take(1'000'000, at(0s));
  EXPECT_TRUE(has(bucket, at(0s), Share::kAllButLast));
  bucket.set_rate({0, 0});
  EXPECT_TRUE(has(bucket, at(0s), Share::kAllButLast));
}

TEST(TokenBucket, GivesItsBurstAtOnceAndThenAtItsRate) {
  TokenBucket bucket = bucket_of(2, 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(has(bucket, at(0s))) << i;
    bucket.take(1, at(0s));
  }
  EXPECT_FALSE(has(bucket, at(500ms - 1ns)));
  EXPECT_TRUE(has(bucket, at(500ms)));
  EXPECT_EQ(bucket.available_at(Share::kAll), at(500ms));
  bucket.take(1, at(500ms));
  EXPECT_EQ(bucket.available_at(Share::kAll), at(1s));
}

TEST(TokenBucket, KeepsTheLastOne) {
  TokenBucket bucket = bucket_of(2, 5);
  bucket.take(4, at(0s));
  EXPECT_TRUE(has(bucket, at(0s), Share::kAll));
  EXPECT_EQ(bucket.available_at(Share::kAllButLast), at(500ms));
  TokenBucket single = bucket_of(2, 1);
  EXPECT_TRUE(has(single, at(0s), Share::kAllButLast)) << "else it would be nobody's";
}

TEST(TokenBucket, HoldsNoMoreThanItsBurst) {
  TokenBucket bucket = bucket_of(2, 5);
  bucket.take(5, at(0s));
  bucket.take(5, at(1h));
  EXPECT_EQ(bucket.available_at(Share::kAll), at(1h + 500ms));
}

TEST(TokenBucket, IsMadeUpForWhatWasTakenBeyondIt) {
  TokenBucket bucket = bucket_of(2, 5);
  bucket.take(9, at(0s));
  EXPECT_EQ(bucket.available_at(Share::kAll), at(2500ms));
}

TEST(TokenBucket, KeepsWhatWasTakenWhenTheRateChanges) {
  TokenBucket bucket = bucket_of(2, 5);
  bucket.take(5, at(0s));
  bucket.set_rate({2, 5});
  EXPECT_EQ(bucket.available_at(Share::kAll), at(500ms));
  bucket.set_rate({0, 0});
  bucket.take(1, at(1h));
  EXPECT_TRUE(has(bucket, at(1h)));
}

TEST(TokenBucket, TakesEveryNumberForARate) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const double per_second : {-1.0, kNan, kInfinity, 1e-300, 1e300}) {
    for (const int burst : {-1, 0, kMost}) {
      TokenBucket bucket = bucket_of(per_second, burst);
      bucket.take(1, at(0s));
      EXPECT_TRUE(has(bucket, at(1h))) << per_second << ", " << burst;
    }
  }
}

// Of a third of a second, for which there is no number: whoever wakes up at the time named must
// find a token there, or it would wake up again and again.
TEST(TokenBucket, HasOneAtTheTimeItNames) {
  TokenBucket bucket = bucket_of(3, 2);
  SteadyTime now = at(0s);
  for (int i = 0; i < 10'000; ++i) {
    now = std::max(now, bucket.available_at(Share::kAllButLast));
    ASSERT_TRUE(has(bucket, now, Share::kAllButLast));
    bucket.take(1, now);
  }
  EXPECT_GE(now, at(3333s));
  EXPECT_LE(now, at(3334s));
}

}  // namespace
}  // namespace spillway
