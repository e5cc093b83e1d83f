// SPDX-License-Identifier: MIT
#include "cli/time_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace spillway {
namespace {

using ::testing::HasSubstr;

// 2026-08-28T06:35:12.345Z
constexpr WallTime kNow{std::chrono::milliseconds(1'787'898'912'345)};

std::string parse(const std::string& text) {
  const auto time = parse_time_point(text, kNow);
  return time ? *time : "refused";
}

std::string refusal(const std::string& text) {
  const auto time = parse_time_point(text, kNow);
  EXPECT_EQ(time.status().code(), StatusCode::kInvalidArgument) << text;
  return time.status().message();
}

TEST(TimePoint, CountsBackFromNow) {
  EXPECT_EQ(parse("500ms"), "2026-08-28T06:35:11.845Z");
  EXPECT_EQ(parse("30s"), "2026-08-28T06:34:42.345Z");
  EXPECT_EQ(parse("15min"), "2026-08-28T06:20:12.345Z");
  EXPECT_EQ(parse("2h"), "2026-08-28T04:35:12.345Z");
  EXPECT_EQ(parse("3d"), "2026-08-25T06:35:12.345Z");
  EXPECT_EQ(parse("1w"), "2026-08-21T06:35:12.345Z");
}

TEST(TimePoint, StopsAtTheYearZero) {
  EXPECT_EQ(parse("3000000d"), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(parse("9223372036854775807ms"), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(parse("9223372036854775807d"), "refused");
}

TEST(TimePoint, TakesATimeAsTheTableShowsIt) {
  EXPECT_EQ(parse("2026-08-28T06:35:12.345Z"), "2026-08-28T06:35:12.345Z");
  EXPECT_EQ(parse("2026-08-28T06:35:12Z"), "2026-08-28T06:35:12.000Z");
  EXPECT_EQ(parse("2026-08-28 06:35:12"), "2026-08-28T06:35:12.000Z");
}

TEST(TimePoint, TakesABeginningForItsFirstMoment) {
  EXPECT_EQ(parse("2026"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(parse("2026-08"), "2026-08-01T00:00:00.000Z");
  EXPECT_EQ(parse("2026-08-28"), "2026-08-28T00:00:00.000Z");
  EXPECT_EQ(parse("2026-08-28T06"), "2026-08-28T06:00:00.000Z");
  EXPECT_EQ(parse("2026-08-28T06:35"), "2026-08-28T06:35:00.000Z");
  EXPECT_EQ(parse("2026-08-28T06:35:12.3"), "2026-08-28T06:35:12.300Z");
}

TEST(TimePoint, KnowsTheCalendar) {
  EXPECT_EQ(parse("2024-02-29"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(parse("2000-02-29"), "2000-02-29T00:00:00.000Z");
  for (const char* const text :
       {"2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00",
        "2026-08-28T24:00", "2026-08-28T06:60", "2026-08-28T06:35:60Z"}) {
    EXPECT_THAT(refusal(text), HasSubstr("is in no calendar")) << text;
  }
}

TEST(TimePoint, AsksWhatMMeansAndForUtc) {
  EXPECT_EQ(refusal("5m"), "'5m' could be minutes or months; for minutes write 15min");
  EXPECT_THAT(refusal("2026-08-28T06:35:12+02:00"), HasSubstr("has a time zone"));
  EXPECT_THAT(refusal("2026-08-28 06:35 -0700"), HasSubstr("has a time zone"));
}

TEST(TimePoint, RefusesWhatIsNoTime) {
  for (const char* const text :
       {"", "now", "yesterday", "12:30", "20260828", "2026-8-28", "2026-08-2", "2026-08-28T",
        "2026-08-28T6:35", "2026-08-28T06:35:12.", "2026-08-28T06:35:12.3456Z", "-5min", "0d",
        "1.5h", "d", "2026-08-28T06:35:12.345ZZ", "5y", " 5d", "5 d"}) {
    EXPECT_THAT(refusal(text), HasSubstr("is no time; write 15min")) << text;
  }
}

}  // namespace
}  // namespace spillway
