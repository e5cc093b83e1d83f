// SPDX-License-Identifier: MIT
#include "cli/level_word.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;

struct Example {
  std::string_view line;
  std::optional<Level> level;
};

void expect_levels(const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    EXPECT_EQ(level_word(example.line), example.level) << example.line;
  }
}

TEST(LevelWord, FindsTheLevelInTheFormatsOfWellKnownPrograms) {
  expect_levels({
      // Apache, 2.2 and 2.4
      {"[Tue Mar 03 07:08:09 2026] [error] proxy: worker 6 does not answer", Level::kError},
      {"[Tue Mar 03 07:08:09 2026] [notice] proxy: started", Level::kInfo},
      // spdlog, nginx, PostgreSQL, MySQL
      {"[2026-08-28 06:35:12.345] [app] [warning] text", Level::kWarn},
      {"[2026-08-28 06:35:12.345] [critical] text", Level::kCritical},
      {"2026/08/28 06:35:12 [crit] 123#0: *1 open() failed", Level::kCritical},
      {"2026-08-28 06:35:12.345 UTC [42] ERROR:  relation \"x\" does not exist", Level::kError},
      {"2026-08-28T06:35:12.345678Z 0 [Warning] [MY-010068] [Server] CA", Level::kWarn},
      // Python logging, celery, log4j with padding, gcc, Erlang
      {"2026-01-01 12:00:00,123 ERROR root: x", Level::kError},
      {"ERROR:root:x", Level::kError},
      {"WARNING:root:msg", Level::kWarn},
      {"[2026-01-01 12:00:00,123: INFO/MainProcess] ready", Level::kInfo},
      {"2026-01-01 12:00:00 [INFO ] c.e.App - started", Level::kInfo},
      {"main.cpp:3:5: error: expected ';'", Level::kError},
      {"=ERROR REPORT==== 1-Jan-2026::12:00:00 ===", Level::kError},
      {"Jan  1 12:00:00 host kernel: WARNING: CPU: 0 PID: 1", Level::kWarn},
      {"Jan 1 12:00:00 host app: WARN disk", Level::kWarn},
  });
}

TEST(LevelWord, FindsNoneWhereThereIsNone) {
  expect_levels({
      {"", std::nullopt},
      {"   \t ", std::nullopt},
      {"Mar  3 07:08:09 host1 sshd(pam)[4711]: login refused for user nobody from port 2222",
       std::nullopt},
      {"Mar  3 07:08:10 host1 su(pam)[4712]: user root comes in", std::nullopt},
      {"a b c d e f ERROR", std::nullopt},
      {"[]", std::nullopt},
      {"[", std::nullopt},
      {":", std::nullopt},
  });
}

TEST(LevelWord, TakesBracketsAndColonInAnyCase) {
  expect_levels({
      {"[error] x", Level::kError},
      {"[Error] x", Level::kError},
      {"[ERROR] x", Level::kError},
      {"error: x", Level::kError},
      {"Warning: x", Level::kWarn},
      {"[12:30:01][app][debug] x", Level::kDebug},
      {"[error]: x", Level::kError},
  });
}

TEST(LevelWord, TakesABareWordOnlyInUpperCase) {
  expect_levels({
      {"an error occurred", std::nullopt},
      {"Error in line 3", std::nullopt},
      {"no info", std::nullopt},
      {"an ERROR occurred", Level::kError},
      {"EMERG x", Level::kCritical},
      {"TRACE x", Level::kTrace},
  });
}

TEST(LevelWord, LooksThroughPunctuationAroundABareWord) {
  expect_levels({
      {"ERROR, x", Level::kError},
      {"(ERROR) x", Level::kError},
      {"x ERROR] y", Level::kError},
      {"\"ERROR\" x", Level::kError},
      {"**ERROR** x", Level::kError},
      {"|ERROR| x", Level::kError},
      {"ERROR... x", Level::kError},
      {"ERROR", Level::kError},
  });
}

TEST(LevelWord, DoesNotTakePartOfALongerWord) {
  expect_levels({
      {"ERRORS x", std::nullopt},
      {"ERROR_CODE x", std::nullopt},
      {"ERROR5 x", std::nullopt},
      {"ERROR=5 x", std::nullopt},
      {"MY_ERROR x", std::nullopt},
      {"$ERROR x", std::nullopt},
      {"INFO.md x", std::nullopt},
      {"INFOrmal x", std::nullopt},
      {"[errors] x", std::nullopt},
      {"ERROR\xc3\x84 x", std::nullopt},
  });
}

TEST(LevelWord, GivesTheFirstOfSeveral) {
  expect_levels({
      {"[warning] ERROR", Level::kWarn},
      {"INFO ERROR", Level::kInfo},
      {"[app] debug: [error]", Level::kDebug},
      {"[info][error]", Level::kInfo},
  });
}

TEST(LevelWord, StopsAfterTheSixthToken) {
  EXPECT_EQ(level_word("1 2 3 4 5 ERROR"), Level::kError);
  EXPECT_EQ(level_word("1 2 3 4 5 6 ERROR"), std::nullopt);
  EXPECT_EQ(level_word("\t1  2\v3 \f4 5  ERROR  "), Level::kError);
}

TEST(LevelWord, StandsBytesOfAnyKind) {
  EXPECT_EQ(level_word("\0\0 \xff\xfe ERROR"sv), Level::kError);
  EXPECT_EQ(level_word("ERROR\0"sv), std::nullopt);
  EXPECT_EQ(level_word(std::string(2'000'000, 'x') + " ERROR"), Level::kError);
  EXPECT_EQ(level_word(std::string(2'000'000, '[')), std::nullopt);
}

}  // namespace
}  // namespace spillway
