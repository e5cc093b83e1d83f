// SPDX-License-Identifier: MIT
#include "d1/column_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

std::string text(std::size_t number) { return "SELECT " + std::to_string(number); }

TEST(ColumnCache, KnowsWhatItWasTold) {
  ColumnCache cache;
  EXPECT_EQ(cache.find("SELECT 1"), nullptr);
  cache.remember("SELECT 1", {.count = 1, .names = {{"1"}}});
  cache.remember("SELECT *", {.count = 3});
  ASSERT_NE(cache.find("SELECT 1"), nullptr);
  EXPECT_EQ(cache.find("SELECT 1")->names, std::vector<std::string>{"1"});
  EXPECT_EQ(cache.find("SELECT *")->count, 3U);
  EXPECT_FALSE(cache.find("SELECT *")->names.has_value());
}

TEST(ColumnCache, TakesTheLastWordAndForgetsOnDemand) {
  ColumnCache cache;
  cache.remember("SELECT *", {.count = 3});
  cache.remember("SELECT *", {.count = 4});
  EXPECT_EQ(cache.find("SELECT *")->count, 4U);
  cache.forget("SELECT *");
  EXPECT_EQ(cache.find("SELECT *"), nullptr);
  cache.forget("never seen");
}

TEST(ColumnCache, ForgetsWhatWasNotUsedForLongest) {
  ColumnCache cache;
  for (std::size_t number = 0; number < ColumnCache::kEntriesMax; ++number) {
    cache.remember(text(number), {.count = number});
  }
  EXPECT_NE(cache.find(text(0)), nullptr);  // And is now the last used one.
  cache.remember(text(ColumnCache::kEntriesMax), {.count = 1});
  EXPECT_NE(cache.find(text(0)), nullptr);
  EXPECT_EQ(cache.find(text(1)), nullptr);
  EXPECT_NE(cache.find(text(2)), nullptr);
}

TEST(ColumnCache, DoesNotKeepLongTexts) {
  ColumnCache cache;
  cache.remember(std::string(ColumnCache::kTextBytesMax, 'x'), {.count = 1});
  cache.remember(std::string(ColumnCache::kTextBytesMax + 1, 'y'), {.count = 1});
  EXPECT_NE(cache.find(std::string(ColumnCache::kTextBytesMax, 'x')), nullptr);
  EXPECT_EQ(cache.find(std::string(ColumnCache::kTextBytesMax + 1, 'y')), nullptr);
}

}  // namespace
}  // namespace spillway
