// SPDX-License-Identifier: MIT
#include "logger/level_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string level_for(const LevelRules& rules, std::string_view name) {
  const LevelRule* const rule = rules.rule_for(name);
  if (rule == nullptr) {
    return "none";
  }
  return rule->threshold == kThresholdOff
             ? "off"
             : std::string(to_string(static_cast<Level>(rule->threshold)));
}

TEST(LevelRules, TheLongestNameCountsAndANameMeansWhatIsBelowIt) {
  const LevelRules rules(" info, payments = debug,payments.audit=OFF ,,a=b=trace,payments=warning");
  EXPECT_THAT(rules.unreadable(), IsEmpty());
  EXPECT_EQ(level_for(rules, ""), "INFO");
  EXPECT_EQ(level_for(rules, "orders"), "INFO");
  EXPECT_EQ(level_for(rules, "payments"), "WARN") << "of two rules for one name the last counts";
  EXPECT_EQ(level_for(rules, "payments.refunds"), "WARN");
  EXPECT_EQ(level_for(rules, "payments.audit.x"), "off");
  EXPECT_EQ(level_for(rules, "paymentsystem"), "INFO");
  EXPECT_EQ(level_for(rules, "a=b"), "TRACE");
  EXPECT_EQ(level_for(LevelRules("payments=debug"), "orders"), "none");
  EXPECT_EQ(level_for(LevelRules(""), "orders"), "none");
}

TEST(LevelRules, WhatCannotBeReadIsNamedAndTheRestCounts) {
  const LevelRules rules("loud,=debug,a=,b=error,=");
  EXPECT_THAT(rules.unreadable(), ElementsAre("loud", "=debug", "a=", "="));
  EXPECT_EQ(level_for(rules, "a"), "none");
  EXPECT_EQ(level_for(rules, "b"), "ERROR");
}

}  // namespace
}  // namespace spillway
