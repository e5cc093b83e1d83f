// SPDX-License-Identifier: MIT
#include "cli/duration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace spillway {
namespace {

using std::chrono::milliseconds;

TEST(Duration, ReadsANumberWithItsUnit) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("2min"), milliseconds(120'000));
  EXPECT_EQ(parse_duration("1h"), milliseconds(3'600'000));
}

TEST(Duration, RefusesANumberWithoutUnitAndUnitsItDoesNotKnow) {
  for (const char* const text : {"30", "30m", "30d", "30S", "30sec", "30 s", "30s ", "30ss"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, RefusesWhatIsNotAPositiveWholeNumber) {
  for (const char* const text :
       {"", "s", "abc", "0s", "0ms", "-5s", "+5s", "1.5s", "1e3s", " 1s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, RefusesWhatDoesNotFitInMilliseconds) {
  EXPECT_EQ(parse_duration("9223372036854775807ms"), milliseconds(9223372036854775807));
  EXPECT_EQ(parse_duration("9223372036854775808ms"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036854775807s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999h"), std::nullopt);
}

}  // namespace
}  // namespace spillway
