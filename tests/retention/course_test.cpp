// SPDX-License-Identifier: MIT
//
// Goal: what a run walks is enough, whatever the last one left, and not more than that.
#include "retention/course.h"

#include "base/time_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace spillway::retention {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

WallTime day(int number) { return WallTime(hours(24) * number); }
Row place_at(WallTime time) { return {time_text(time), std::int64_t{1}, std::int64_t{1}}; }

Policy policy() {
  return {.keep = hours(24) * 30, .levels = {{"AUDIT", hours(24) * 90}, {"DEBUG", hours(48)}}};
}

const Course::Ends kNoLateRow{OldestRow{day(1'000), "INFO"}, day(1'000)};

// What a run on day 100 left that met the policy.
LoadedState left_on_day_100() {
  return {.state = {.policy = to_string(policy()),
                    .at = day(100),
                    .met = day(100),
                    .watermarks = {{"AUDIT", day(10)}, {"keep", day(70)}, {"DEBUG", day(98)}},
                    .full_walk = day(99)}};
}

Course course_on(WallTime now, const LoadedState& before, const Course::Ends& ends = kNoLateRow) {
  return {before, policy(), true, now, ends};
}

// "[10,70) keep DEBUG"
std::vector<std::string> shown(const Course& course) {
  const auto day_of = [](const std::optional<WallTime>& time) {
    return time ? std::to_string(time->time_since_epoch() / hours(24)) : std::string("-");
  };
  std::vector<std::string> texts;
  for (const Segment& segment : course.segments()) {
    texts.push_back("[" + day_of(segment.range.from) + "," + day_of(segment.range.before) + ")");
    for (const Rule& rule : segment.rules) {
      texts.back() += " " + rule.name;
    }
  }
  return texts;
}

const auto kWholeTableOnDay101 =
    ElementsAre("[-,11) AUDIT keep DEBUG", "[11,71) keep DEBUG", "[71,99) DEBUG");
const auto kWhatExpiredOnDay101 = ElementsAre("[10,11) AUDIT", "[70,71) keep", "[98,99) DEBUG");

TEST(Course, IsAFullWalkWhereItHasToBe) {
  LoadedState other_policy = left_on_day_100();
  other_policy.state.policy = "keep=30d";
  LoadedState never = left_on_day_100();
  never.state.full_walk.reset();
  LoadedState long_ago = left_on_day_100();
  long_ago.state.full_walk = day(101) - hours(7 * 24);
  LoadedState ahead = left_on_day_100();
  ahead.state.full_walk = day(102);
  LoadedState restored = left_on_day_100();
  restored.restored = day(99);
  // By another clock, which may be 5 minutes behind.
  LoadedState restored_by_a_slow_clock = left_on_day_100();
  restored_by_a_slow_clock.restored = day(99) - minutes(4);
  for (const auto& [name, before] : std::vector<std::pair<const char*, LoadedState>>{
           {"nothing is known", {}},
           {"another policy", other_policy},
           {"no full walk so far", never},
           {"a week ago", long_ago},
           {"in the future", ahead},
           {"restored", restored},
           {"restored by a slow clock", restored_by_a_slow_clock}}) {
    const Course course = course_on(day(101), before);
    EXPECT_TRUE(course.is_full_walk()) << name;
    EXPECT_THAT(shown(course), kWholeTableOnDay101) << name;
  }
}

TEST(Course, BeginsOtherwiseAtTheWatermarks) {
  LoadedState before = left_on_day_100();
  before.restored = day(98);
  const Course course = course_on(day(101), before);
  EXPECT_FALSE(course.is_full_walk());
  EXPECT_THAT(shown(course), kWhatExpiredOnDay101);
  EXPECT_THAT(shown(course_on(day(99), before)), IsEmpty()) << "a clock that was set back";
}

TEST(Course, IsAFullWalkWhereARowCameInBehindItsWatermark) {
  const auto with_oldest = [](WallTime time, const char* level) {
    return course_on(day(101), left_on_day_100(), {OldestRow{time, level}, day(101)})
        .is_full_walk();
  };
  EXPECT_TRUE(with_oldest(day(5), "AUDIT"));
  EXPECT_TRUE(with_oldest(day(69), "INFO"));
  EXPECT_TRUE(with_oldest(day(97), "DEBUG"));
  EXPECT_FALSE(with_oldest(day(70), "INFO")) << "has only now expired";
  EXPECT_FALSE(with_oldest(day(69), "AUDIT")) << "is kept longer";
  EXPECT_FALSE(with_oldest(day(97), "INFO")) << "is behind the watermark of another rule only";
}

TEST(Course, ForgetsTheWatermarksOfAnotherPolicy) {
  LoadedState before = left_on_day_100();
  before.state.policy = "keep=30d";
  before.state.place = place_at(day(50));
  const State state = course_on(day(101), before).state();
  EXPECT_THAT(state.watermarks, IsEmpty());
  EXPECT_EQ(state.place, std::nullopt);
  EXPECT_EQ(state.policy, to_string(policy()));
}

TEST(Course, OfADailyWalkMovesTheWatermarksOnly) {
  Course course = course_on(day(101), left_on_day_100());
  const std::vector<Segment> segments = course.segments();
  ASSERT_EQ(segments.size(), 3U);
  course.on_place(segments[0], std::nullopt);
  course.on_place(segments[1], place_at(day(70) + hours(6)));
  EXPECT_EQ(course.state().place, std::nullopt);
  EXPECT_THAT(course.state().watermarks,
              UnorderedElementsAre(Pair("AUDIT", day(11)), Pair("keep", day(70) + hours(6)),
                                   Pair("DEBUG", day(98))));
  course.on_walked();
  EXPECT_EQ(course.state().full_walk, day(99));
}

TEST(Course, NeverMovesAWatermarkBack) {
  LoadedState before = left_on_day_100();
  before.state.full_walk.reset();
  Course course = course_on(day(101), before);
  course.on_place(course.segments()[0], place_at(day(3)));
  EXPECT_EQ(course.state().watermarks, before.state.watermarks);
}

// Its cut-offs moved on meanwhile, and what expired behind its place must not be missed.
TEST(Course, GoesOnWhereAFullWalkWasStopped) {
  LoadedState before = left_on_day_100();
  before.state.full_walk.reset();
  Course stopped_early = course_on(day(100), before);
  stopped_early.on_place(stopped_early.segments()[0], place_at(day(3)));
  Course stopped_late = course_on(day(100), before);
  stopped_late.on_place(stopped_late.segments()[2], place_at(day(80)));
  const Course from_early = course_on(day(101), {.state = stopped_early.state()});
  EXPECT_THAT(shown(from_early),
              ElementsAre("[3,11) AUDIT keep DEBUG", "[11,71) keep DEBUG", "[71,99) DEBUG"));
  Course from_late = course_on(day(101), {.state = stopped_late.state()});
  EXPECT_THAT(shown(from_late), ElementsAre("[10,11) AUDIT", "[70,71) keep", "[80,99) DEBUG"));
  from_late.on_place(from_late.segments()[0], place_at(day(10) + hours(1)));
  EXPECT_EQ(from_late.state().place, place_at(day(80)));
  from_late.on_walked();
  EXPECT_EQ(from_late.state().full_walk, day(101));
  EXPECT_EQ(from_late.state().place, std::nullopt);
}

TEST(Course, BeginsAFullWalkAnewWhenRowsCameBackMeanwhile) {
  LoadedState before = left_on_day_100();
  before.state.place = place_at(day(50));
  before.restored = day(100) + hours(1);
  const Course anew = course_on(day(101), before);
  EXPECT_THAT(shown(anew), kWholeTableOnDay101);
  // That run came nowhere.
  const LoadedState left{.state = anew.state(), .restored = before.restored};
  EXPECT_THAT(shown(course_on(day(101) + hours(1), left)), kWholeTableOnDay101);
}

TEST(Course, OfATableOfOthersIsAllOfItFromThePlaceOn) {
  const auto from = [](const LoadedState& before) {
    const Course course(before, policy(), false, day(101), kNoLateRow);
    EXPECT_TRUE(course.is_full_walk());
    const std::vector<Segment> segments = course.segments();
    EXPECT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments.front().rules.size(), 3U);
    return segments.front().range.beyond;
  };
  LoadedState before = left_on_day_100();
  EXPECT_EQ(from(before), std::nullopt);
  before.state.place = Row{std::int64_t{7}};
  EXPECT_EQ(from(before), before.state.place);
  before.restored = day(100) + hours(1);
  EXPECT_EQ(from(before), std::nullopt);
}

TEST(Course, OfNoRulesIsEmpty) {
  const Policy newest_only{.max_rows = 10};
  EXPECT_THAT(Course({}, newest_only, true, day(101), {}).segments(), IsEmpty());
  EXPECT_THAT(Course({}, newest_only, false, day(101), {}).segments(), IsEmpty());
}

}  // namespace
}  // namespace spillway::retention
