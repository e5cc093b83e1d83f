// SPDX-License-Identifier: MIT
#include "cli/log_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTime = "2026-08-28T06:35:12.345Z";

LogRow row_of(std::string message, std::optional<std::string> fields = {}) {
  return {.key = {kTime, 7, 1},
          .level = "ERROR",
          .context = "billing",
          .message = std::move(message),
          .fields = std::move(fields)};
}

LogRow gap_row() {
  LogRow row = row_of("Log persistence paused while D1 was overloaded, 12 skipped",
                      R"({"kind":"gap","reason":"overload","total":12,"skipped":{"INFO":12}})");
  row.level = "WARN";
  row.context = "spillway";
  return row;
}

std::string line(const LogRow& row) { return log_line(row, Colour::kOff); }

// What follows the context.
std::string said(const LogRow& row) {
  const std::string text = line(row);
  const std::string begin = kTime + " ERROR billing ";
  EXPECT_TRUE(text.starts_with(begin)) << text;
  return text.substr(begin.size());
}

TEST(LogLine, ShowsTimeLevelContextMessageAndFields) {
  EXPECT_EQ(line(row_of("payment failed", R"({"order":42,"reason":"card expired"})")),
            kTime + " ERROR billing payment failed order=42 reason=\"card expired\"\n");
}

TEST(LogLine, KeepsTheColumnsBehindShortLevelsInLine) {
  LogRow row = row_of("x");
  row.level = "INFO";
  EXPECT_EQ(line(row), kTime + " INFO  billing x\n");
  row.level = "CRITICAL";
  row.context = "";
  EXPECT_EQ(line(row), kTime + " CRITICAL - x\n");
}

TEST(LogLine, ShowsFieldsSoThatEachCanBeTold) {
  EXPECT_EQ(said(row_of("m", R"({"a":"","b":"x=y","c":"q\"","d":[1, 2],"e f":null,"g":"ok"})")),
            R"(m a="" b="x=y" c="q\"" d=[1, 2] "e f"=null g=ok)"
            "\n");
  EXPECT_EQ(said(row_of("m", "{}")), "m\n");
  EXPECT_EQ(said(row_of("m", "no json\x1b")), "m no json\\x1b\n");
}

TEST(LogLine, SetsInTheLinesOfALongMessage) {
  EXPECT_EQ(said(row_of("failed:\n\tat main\r\n2026 INFO app forged\n", R"({"a":1})")),
            "failed:\n    \tat main\n    2026 INFO app forged\n    a=1\n");
  EXPECT_EQ(said(row_of("\n\nx")), "\n    \n    x\n");
  EXPECT_EQ(said(row_of("one line\n")), "one line\n");
  EXPECT_EQ(said(row_of("")), "\n");
}

TEST(LogLine, SendsNoControlCharacterOfAnyColumn) {
  LogRow row = row_of("a\x1b[2Jb\rc", "{\"k\x1b\":\"v\xC2\x9B\"}");
  row.context = "c\nd\x1b";
  row.level = "L\a";
  row.key.created_at = "t\x1b";
  const std::string text = line(row);
  EXPECT_EQ(text.find_first_of("\x1b\a\r\x9B"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_THAT(text, AllOf(HasSubstr("a\\x1b[2Jb\\rc"), HasSubstr("c\\nd\\x1b")));
}

TEST(LogLine, MakesAGapStandOutWithoutColourToo) {
  EXPECT_EQ(line(gap_row()), kTime +
                                 " WARN  spillway *** Log persistence paused while D1 was "
                                 "overloaded, 12 skipped *** kind=gap reason=overload total=12 "
                                 "skipped={\"INFO\":12}\n");
}

TEST(LogLine, TakesForAGapOnlyWhatSpillwaySays) {
  EXPECT_TRUE(is_gap_row(gap_row()));
  LogRow other = gap_row();
  other.context = "spillway_";
  EXPECT_FALSE(is_gap_row(other));
  other = gap_row();
  other.fields = R"({"kind":"other","x":"gap"})";
  EXPECT_FALSE(is_gap_row(other));
  other.fields = {};
  EXPECT_FALSE(is_gap_row(other));
}

TEST(LogLine, PaintsOnlyWhenAskedToAndEndsEachColour) {
  for (const LogRow& row : {row_of("x", R"({"a":1})"), gap_row()}) {
    const std::string text = log_line(row, Colour::kOn);
    EXPECT_THAT(text, AllOf(HasSubstr("\x1b["), EndsWith("\x1b[0m\n")));
    EXPECT_THAT(line(row), Not(HasSubstr("\x1b")));
  }
}

TEST(LogJson, GivesTheRowAsItIsStored) {
  EXPECT_EQ(log_json(row_of("say \"hi\"\n", "{\"n\":18446744073709551615,\n \"x\":1.50}")),
            R"({"created_at":"2026-08-28T06:35:12.345Z","writer":7,"seq":1,"level":"ERROR",)"
            R"("context":"billing","message":"say \"hi\"\n",)"
            R"("fields":{"n":18446744073709551615,  "x":1.50}})"
            "\n");
  EXPECT_THAT(log_json(row_of("m")), EndsWith("\"fields\":null}\n"));
}

TEST(LogJson, GivesFieldsThatAreNoJsonAsAString) {
  EXPECT_THAT(log_json(row_of("m", "{\"a\":1")), EndsWith("\"fields\":\"{\\\"a\\\":1\"}\n"));
  EXPECT_THAT(log_json(row_of("m", "")), EndsWith("\"fields\":\"\"}\n"));
}

TEST(LogJson, SendsNothingThatSteersATerminal) {
  const std::string text = log_json(row_of("\x1b\xC2\x9B\x7F\xE2\x80\xAE"));
  EXPECT_THAT(text, HasSubstr(R"("message":"\u001b\u009b\u007f\u202e")"));
}

}  // namespace
}  // namespace spillway
