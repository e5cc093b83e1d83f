// SPDX-License-Identifier: MIT
#include "retention/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace spillway::retention {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

WallTime day(int number) { return WallTime(hours(24) * number); }

// At day 100.
Rule rule(const std::string& name, int days) {
  return {.name = name, .levels = {}, .keep = hours(24) * days, .cutoff = day(100 - days)};
}

// "[10,70) keep DEBUG"
std::string shown(const Segment& segment) {
  const auto day_of = [](const std::optional<WallTime>& time) {
    return time ? std::to_string(time->time_since_epoch() / hours(24)) : std::string("-");
  };
  std::string text = "[" + day_of(segment.range.from) + "," + day_of(segment.range.before) + ")";
  for (const Rule& one : segment.rules) {
    text += " " + one.name;
  }
  return text;
}

std::vector<std::string> shown(const std::vector<Rule>& rules, const Watermarks& watermarks) {
  std::vector<std::string> texts;
  for (const Segment& segment : segments_of(rules, watermarks)) {
    texts.push_back(shown(segment));
  }
  return texts;
}

TEST(Segments, BeginAtTheTablesBeginningWhereNothingIsKnown) {
  EXPECT_THAT(shown({rule("keep", 30)}, {}), ElementsAre("[-,70) keep"));
  EXPECT_THAT(shown({rule("ERROR", 60), rule("keep", 30), rule("DEBUG", 2)}, {}),
              ElementsAre("[-,40) ERROR keep DEBUG", "[40,70) keep DEBUG", "[70,98) DEBUG"));
}

TEST(Segments, OfTheNextDayReadOnlyWhatExpiredSince) {
  EXPECT_THAT(shown({rule("keep", 30), rule("DEBUG", 2)}, {{"keep", day(69)}, {"DEBUG", day(97)}}),
              ElementsAre("[69,70) keep", "[97,98) DEBUG"));
}

TEST(Segments, ReachBackForTheRuleThatIsLeastFar) {
  EXPECT_THAT(shown({rule("keep", 30), rule("DEBUG", 2)}, {{"keep", day(69)}, {"DEBUG", day(50)}}),
              ElementsAre("[50,70) keep DEBUG", "[70,98) DEBUG"));
  EXPECT_THAT(shown({rule("keep", 30), rule("DEBUG", 2)}, {{"keep", day(69)}}),
              ElementsAre("[-,70) keep DEBUG", "[70,98) DEBUG"));
}

TEST(Segments, AreNoneWhereAllIsDone) {
  EXPECT_THAT(shown({rule("keep", 30)}, {{"keep", day(70)}}), IsEmpty());
  // A policy that keeps longer than the one before.
  EXPECT_THAT(shown({rule("keep", 60)}, {{"keep", day(70)}}), IsEmpty());
  EXPECT_THAT(shown({}, {}), IsEmpty());
}

TEST(Segments, AreOneForEqualCutoffs) {
  EXPECT_THAT(shown({rule("DEBUG", 30), rule("keep", 30)}, {}), ElementsAre("[-,70) DEBUG keep"));
}

}  // namespace
}  // namespace spillway::retention
