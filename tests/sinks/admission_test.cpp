// SPDX-License-Identifier: MIT
#include "sinks/admission.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

constexpr QueueFill kLimit{.bytes = 1'000, .records = 100};

TEST(Admission, ShedsUpToInfoFromHalfFull) {
  for (const Level level : {Level::kTrace, Level::kDebug, Level::kInfo}) {
    EXPECT_TRUE(admits(level, 10, {.bytes = 490, .records = 0}, kLimit));
    EXPECT_FALSE(admits(level, 10, {.bytes = 491, .records = 0}, kLimit));
    EXPECT_TRUE(admits(level, 10, {.bytes = 0, .records = 49}, kLimit));
    EXPECT_FALSE(admits(level, 10, {.bytes = 0, .records = 50}, kLimit));
  }
}

TEST(Admission, ShedsWarnFromFourFifths) {
  EXPECT_TRUE(admits(Level::kWarn, 10, {.bytes = 790, .records = 79}, kLimit));
  EXPECT_FALSE(admits(Level::kWarn, 10, {.bytes = 791, .records = 0}, kLimit));
  EXPECT_FALSE(admits(Level::kWarn, 10, {.bytes = 0, .records = 80}, kLimit));
}

TEST(Admission, ShedsErrorsOnlyWhenFull) {
  for (const Level level : {Level::kError, Level::kCritical}) {
    EXPECT_TRUE(admits(level, 10, {.bytes = 990, .records = 99}, kLimit));
    EXPECT_FALSE(admits(level, 10, {.bytes = 991, .records = 0}, kLimit));
    EXPECT_FALSE(admits(level, 10, {.bytes = 0, .records = 100}, kLimit));
  }
}

}  // namespace
}  // namespace spillway
