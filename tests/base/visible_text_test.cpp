// SPDX-License-Identifier: MIT
#include "base/visible_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;

TEST(VisibleText, LeavesPrintableTextAsItIs) {
  const std::string text = R"(Grüße, 漢字 🙂 e͏́ C:\new\table "quoted" ~)";
  EXPECT_EQ(visible(text), text);
}

TEST(VisibleText, ShowsControlCharacters) {
  EXPECT_EQ(visible("\x1b[31mred\x1b]0;title\a"), R"(\x1b[31mred\x1b]0;title\x07)");
  EXPECT_EQ(visible("a\nb\rc\td\0e\x7f"sv), R"(a\nb\rc\td\x00e\x7f)");
}

TEST(VisibleText, ShowsC1ControlsWhichSomeTerminalsObey) {
  EXPECT_EQ(visible("\xC2\x9B"
                    "31m"),
            R"(\u009b31m)");
  EXPECT_EQ(visible("\xC2\x80 \xC2\x9F \xC2\xA0"), "\\u0080 \\u009f \xC2\xA0");
}

TEST(VisibleText, ShowsWhatTurnsTheDirectionOfWriting) {
  EXPECT_EQ(visible("user\xE2\x80\xAEtxt.exe"), R"(user\u202etxt.exe)");
  EXPECT_EQ(visible("\xE2\x80\xA8\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C"), R"(\u2028\u2066\u200f\u061c)");
  EXPECT_EQ(visible("\xE2\x80\x8D"), "\xE2\x80\x8D") << "the joiner of emoji stays";
}

TEST(VisibleText, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(visible("a\xFF"
                    "b\xE2\x80"),
            R"(a\xffb\xe2\x80)");
  EXPECT_EQ(visible("\x9B"
                    "31m"),
            R"(\x9b31m)");
}

TEST(VisibleText, KeepsTabsWhereTheyAreWanted) {
  std::string out = ">";
  append_visible("\tat main\n", Tabs::kKeep, out);
  EXPECT_EQ(out, ">\tat main\\n");
}

TEST(VisibleText, EscapesInJsonWithoutChangingTheData) {
  EXPECT_EQ(visible_json("{\"m\":\"\xC2\x9B\x7F\xE2\x80\xAE Gr\xC3\xBC\xC3\x9F\xE2\x82\xAC\"}"),
            "{\"m\":\"\\u009b\\u007f\\u202e Gr\xC3\xBC\xC3\x9F\xE2\x82\xAC\"}");
}

TEST(VisibleText, CountsCodePoints) {
  EXPECT_EQ(width_of("Gr\xC3\xBC\xC3\x9F"
                     "e"),
            5U);
  EXPECT_EQ(width_of(""), 0U);
}

}  // namespace
}  // namespace spillway
