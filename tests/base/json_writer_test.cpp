// SPDX-License-Identifier: MIT
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;

std::string json_text(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

TEST(JsonWriter, WritesAnObjectWithEveryKindOfValue) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object();
  writer.key("text").value("a");
  writer.key("number").value(std::int64_t{-1});
  writer.key("size").value(std::uint64_t{2});
  writer.key("yes").value(true);
  writer.key("no").value(false);
  writer.key("none").null();
  writer.key("more").json(R"({"a":[1, 2]})");
  writer.end_object();
  EXPECT_EQ(out, R"({"text":"a","number":-1,"size":2,"yes":true,"no":false,"none":null,)"
                 R"("more":{"a":[1, 2]}})");
}

TEST(JsonWriter, WritesEmptyBrackets) {
  std::string out;
  JsonWriter(out).begin_array().begin_object().end_object().begin_array().end_array().end_array();
  EXPECT_EQ(out, "[{},[]]");
}

TEST(JsonWriter, PlacesCommasAtEveryDepth) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object().key("a").begin_array();
  writer.value("x").begin_array().null().null().end_array().value(true);
  writer.begin_object().key("b").null().key("c").null().end_object();
  writer.end_array().key("d").begin_object().end_object().key("e").null().end_object();
  EXPECT_EQ(out, R"({"a":["x",[null,null],true,{"b":null,"c":null}],"d":{},"e":null})");
}

TEST(JsonWriter, KeepsApartObjectsAndArraysDownToTheDeepestLevel) {
  std::string out;
  JsonWriter writer(out);
  for (int i = 0; i < 32; ++i) {
    writer.begin_object().key("k").begin_array();
  }
  for (int i = 0; i < 32; ++i) {
    writer.end_array().end_object();
  }
  std::string expected;
  for (int i = 0; i < 32; ++i) {
    expected += R"({"k":[)";
  }
  for (int i = 0; i < 32; ++i) {
    expected += "]}";
  }
  EXPECT_EQ(out, expected);
}

TEST(JsonWriter, AppendsBehindWhatIsThere) {
  std::string out = "x=";
  JsonWriter(out).begin_array().value("y").end_array();
  EXPECT_EQ(out, R"(x=["y"])");
}

TEST(JsonWriter, WritesIntegersExactly) {
  std::string out;
  JsonWriter(out)
      .begin_array()
      .value(std::numeric_limits<std::int64_t>::min())
      .value(std::numeric_limits<std::int64_t>::max())
      .value(std::numeric_limits<std::uint64_t>::max())
      .value(std::int64_t{0})
      .end_array();
  EXPECT_EQ(out, "[-9223372036854775808,9223372036854775807,18446744073709551615,0]");
}

TEST(JsonWriter, WritesTheShortestFormOfARealThatReadsBack) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_array().value(0.1).value(-0.0).value(3.0).value(1e300).value(5e-324).end_array();
  EXPECT_EQ(json, "[0.1,-0,3,1e+300,5e-324]");
}

TEST(JsonWriter, EscapesQuoteAndBackslash) {
  EXPECT_EQ(json_text(R"(say "hi" \ bye)"), R"("say \"hi\" \\ bye")");
  EXPECT_EQ(json_text("a/b'c"), R"("a/b'c")");
}

TEST(JsonWriter, EscapesEveryControl) {
  EXPECT_EQ(json_text("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(json_text("\0\x01\x0B\x1B\x1F"sv), R"("\u0000\u0001\u000b\u001b\u001f")");
  for (int control = 0; control < 0x20; ++control) {
    const std::string out = json_text(std::string(1, static_cast<char>(control)));
    EXPECT_EQ(out.substr(0, 2), "\"\\") << control;
    EXPECT_TRUE(out.size() == 4 || out.size() == 8) << control;
  }
}

TEST(JsonWriter, KeepsAllOtherAscii) {
  for (int byte = 0x20; byte < 0x80; ++byte) {
    if (byte != '"' && byte != '\\') {
      const std::string text(1, static_cast<char>(byte));
      EXPECT_EQ(json_text(text), '"' + text + '"');
    }
  }
}

TEST(JsonWriter, KeepsUtf8AsItIs) {
  EXPECT_EQ(json_text("\u00E9 \u20AC \U0001F4A7"), "\"\u00E9 \u20AC \U0001F4A7\"");
}

TEST(JsonWriter, ReplacesEachIllFormedPart) {
  EXPECT_EQ(json_text("a\xFF\"\xE2\x82\n\xC0\xAFz"), "\"a\uFFFD\\\"\uFFFD\\n\uFFFD\uFFFDz\"");
}

TEST(JsonWriter, EscapesKeysLikeTexts) {
  std::string out;
  JsonWriter(out).begin_object().key("a\"\n\xFF").null().end_object();
  EXPECT_EQ(out, "{\"a\\\"\\n\uFFFD\":null}");
}

#ifndef NDEBUG
TEST(JsonWriterDeathTest, RefusesAMemberWithoutAKey) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object();
  EXPECT_DEATH(writer.null(), "Assertion");
}

TEST(JsonWriterDeathTest, RefusesAKeyInAnArrayOrAfterAKey) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_array();
  EXPECT_DEATH(writer.key("a"), "Assertion");
  writer.begin_object().key("a");
  EXPECT_DEATH(writer.key("b"), "Assertion");
}

TEST(JsonWriterDeathTest, RefusesBracketsThatDoNotMatch) {
  std::string out;
  JsonWriter writer(out);
  EXPECT_DEATH(writer.end_array(), "Assertion");
  writer.begin_object();
  EXPECT_DEATH(writer.end_array(), "Assertion");
  writer.key("a");
  EXPECT_DEATH(writer.end_object(), "Assertion");
}
#endif

}  // namespace
}  // namespace spillway
