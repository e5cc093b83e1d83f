// SPDX-License-Identifier: MIT
#include "retention/chunk_size.h"

#include <gtest/gtest.h>

namespace {

using spillway::retention::ChunkLimits;
using spillway::retention::ChunkSize;
using std::chrono::milliseconds;

ChunkSize from(std::int64_t first, std::int64_t max) {
  return ChunkSize(ChunkLimits{.first = first, .max = max, .target = milliseconds(50)});
}

TEST(ChunkSize, GrowsAtMostTwofoldAndShrinksAtOnce) {
  ChunkSize size = from(1'000, 50'000);
  size.on_done(1'000, milliseconds(1));
  EXPECT_EQ(size.rows(), 2'000);
  size.on_done(2'000, milliseconds(40));
  EXPECT_EQ(size.rows(), 2'500);
  size.on_done(2'500, milliseconds(500));
  EXPECT_EQ(size.rows(), 250);
}

TEST(ChunkSize, KeepsToItsBounds) {
  ChunkSize size = from(4'000, 5'000);
  size.on_done(4'000, milliseconds(1));
  EXPECT_EQ(size.rows(), 5'000);
  for (int i = 0; i < 20; ++i) {
    size.on_done(size.rows(), std::chrono::seconds(30));
  }
  EXPECT_EQ(size.rows(), 1);
  EXPECT_EQ(from(10, 5).rows(), 5);
  EXPECT_EQ(from(0, 5).rows(), 1);
}

TEST(ChunkSize, LearnsNothingFromAShortLastChunk) {
  ChunkSize size = from(1'000, 50'000);
  size.on_done(3, milliseconds(1));
  EXPECT_EQ(size.rows(), 1'000);
  size.on_done(3, milliseconds(500));  // But a row that slow is a warning.
  EXPECT_LT(size.rows(), 10);
}

TEST(ChunkSize, StaysBelowWhatWasRefusedForManyChunks) {
  ChunkSize size = from(8'000, 50'000);
  EXPECT_TRUE(size.on_refused(8'000));
  EXPECT_EQ(size.rows(), 4'000);
  for (int i = 0; i < 99; ++i) {
    size.on_done(size.rows(), milliseconds(1));
    ASSERT_EQ(size.rows(), 4'000);
  }
  size.on_done(4'000, milliseconds(1));
  size.on_done(4'000, milliseconds(1));
  EXPECT_EQ(size.rows(), 8'000);
}

TEST(ChunkSize, CannotHalveARow) {
  ChunkSize size = from(1, 50'000);
  EXPECT_FALSE(size.on_refused(1));
  EXPECT_EQ(size.rows(), 1);
}

}  // namespace
