// SPDX-License-Identifier: MIT
//
// Goal: a stop reaches the token and the wait, and the watcher's thread always ends.
// Method: a pipe in the place of the one that signals fill.
#include "cli/stop_watcher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace spillway {
namespace {

using std::chrono::milliseconds;

class StopWatcherTest : public ::testing::Test {
 protected:
  StopWatcherTest() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~StopWatcherTest() override {
    close(ends[0]);
    close(ends[1]);
  }
  void ask_to_stop() { EXPECT_EQ(write(ends[1], "x", 1), 1); }

  std::array<int, 2> ends{-1, -1};
};

TEST_F(StopWatcherTest, CancelsWhatRuns) {
  const StopWatcher watcher(ends[0]);
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  ask_to_stop();
  // Returns only when the token fires: the condition never comes true.
  EXPECT_FALSE(changed.wait(lock, watcher.token(), [] { return false; }));
  EXPECT_TRUE(watcher.token().stop_requested());
}

TEST_F(StopWatcherTest, EndsAWait) {
  const StopWatcher watcher(ends[0]);
  EXPECT_FALSE(watcher.wait_for(milliseconds(1)));
  ask_to_stop();
  EXPECT_TRUE(watcher.wait_for(std::chrono::hours(1)));
}

TEST_F(StopWatcherTest, GoesWithoutHavingBeenAsked) {
  for (int i = 0; i < 200; ++i) {
    const StopWatcher watcher(ends[0]);
    EXPECT_FALSE(watcher.token().stop_requested());
  }
}

TEST_F(StopWatcherTest, GoesWhileItIsBeingAsked) {
  for (int i = 0; i < 50; ++i) {
    const StopWatcher watcher(ends[0]);
    ask_to_stop();
  }
}

}  // namespace
}  // namespace spillway
