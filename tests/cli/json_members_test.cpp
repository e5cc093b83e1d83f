// SPDX-License-Identifier: MIT
#include "cli/json_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Each member as KEY=VALUE.
std::vector<std::string> members(std::string_view text) {
  const auto found = json_members(text);
  if (!found) {
    return {"none"};
  }
  std::vector<std::string> texts;
  for (const JsonMember& member : *found) {
    texts.push_back(std::string(member.key) + '=' + std::string(member.value));
  }
  return texts;
}

TEST(JsonMembers, GivesThemInOrderAsTheyStand) {
  EXPECT_THAT(members(R"({"order":42,"amount":9.90,"name":"a b","ok":true,"none":null})"),
              ElementsAre("order=42", "amount=9.90", "name=\"a b\"", "ok=true", "none=null"));
  EXPECT_THAT(members(R"({"n":18446744073709551615})"), ElementsAre("n=18446744073709551615"));
}

TEST(JsonMembers, TakesNestedValuesWhole) {
  EXPECT_THAT(members(R"({"a":{"b":[1,{"c":"}]"}]},"d":[[],{}]})"),
              ElementsAre(R"(a={"b":[1,{"c":"}]"}]})", "d=[[],{}]"));
}

TEST(JsonMembers, IsNotMisledByStrings) {
  EXPECT_THAT(members(R"({"a,}\"":"\\","b":"\"},"})"), ElementsAre(R"(a,}\"="\\")", R"(b="\"},")"));
}

TEST(JsonMembers, PassesOverSpace) {
  EXPECT_THAT(members(" {\n \"a\" : 1 ,\t\"b\" : [ 1 ] } \r\n"), ElementsAre("a=1", "b=[ 1 ]"));
  EXPECT_THAT(members("{ }"), IsEmpty());
  EXPECT_THAT(members("{}"), IsEmpty());
}

TEST(JsonMembers, GivesNoneOfWhatIsNoObject) {
  for (const char* const text :
       {"", " ", "{", "[1]", "7", "\"x\"", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}",
        "{\"a\":1]", "{a:1}", "{\"a:1}", "{\"a\":\"1}", "{} {}", "{\"a\":1}x", "{\"a\":[1}", "{,}",
        "{\"a\\"}) {
    EXPECT_THAT(members(text), ElementsAre("none")) << text;
  }
}

TEST(JsonMembers, BearsDeepNesting) {
  const std::string deep =
      "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + '}';
  EXPECT_EQ(json_members(deep).value().front().value.size(), 2'000'000U);
}

TEST(JsonMembers, KnowsAStringWithoutEscapes) {
  EXPECT_EQ(plain_string("\"a b\""), "a b");
  EXPECT_EQ(plain_string("\"\""), "");
  for (const char* const value : {"\"", "1", "\"a\\n\"", "[\"a\"]"}) {
    EXPECT_EQ(plain_string(value), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace spillway
