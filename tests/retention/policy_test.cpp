// SPDX-License-Identifier: MIT
#include "retention/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace spillway::retention {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr WallTime kNow{std::chrono::milliseconds(1'787'898'912'345)};

Keep hours(int number) { return Keep(std::chrono::hours(number)); }

TEST(Policy, ReadsHowLongRowsAreKept) {
  const std::pair<const char*, Keep> cases[] = {{"1min", std::chrono::minutes(1)},
                                                {"90min", std::chrono::minutes(90)},
                                                {"12h", hours(12)},
                                                {"30d", hours(720)},
                                                {"007d", hours(168)},
                                                {"4w", hours(672)},
                                                {"36500d", hours(876'000)},
                                                {"forever", {}}};
  for (const auto& [text, keep] : cases) {
    EXPECT_EQ(*parse_keep(text), keep) << text;
  }
}

TEST(Policy, RefusesWhatIsNoTimeToKeepRowsFor) {
  const std::pair<const char*, const char*> cases[] = {
      {"30m", "could be minutes or months; for minutes write 30min"},
      {"30", "has no unit; for days write 30d"},
      {"0", "has no unit"},
      {"0d", "would keep nothing"},
      {"00w", "would keep nothing"},
      {"36501d", "is more than 100 years"},
      {"876001h", "is more than 100 years"},
      {"9223372036854775807w", "is more than 100 years"},
      {"99999999999999999999d", "is more than 100 years"},
  };
  for (const auto& [text, why] : cases) {
    const Status status = parse_keep(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(),
                AllOf(StartsWith('\'' + std::string(text) + '\''), HasSubstr(why)));
  }
  for (const char* const text :
       {"",     " ",     "\t",   "d",    "m",         "-5d",     "+5d",      "1e3d", "0x10d",
        "1.5d", "30 d",  " 30d", "30d ", "30 d days", "30days",  "30D",      "30dd", "30d12h",
        "30s",  "500ms", "1y",   "NaN",  "inf",       "Forever", "for ever", "٣d"}) {
    const Status status = parse_keep(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr("is no time to keep rows for; write a whole number"))
        << text;
  }
}

TEST(Policy, ReadsTheLevelInUpperCase) {
  const LevelPolicy debug = *parse_level_keep("Debug=2d");
  EXPECT_EQ(debug.level, "DEBUG");
  EXPECT_EQ(debug.keep, hours(48));
  EXPECT_EQ(parse_level_keep("x-1.y_z=forever")->level, "X-1.Y_Z");
  EXPECT_EQ(parse_level_keep("error=forever")->keep, Keep());
}

TEST(Policy, RefusesALevelWithoutItsTime) {
  const std::pair<const char*, const char*> cases[] = {{"", "write for example DEBUG=2d"},
                                                       {"DEBUG", "write for example DEBUG=2d"},
                                                       {"=2d", "write for example DEBUG=2d"},
                                                       {"DEBUG=", "is no time to keep rows for"},
                                                       {"DEBUG=2", "has no unit"},
                                                       {"DEBUG=2m", "could be minutes or months"},
                                                       {"DEBUG=1d=2d", "is no time to keep"},
                                                       {"DE BUG=2d", "something else than letters"},
                                                       {"DEBUG =2d", "something else"},
                                                       {"'x'=2d", "something else"},
                                                       {"D\u00c9BUG=2d", "something else than"},
                                                       {"DEBUG:2d", "write for example DEBUG=2d"}};
  for (const auto& [text, why] : cases) {
    const Status status = parse_level_keep(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(why)) << text;
  }
}

TEST(Policy, HasOneTextForWhatIsTheSame) {
  for (const char* const text : {"1min", "90min", "12h", "1d", "30d", "forever"}) {
    EXPECT_EQ(to_string(*parse_keep(text)), text);
  }
  EXPECT_EQ(to_string(*parse_keep("2w")), "14d");
  EXPECT_EQ(to_string(*parse_keep("48h")), "2d");
  EXPECT_EQ(to_string(*parse_keep("1440min")), "1d");
  EXPECT_EQ(to_string(Policy{hours(720), {{"DEBUG", hours(48)}, {"ERROR", {}}}, 1'000}),
            "keep=30d DEBUG=2d ERROR=forever max-rows=1000");
  EXPECT_EQ(to_string(Policy()), "keep=forever");
}

TEST(Policy, KeepsAllOnlyIfNoRowCanEverGo) {
  EXPECT_TRUE(Policy().keeps_all());
  EXPECT_TRUE((Policy{{}, {{"ERROR", {}}}, {}}.keeps_all()));
  EXPECT_FALSE((Policy{hours(1), {}, {}}.keeps_all()));
  EXPECT_FALSE((Policy{{}, {{"DEBUG", hours(1)}}, {}}.keeps_all()));
  EXPECT_FALSE((Policy{{}, {}, 5}.keeps_all()));
}

TEST(Policy, MakesRulesWithTheOldestCutoffFirst) {
  const Policy policy{
      hours(720),
      {{"AUDIT", hours(9'000)}, {"DEBUG", hours(48)}, {"ERROR", {}}, {"INFO", hours(720)}},
      {}};
  const std::vector<Rule> rules = rules_of(policy, kNow);
  std::vector<std::string> names;
  for (const Rule& rule : rules) {
    names.push_back(rule.name);
    EXPECT_EQ(rule.cutoff, kNow - rule.keep) << rule.name;
  }
  // A level whose time is that of the others still is a rule of its own.
  ASSERT_THAT(names, ElementsAre("AUDIT", "INFO", "keep", "DEBUG"));
  EXPECT_EQ(rules[0].keep, hours(9'000));
  EXPECT_THAT(rules[0].levels.names, ElementsAre("AUDIT"));
  EXPECT_FALSE(rules[0].levels.is_all_but);
  // What is kept for ever is no rule, and not among the others either.
  EXPECT_TRUE(rules[2].levels.is_all_but);
  EXPECT_THAT(rules[2].levels.names, ElementsAre("AUDIT", "DEBUG", "ERROR", "INFO"));
}

TEST(Policy, MakesNoRuleWithoutATime) {
  EXPECT_THAT(rules_of(Policy{{}, {{"ERROR", {}}}, 10}, kNow), IsEmpty());
  const std::vector<Rule> rules = rules_of(Policy{hours(1), {}, {}}, kNow);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_TRUE(rules[0].levels.is_all_but);
  EXPECT_THAT(rules[0].levels.names, IsEmpty());
}

}  // namespace
}  // namespace spillway::retention
