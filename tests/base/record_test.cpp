// SPDX-License-Identifier: MIT
#include <spillway/record.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

const std::vector<std::pair<std::string, Level>>& known_words() {
  static const std::vector<std::pair<std::string, Level>> words = {
      {"trace", Level::kTrace},       {"debug", Level::kDebug},    {"info", Level::kInfo},
      {"information", Level::kInfo},  {"notice", Level::kInfo},    {"warn", Level::kWarn},
      {"warning", Level::kWarn},      {"error", Level::kError},    {"err", Level::kError},
      {"critical", Level::kCritical}, {"crit", Level::kCritical},  {"fatal", Level::kCritical},
      {"alert", Level::kCritical},    {"emerg", Level::kCritical}, {"emergency", Level::kCritical},
      {"panic", Level::kCritical},
  };
  return words;
}

TEST(Level, HasTheNamesOfTheTable) {
  EXPECT_EQ(to_string(Level::kTrace), "TRACE");
  EXPECT_EQ(to_string(Level::kDebug), "DEBUG");
  EXPECT_EQ(to_string(Level::kInfo), "INFO");
  EXPECT_EQ(to_string(Level::kWarn), "WARN");
  EXPECT_EQ(to_string(Level::kError), "ERROR");
  EXPECT_EQ(to_string(Level::kCritical), "CRITICAL");
}

TEST(Level, ShowsANumberThatIsNoLevelAsTheGravest) {
  EXPECT_EQ(to_string(static_cast<Level>(kLevelCount)), "CRITICAL");
  EXPECT_EQ(to_string(static_cast<Level>(255)), "CRITICAL");
}

TEST(Level, IsReadFromEveryKnownWord) {
  for (const auto& [word, level] : known_words()) {
    EXPECT_EQ(parse_level(word), level) << word;
  }
}

TEST(Level, IsReadInAnyCase) {
  EXPECT_EQ(parse_level("INFO"), Level::kInfo);
  EXPECT_EQ(parse_level("Warning"), Level::kWarn);
  EXPECT_EQ(parse_level("eRRoR"), Level::kError);
  EXPECT_EQ(parse_level("EMERGENCY"), Level::kCritical);
}

TEST(Level, SurvivesTheWayThroughItsName) {
  for (std::size_t i = 0; i < kLevelCount; ++i) {
    const auto level = static_cast<Level>(i);
    EXPECT_EQ(parse_level(to_string(level)), level);
  }
}

TEST(Level, IsNotReadFromOtherWords) {
  for (const char* word : {"", " ", "in", "inf", "infos", " info", "info ", "[info]",
                           "informational", "warned", "errors", "1", "verbose", "off"}) {
    EXPECT_EQ(parse_level(word), std::nullopt) << '"' << word << '"';
  }
}

TEST(Level, IsNotReadFromWordsThatDifferByTheCaseBitOnly) {
  EXPECT_EQ(parse_level(std::string_view("\x09nfo")), std::nullopt);  // 'I' without bit 6.
  EXPECT_EQ(parse_level(std::string_view("info\0", 5)), std::nullopt);
  EXPECT_EQ(parse_level("\xC4\xB0nfo"), std::nullopt);  // Turkish capital dotted I.
}

}  // namespace
}  // namespace spillway
