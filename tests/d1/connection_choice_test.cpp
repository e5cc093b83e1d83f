// SPDX-License-Identifier: MIT
#include "d1/connection_choice.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

using std::chrono::seconds;

constexpr auto kFreshFor = ConnectionChoice::kFreshFor;

TEST(ConnectionChoice, KeepsTheConnectionAsLongAsNoneBreaks) {
  ConnectionChoice choice;
  EXPECT_FALSE(choice.must_be_fresh());
  choice.on_answer(SteadyTime(seconds(7)));
  EXPECT_FALSE(choice.must_be_fresh());
}

TEST(ConnectionChoice, TakesFreshOnesUntilAWhileHasGoneByAndOneHasWorked) {
  const SteadyTime broken(seconds(100));
  ConnectionChoice choice;
  choice.on_broken(broken);
  EXPECT_TRUE(choice.must_be_fresh());
  choice.on_answer(broken + kFreshFor - seconds(1));
  EXPECT_TRUE(choice.must_be_fresh());
  choice.on_answer(broken + kFreshFor);
  EXPECT_FALSE(choice.must_be_fresh());
}

TEST(ConnectionChoice, BeginsAnewWhenAKeptOneBreaksAgain) {
  const SteadyTime broken(seconds(100));
  ConnectionChoice choice;
  choice.on_broken(broken);
  choice.on_answer(broken + kFreshFor);
  choice.on_broken(broken + 2 * kFreshFor);
  EXPECT_TRUE(choice.must_be_fresh());
  choice.on_answer(broken + 2 * kFreshFor);
  EXPECT_TRUE(choice.must_be_fresh());
}

}  // namespace
}  // namespace spillway
