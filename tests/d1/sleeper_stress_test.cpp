// SPDX-License-Identifier: MIT
//
// Goal: the system's sleeper sleeps as long as it is told, and wakes at once when it is cancelled.
// Method: by the clock.
#include <spillway/clock.h>
#include <spillway/sleeper.h>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stop_token>

namespace spillway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(SystemSleeper, SleepsForTheTimeItIsTold) {
  const SteadyTime began = Clock::system().steady_now();
  EXPECT_TRUE(Sleeper::system().sleep(milliseconds(20), {}));
  EXPECT_GE(Clock::system().steady_now() - began, milliseconds(20));
}

TEST(SystemSleeper, WakesWhenItIsCancelled) {
  std::stop_source source;
  auto slept = std::async(std::launch::async, [token = source.get_token()] {
    return Sleeper::system().sleep(hours(1), token);
  });
  source.request_stop();
  EXPECT_FALSE(slept.get());
  EXPECT_FALSE(Sleeper::system().sleep(hours(1), source.get_token()));
}

}  // namespace
}  // namespace spillway
