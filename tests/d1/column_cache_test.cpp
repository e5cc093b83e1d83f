// SPDX-License-Identifier: MIT
#include "d1/column_cache.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace spillway {
namespace {

std::string text(std::size_t number) { return "SELECT " + std::to_string(number); }

TEST(ColumnCache, KnowsWhatItWasTold) {
  ColumnCache cache;
  EXPECT_EQ(cache.find("SELECT *"), std::nullopt);
  cache.remember("SELECT *", 3);
  EXPECT_EQ(cache.find("SELECT *"), 3U);
}

TEST(ColumnCache, TakesTheLastWordAndForgetsOnDemand) {
  ColumnCache cache;
  cache.remember("SELECT *", 3);
  cache.remember("SELECT *", 4);
  EXPECT_EQ(cache.find("SELECT *"), 4U);
  cache.forget("SELECT *");
  EXPECT_EQ(cache.find("SELECT *"), std::nullopt);
  cache.forget("never seen");
}

TEST(ColumnCache, ForgetsWhatWasNotUsedForLongest) {
  ColumnCache cache;
  for (std::size_t number = 0; number < ColumnCache::kEntriesMax; ++number) {
    cache.remember(text(number), number);
  }
  EXPECT_NE(cache.find(text(0)), std::nullopt);  // And is now the last used one.
  cache.remember(text(ColumnCache::kEntriesMax), 1);
  EXPECT_NE(cache.find(text(0)), std::nullopt);
  EXPECT_EQ(cache.find(text(1)), std::nullopt);
  EXPECT_NE(cache.find(text(2)), std::nullopt);
}

TEST(ColumnCache, KeepsOnlySoManyBytesOfText) {
  ColumnCache cache;
  const std::string half(ColumnCache::kTextBytesMax / 2, 'x');
  cache.remember(half, 1);
  cache.remember(half + "y", 2);
  EXPECT_EQ(cache.find(half), std::nullopt);
  EXPECT_EQ(cache.find(half + "y"), 2U);
  cache.remember(std::string(ColumnCache::kTextBytesMax + 1, 'z'), 3);
  EXPECT_EQ(cache.find(std::string(ColumnCache::kTextBytesMax + 1, 'z')), std::nullopt);
  EXPECT_EQ(cache.find(half + "y"), 2U);
  cache.forget(half + "y");
  cache.remember(half, 4);
  cache.remember(std::string(ColumnCache::kTextBytesMax / 2, 'w'), 5);
  EXPECT_EQ(cache.find(half), 4U);
}

}  // namespace
}  // namespace spillway
