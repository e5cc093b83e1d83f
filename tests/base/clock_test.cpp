// SPDX-License-Identifier: MIT
#include <spillway/clock.h>

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(SystemClock, IsOneObjectForEverybody) { EXPECT_EQ(&Clock::system(), &Clock::system()); }

TEST(SystemClock, NeverStepsBackInSteadyTime) {
  SteadyTime last = Clock::system().steady_now();
  for (int i = 0; i < 1000; ++i) {
    const SteadyTime now = Clock::system().steady_now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, CountsWallTimeInMillisecondsFrom1970) {
  const WallTime written = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
  const WallTime far = std::chrono::sys_days(std::chrono::year(3000) / 1 / 1);
  EXPECT_GT(Clock::system().wall_now(), written);
  EXPECT_LT(Clock::system().wall_now(), far);
}

}  // namespace
}  // namespace spillway
