// SPDX-License-Identifier: MIT
#include "base/time_text.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace spillway {
namespace {

constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kFirst = -62'167'219'200'000;
constexpr std::int64_t kLast = 253'402'300'799'999;

WallTime at(std::int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

// The same by the C library, which shares no code with ours.
std::string expected_text(std::int64_t ms) {
  const std::int64_t seconds = ms >= 0 ? ms / 1000 : -((-ms + 999) / 1000);
  const time_t unix_time = seconds;
  struct tm parts {};
  gmtime_r(&unix_time, &parts);
  char text[64];
  static_cast<void>(std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                                  parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                                  parts.tm_hour, parts.tm_min, parts.tm_sec,
                                  static_cast<int>(ms - seconds * 1000)));
  return text;
}

TEST(TimeText, HasTheDocumentedForm) {
  EXPECT_EQ(time_text(at(1'787'898'912'345)), "2026-08-28T06:35:12.345Z");
  EXPECT_EQ(time_text(at(0)), "1970-01-01T00:00:00.000Z");
}

TEST(TimeText, RoundsDownBefore1970) {
  EXPECT_EQ(time_text(at(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(at(-1000)), "1969-12-31T23:59:59.000Z");
  EXPECT_EQ(time_text(at(-1001)), "1969-12-31T23:59:58.999Z");
  EXPECT_EQ(time_text(at(-kDay)), "1969-12-31T00:00:00.000Z");
}

TEST(TimeText, KnowsLeapYears) {
  EXPECT_EQ(time_text(at(951'782'400'000)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(time_text(at(951'782'400'000 + kDay)), "2000-03-01T00:00:00.000Z");
  EXPECT_EQ(time_text(at(1'709'164'800'000)), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(time_text(at(-2'203'891'200'000 - 1)), "1900-02-28T23:59:59.999Z");
  EXPECT_EQ(time_text(at(-2'203'891'200'000)), "1900-03-01T00:00:00.000Z");
}

TEST(TimeText, ReachesFromYear0ToYear9999) {
  EXPECT_EQ(time_text(at(kFirst)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(at(kFirst + 59 * kDay)), "0000-02-29T00:00:00.000Z");
  EXPECT_EQ(time_text(at(kLast)), "9999-12-31T23:59:59.999Z");
}

TEST(TimeText, ClampsWhatIsOutside) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(time_text(at(kFirst - 1)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(at(least)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(at(kLast + 1)), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(at(most)), "9999-12-31T23:59:59.999Z");
}

TEST(TimeText, AgreesWithTheCLibraryAtBothEndsOfEveryDay) {
  // The first 800 years day by day; then every eleventh, which meets every day of the 400-year
  // cycle in time, for 11 does not divide its 146,097 days.
  constexpr std::int64_t kWhole = kFirst + 2 * 146'097 * kDay;
  for (std::int64_t start = kFirst; start < kLast; start += start < kWhole ? kDay : 11 * kDay) {
    ASSERT_EQ(time_text(at(start)), expected_text(start));
    ASSERT_EQ(time_text(at(start + kDay - 1)), expected_text(start + kDay - 1));
  }
}

TEST(TimeText, AgreesWithTheCLibraryAroundEveryFirstOfMarch) {
  for (int year = 0; year <= 9999; ++year) {
    const std::int64_t march = (std::chrono::sys_days(std::chrono::year(year) / 3 / 1) -
                                std::chrono::sys_days(std::chrono::year(1970) / 1 / 1))
                                   .count() *
                               kDay;
    for (const std::int64_t ms : {march - kDay - 1, march - kDay, march - 1, march, march + kDay}) {
      ASSERT_EQ(time_text(at(ms)), expected_text(ms));
      ASSERT_EQ(parse_time_text(time_text(at(ms))), at(std::clamp(ms, kFirst, kLast)));
    }
  }
}

TEST(TimeText, AgreesWithTheCLibraryAtRandomTimes) {
  const std::uint64_t seed = 20'260'828;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> times(kFirst, kLast);
  for (int i = 0; i < 300'000; ++i) {
    const std::int64_t ms = times(random);
    ASSERT_EQ(time_text(at(ms)), expected_text(ms)) << "seed " << seed;
    ASSERT_EQ(parse_time_text(time_text(at(ms))), at(ms)) << "seed " << seed;
  }
}

TEST(TimeText, SortsAsTheTimesDo) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> times(kFirst, kLast);
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t left = times(random);
    const std::int64_t right = times(random);
    ASSERT_EQ(time_text(at(left)) < time_text(at(right)), left < right);
  }
}

TEST(TimeText, IsReadOnlyAsItIsWritten) {
  for (const std::string_view text :
       {"", "2026-08-28T06:35:12.34Z", "2026-08-28T06:35:12.3450Z", "2026-08-28 06:35:12.345Z",
        "2026-08-28t06:35:12.345Z", "2026-08-28T06:35:12.345z", "2026-08-28T06:35:12,345Z",
        "2026-08-28T06:35:12.34 Z", "2026-08-28T24:00:00.000Z", "2026-08-28T06:60:12.345Z",
        "2026-08-28T06:35:60.345Z", "2026-02-29T06:35:12.345Z", "2026-13-01T06:35:12.345Z",
        "2026-00-01T06:35:12.345Z", "2026-08-00T06:35:12.345Z", "-026-08-28T06:35:12.345Z",
        "2026-08-28T+6:35:12.345Z", "2026-08-28T06:35:12.345\0"}) {
    EXPECT_EQ(parse_time_text(text), std::nullopt) << text;
  }
}

TEST(TimeText, GivesTheSameAsCharacters) {
  const std::array<char, kTimeTextBytes> chars = time_text_chars(at(1'787'898'912'345));
  EXPECT_EQ(std::string(chars.data(), chars.size()), "2026-08-28T06:35:12.345Z");
}

}  // namespace
}  // namespace spillway
