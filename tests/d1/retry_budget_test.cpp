// SPDX-License-Identifier: MIT
#include <spillway/retry_budget.h>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

namespace spillway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr SteadyTime kStart{hours(1)};

TEST(RetryBudget, OpensWithTheFirstFailureAndLastsForSixSeconds) {
  RetryBudget budget;
  EXPECT_EQ(budget.left_after_failure(kStart), seconds(6));
  EXPECT_EQ(budget.left_after_failure(kStart + milliseconds(5999)), milliseconds(1));
  EXPECT_EQ(budget.left_after_failure(kStart + seconds(6)), milliseconds(0));
  EXPECT_EQ(budget.left_after_failure(kStart + hours(6)), milliseconds(0));
}

TEST(RetryBudget, NeverSaysMoreThanIsLeft) {
  RetryBudget budget;
  static_cast<void>(budget.left_after_failure(kStart));
  EXPECT_EQ(budget.left_after_failure(kStart + std::chrono::nanoseconds(1)), milliseconds(5999));
}

TEST(RetryBudget, EndsNoLaterThanTheOneAround) {
  const auto outer = std::make_shared<RetryBudget>(seconds(6));
  static_cast<void>(outer->left_after_failure(kStart));
  RetryBudget longer(minutes(1), outer);
  EXPECT_EQ(longer.left_after_failure(kStart + seconds(2)), seconds(4));
  RetryBudget shorter(seconds(1), outer);
  EXPECT_EQ(shorter.left_after_failure(kStart + seconds(2)), seconds(1));
}

TEST(RetryBudget, OpensTheOneAroundToo) {
  const auto outer = std::make_shared<RetryBudget>();
  RetryBudget inner(seconds(6), outer);
  static_cast<void>(inner.left_after_failure(kStart));
  EXPECT_EQ(outer->left_after_failure(kStart + seconds(5)), seconds(1));
}

TEST(RetryBudget, OfAnOperationClosesAgainWhenWhatFailedInsidePasses) {
  const auto outer =
      std::make_shared<RetryBudget>(seconds(6), nullptr, RetryBudget::Kind::kOperation);
  RetryBudget inner(seconds(6), outer, RetryBudget::Kind::kOperation);
  static_cast<void>(inner.left_after_failure(kStart));
  inner.on_success();
  EXPECT_EQ(outer->left_after_failure(kStart + seconds(9)), seconds(6));
  static_cast<void>(inner.left_after_failure(kStart + seconds(9)));
  inner.on_success();
  EXPECT_EQ(outer->left_after_failure(kStart + seconds(10)), seconds(5)) << "it failed itself";
}

TEST(RetryBudget, OfAnOperationClosesThoseAroundThatWereOpenedFromInside) {
  const auto outermost =
      std::make_shared<RetryBudget>(seconds(6), nullptr, RetryBudget::Kind::kOperation);
  const auto outer =
      std::make_shared<RetryBudget>(seconds(6), outermost, RetryBudget::Kind::kOperation);
  RetryBudget inner(seconds(6), outer, RetryBudget::Kind::kOperation);
  static_cast<void>(inner.left_after_failure(kStart));
  inner.on_success();
  EXPECT_EQ(outermost->left_after_failure(kStart + seconds(9)), seconds(6));
}

TEST(RetryBudget, OfAScopeStaysOpenWhateverPassesInside) {
  const auto scope = std::make_shared<RetryBudget>();
  RetryBudget inner(seconds(6), scope, RetryBudget::Kind::kOperation);
  static_cast<void>(inner.left_after_failure(kStart));
  inner.on_success();
  EXPECT_EQ(scope->left_after_failure(kStart + seconds(5)), seconds(1));
}

TEST(RetryBudget, TakesAnyWindow) {
  EXPECT_EQ(RetryBudget(milliseconds::max()).left_after_failure(kStart), hours(24));
  EXPECT_EQ(RetryBudget(milliseconds(-1)).left_after_failure(kStart), milliseconds(0));
}

TEST(RetryScope, IsSharedWithinTheThreadUntilItEnds) {
  EXPECT_EQ(RetryScope::current(), nullptr);
  {
    const RetryScope scope;
    const auto budget = RetryScope::current();
    ASSERT_NE(budget, nullptr);
    EXPECT_EQ(RetryScope::current(), budget);
    {
      const RetryScope inner;
      EXPECT_NE(RetryScope::current(), budget);
    }
    EXPECT_EQ(RetryScope::current(), budget);
  }
  EXPECT_EQ(RetryScope::current(), nullptr);
}

