// SPDX-License-Identifier: MIT
#include "tests/house/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::house {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SourceText, HasNoLineAfterTheLastNewline) {
  EXPECT_THAT(lines_of(""), IsEmpty());
  EXPECT_THAT(lines_of("a\n\nb\n"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("a\nb"), ElementsAre("a", "b"));
}

TEST(SourceText, BlanksCommentsAndKeepsTheCodeInPlace) {
  EXPECT_EQ(code_of("a; // b\nc;"), "a;     \nc;");
  EXPECT_EQ(code_of("a /* b\nc */ d"), "a     \n     d");
  EXPECT_EQ(code_of("a / b"), "a / b");
}

TEST(SourceText, BlanksLiterals) {
  EXPECT_EQ(code_of(R"(f("ab//c", 'd', x);)"), "f(       ,    , x);");
  EXPECT_EQ(code_of(R"(f("\"a", '\'', x))"), "f(     ,     , x)");
  EXPECT_EQ(code_of("f(R\"x(a)\" b)x\", c)"), "f(            , c)");
}

TEST(SourceText, KnowsADigitSeparatorFromALiteral) {
  EXPECT_EQ(code_of("1'000 + sleep(1'000)"), "1'000 + sleep(1'000)");
}

TEST(SourceText, EndsWhereALiteralDoesNot) {
  EXPECT_EQ(code_of("a \"bc"), "a    ");
  EXPECT_EQ(code_of("a /* bc"), "a      ");
  EXPECT_EQ(code_of("a R\"bc"), "a     ");
}

TEST(SourceText, FindsIncludesButNotInCommentsAndLiterals) {
  const std::vector<Include> includes = includes_of(
      "#include <string>\n// #include <no>\n#include \"base/utf8.h\"  // why\n/*\n#include <no>\n*/"
      "\nR\"(\n#include <no>\n)\"\n");
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].header, "string");
  EXPECT_EQ(includes[0].line, 1U);
  EXPECT_FALSE(includes[0].is_quoted);
  EXPECT_EQ(includes[1].header, "base/utf8.h");
  EXPECT_EQ(includes[1].line, 3U);
  EXPECT_TRUE(includes[1].is_quoted);
}

TEST(SourceText, FindsWordsThatDoNotGoOnBefore) {
  EXPECT_THAT(lines_with("sleep(1)\nusleep(1)\nx; ::sleep(1) sleep(2)\n", "sleep("),
              ElementsAre(1, 3));
  EXPECT_THAT(lines_with("usleep(1); sleep(1)", "sleep("), ElementsAre(1));
}

TEST(SourceText, CountsCharactersNotBytes) {
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("\u20AC\u00E9\U0001F4A7"), 3U);
}

}  // namespace
}  // namespace spillway::house