TEST(RetryScope, InAnotherHasNoMoreTimeThanThat) {
  const RetryScope scope;
  static_cast<void>(RetryScope::current()->left_after_failure(kStart));
  const RetryScope inner;
  EXPECT_EQ(RetryScope::current()->left_after_failure(kStart + seconds(5)), seconds(1));
}

TEST(RetryScope, CanBeHandedToAnotherThread) {
  const RetryScope scope;
  static_cast<void>(RetryScope::current()->left_after_failure(kStart));
  auto left = std::async(std::launch::async, [budget = RetryScope::current()] {
    EXPECT_EQ(RetryScope::current(), nullptr);
    const RetryScope handed(budget);
    return RetryScope::current()->left_after_failure(kStart + seconds(2));
  });
  EXPECT_EQ(left.get(), seconds(4));
}

TEST(RetryScope, OfNoBudgetIsNone) {
  const RetryScope scope;
  const RetryScope none(nullptr);
  EXPECT_EQ(RetryScope::current(), nullptr);
}

int taken(RetryTokens& tokens, SteadyTime now) {
  int count = 0;
  while (count < 100 && tokens.take(now)) {
    ++count;
  }
  return count;
}

TEST(RetryTokens, AreTenAtFirst) {
  RetryTokens tokens;
  EXPECT_EQ(taken(tokens, kStart), 10);
}

TEST(RetryTokens, ComeBackByATenthWithEachSuccess) {
  RetryTokens tokens;
  static_cast<void>(taken(tokens, kStart));
  for (int i = 0; i < 9; ++i) {
    tokens.on_success(kStart);
  }
  EXPECT_EQ(taken(tokens, kStart), 0);
  tokens.on_success(kStart);
  EXPECT_EQ(taken(tokens, kStart), 1);
  for (int i = 0; i < 19; ++i) {
    tokens.on_success(kStart);
  }
  EXPECT_EQ(taken(tokens, kStart), 1) << "nothing but whole ones";
}

TEST(RetryTokens, ComeBackWithTimeAlone) {
  RetryTokens tokens;
  static_cast<void>(taken(tokens, kStart));
  EXPECT_EQ(taken(tokens, kStart + milliseconds(29'999)), 0);
  EXPECT_EQ(taken(tokens, kStart + seconds(30)), 1);
  EXPECT_EQ(taken(tokens, kStart + seconds(90)), 2);
}

TEST(RetryTokens, LoseNoTimeToBeingAskedOften) {
  RetryTokens tokens;
  static_cast<void>(taken(tokens, kStart));
  int count = 0;
  for (milliseconds time(0); time <= seconds(60); time += milliseconds(7)) {
    count += tokens.take(kStart + time) ? 1 : 0;
  }
  EXPECT_EQ(count, 1);  // The second is 5 ms ahead: 60 s is no multiple of 7 ms.
  EXPECT_TRUE(tokens.take(kStart + seconds(60)));
}

// Budgets that froze after an idle time, or came back only with successes, have been seen.
TEST(RetryTokens, AreAllThereAfterFiveMinutesWhateverWasBefore) {
  for (const auto idle : {hours(1), hours(24 * 365 * 100)}) {
    RetryTokens tokens;
    static_cast<void>(taken(tokens, kStart));
    EXPECT_EQ(taken(tokens, kStart + minutes(5)), 10);
    EXPECT_EQ(taken(tokens, kStart + idle), 10);
  }
}

TEST(RetryTokens, CountTimeFromTheFirstCallOn) {
  RetryTokens tokens;
  static_cast<void>(taken(tokens, SteadyTime()));
  EXPECT_EQ(taken(tokens, SteadyTime(seconds(30))), 1);

  RetryTokens first_succeeded;
  first_succeeded.on_success(kStart);
  EXPECT_EQ(taken(first_succeeded, kStart + milliseconds(29)), 10);
  EXPECT_EQ(taken(first_succeeded, kStart + seconds(30)), 1);
}

TEST(RetryTokens, AreNeverMoreThanTen) {
  RetryTokens tokens;
  for (int i = 0; i < 1000; ++i) {
    tokens.on_success(kStart);
  }
  EXPECT_EQ(taken(tokens, kStart), 10);
}

TEST(RetryTokens, BearATimeThatLiesBack) {
  RetryTokens tokens;
  EXPECT_EQ(taken(tokens, kStart), 10);
  EXPECT_EQ(taken(tokens, kStart - hours(1)), 0);
  EXPECT_EQ(taken(tokens, kStart + seconds(30)), 1);

  RetryTokens unspent;
  EXPECT_TRUE(unspent.take(kStart));
  EXPECT_EQ(taken(unspent, kStart - hours(1)), 9);
}

}  // namespace
}  // namespace spillway
