// SPDX-License-Identifier: MIT
//
// Goal: what `spillway log --input json` makes of a line.
// Method: tables of lines, and random objects whose members are known before they are written.
#include "cli/json_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "cli/json_members.h"

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPlain = "a plain line";

// TIME LEVEL [MESSAGE] FIELDS, with - for what the line does not have.
std::string shown(std::string_view line, LevelSource level_from = LevelSource::kLine) {
  const auto record = parse_json_line(line, level_from);
  if (!record) {
    return std::string(kPlain);
  }
  return (record->time ? time_text(*record->time) : "-") + ' ' +
         (record->level ? std::string(to_string(*record->level)) : "-") + " [" + record->message +
         "] " + (record->fields.empty() ? "-" : record->fields);
}

struct LineExample {
  std::string_view line;
  std::string_view shown;
};

TEST(JsonLine, TakesTimeLevelAndMessageAndLeavesTheRest) {
  for (const LineExample& example : {
           LineExample{R"({"level":"warn","time":"2026-08-28T06:35:12.345Z","message":"x","a":1})",
                       R"(2026-08-28T06:35:12.345Z WARN [x] {"a":1})"},
           {"{}", "- - [] -"},
           {" { \"msg\" : \"x\" ,\t\"a\" : [ 1 , {} ] } ", R"(- - [x] {"a":[ 1 , {} ]})"},
           {R"({"message":"","a":null})", R"(- - [] {"a":null})"},
           {R"({"m\u0073g":"a\n\u00e4\ud83d\ude00\"","l\u0065vel":"\u0045RROR"})",
            "- ERROR [a\n\xc3\xa4\xf0\x9f\x98\x80\"] -"},
           // The first of a list that can be read.
           {R"({"event":"c","msg":"b","message":"a"})", R"(- - [a] {"event":"c","msg":"b"})"},
           {R"({"event":"c","message":{"a":1}})", R"(- - [c] {"message":{"a":1}})"},
           {R"({"levelname":"ERROR","severity":"info"})", R"(- INFO [] {"levelname":"ERROR"})"},
           {R"({"@timestamp":1787898912,"ts":"now","time":null})",
            R"(2026-08-28T06:35:12.000Z - [] {"ts":"now","time":null})"},
           {R"({"Level":"error","MSG":"x"})", R"(- - [] {"Level":"error","MSG":"x"})"},
           // The last of one name, however it is written.
           {R"({"a":1,"b":2,"\u0061":3,"level":"info","level":"error"})",
            R"(- ERROR [] {"b":2,"\u0061":3})"},
           {R"({"msg":"x","msg":7})", R"(- - [] {"msg":7})"},
           // What the table itself puts there.
           {R"({"original_bytes":1,"original_fields_bytes":2,"original_byte\u0073_":3,"":4})",
            R"(- - [] {"original_fields_bytes_":2,"original_byte\u0073_":3,"":4})"},
           {R"({"original\u005fbytes":1})", R"(- - [] {"original\u005fbytes_":1})"},
       }) {
    EXPECT_EQ(shown(example.line), example.shown) << example.line;
  }
}

TEST(JsonLine, KeepsEveryDigit) {
  constexpr std::string_view kNumbers =
      R"({"a":18446744073709551615,"b":-9223372036854775808,"c":9007199254740993,"d":1.10,)"
      R"("e":0.1000000000000000055511151231257827,"f":-0.0,"g":1E+2,)"
      R"("h":123456789012345678901234567890})";
  EXPECT_EQ(shown(kNumbers), "- - [] " + std::string(kNumbers));
}

TEST(JsonLine, KnowsLevelsByWordAndByPinosNumbers) {
  for (const auto& [value, level] :
       std::vector<std::pair<std::string, std::string>>{{"10", "TRACE"},
                                                        {"20", "DEBUG"},
                                                        {"30", "INFO"},
                                                        {"35", "INFO"},
                                                        {"40", "WARN"},
                                                        {"50", "ERROR"},
                                                        {"60", "CRITICAL"},
                                                        {"\"Warning\"", "WARN"},
                                                        {"\"fatal\"", "CRITICAL"}}) {
    EXPECT_EQ(shown("{\"level\":" + value + "}"), "- " + level + " [] -");
  }
  for (const std::string value : {"3", "0", "9", "70", "-30", "30.0", "3e1", "99999999999",
                                  "\"30\"", "\"loud\"", "\"\"", "null", "[30]"}) {
    const std::string line = "{\"level\":" + value + "}";
    EXPECT_EQ(shown(line), "- - [] " + line);
  }
  EXPECT_EQ(shown(R"({"level":"error"})", LevelSource::kNone), R"(- - [] {"level":"error"})");
}

TEST(JsonLine, ReadsTimesAndLeavesWhatIsNone) {
  for (const auto& [value, time] : std::vector<std::pair<std::string, std::string>>{
           {"\"2026-08-28T06:35:12Z\"", "2026-08-28T06:35:12.000Z"},
           {"\"2026-08-28t08:35:12.3459999+02:00\"", "2026-08-28T06:35:12.345Z"},
           {"\"2026-08-28 01:05:12,3-0530\"", "2026-08-28T06:35:12.300Z"},
           {"\"2026-08-28T06:35:12.345678901\\u005a\"", "2026-08-28T06:35:12.345Z"},
           {"\"2016-12-31T23:59:60.5Z\"", "2017-01-01T00:00:00.500Z"},
           {"\"1969-12-31T23:59:59.999z\"", "1969-12-31T23:59:59.999Z"},
           {"\"9999-12-31T23:59:59.999-23:59\"", "9999-12-31T23:59:59.999Z"},
           {"1787898912", "2026-08-28T06:35:12.000Z"},
           {"1787898912.3456", "2026-08-28T06:35:12.345Z"},
           {"1787898912.05", "2026-08-28T06:35:12.050Z"},
           {"1787898912345", "2026-08-28T06:35:12.345Z"},
           {"1787898912345.9", "2026-08-28T06:35:12.345Z"},
           {"1787898912345678", "2026-08-28T06:35:12.345Z"},
           {"1787898912345678901", "2026-08-28T06:35:12.345Z"},
           {"100000000", "1973-03-03T09:46:40.000Z"},
           {"99999999999", "5138-11-16T09:46:39.000Z"},
           {"100000000000", "1973-03-03T09:46:40.000Z"},
           {"99999999999999999999", "5138-11-16T09:46:39.999Z"}}) {
    EXPECT_EQ(shown("{\"ts\":" + value + "}"), time + " - [] -") << value;
  }
  for (const std::string value : {"\"2026-08-28T06:35:12\"",
                                  "\"2026-08-28T06:35:12.Z\"",
                                  "\"2026-08-28\"",
                                  "\"\"",
                                  "\"2026-02-29T06:35:12Z\"",
                                  "\"2026-08-28T24:00:00Z\"",
                                  "\"2026-08-28T06:35:61Z\"",
                                  "\"2026-08-28T06:35:12+24:00\"",
                                  "\"2026-08-28T06:35:12+02:60\"",
                                  "\"2026-08-28T06:35:12+02\"",
                                  "\"2026-08-28T06:35:12+2:000\"",
                                  "\"2026-08-28T06:35:12Z \"",
                                  "\"2026-08-28T06:35:12 UTC\"",
                                  "\"28/Aug/2026:06:35:12 +0000\"",
                                  "\"1787898912\"",
                                  "99999999",
                                  "0",
                                  "12",
                                  "-1787898912",
                                  "1.787898912e9",
                                  "1787898912e0",
                                  "100000000000000000000",
                                  "true",
                                  "{\"a\":1787898912}"}) {
    const std::string line = "{\"ts\":" + value + "}";
    EXPECT_EQ(shown(line), "- - [] " + line);
  }
}

TEST(JsonLine, IsAPlainLineWhereItIsNotOneStrictObject) {
  for (const std::string_view line : {""sv,
                                      " "sv,
                                      "ERROR x"sv,
                                      "[1]"sv,
                                      "7"sv,
                                      "\"x\""sv,
                                      "null"sv,
                                      "{"sv,
                                      "{\"a\":1"sv,
                                      "{\"a\":1,}"sv,
                                      "{\"a\":1}x"sv,
                                      "{\"a\":1} {}"sv,
                                      "{\"a\":1}\0"sv,
                                      "\0{}"sv,
                                      "{\"a\":\0}"sv,
                                      "{a:1}"sv,
                                      "{'a':1}"sv,
                                      "{\"a\":NaN}"sv,
                                      "{\"a\":Infinity}"sv,
                                      "{\"a\":01}"sv,
                                      "{\"a\":+1}"sv,
                                      "{\"a\":.5}"sv,
                                      "{\"a\":1.}"sv,
                                      "{\"a\":1e999}"sv,
                                      "{\"a\":0x1}"sv,
                                      "{\"a\":True}"sv,
                                      "{}//"sv,
                                      "{/**/}"sv,
                                      "{\"a\":\"\t\"}"sv,
                                      "{\"a\":\"\x1f\"}"sv,
                                      "{\"a\":\"\\x41\"}"sv,
                                      "{\"a\":\"\\u00g0\"}"sv,
                                      "{\"a\":\"\xff\"}"sv,
                                      "{\"a\":\"\xc0\xaf\"}"sv,
                                      "{\"a\":\"\xed\xa0\x80\"}"sv,
                                      "{\"\xc3\":1}"sv,
                                      "{\"a\":\"\\ud83d\"}"sv,
                                      "{\"a\":\"\\ude00\\ud83d\"}"sv,
                                      "{\"\\udc00\":1}"sv,
                                      "\xef\xbb\xbf{}"sv,
                                      "{\"a\":[1}]"sv,
                                      "{\"a\":[}"sv}) {
    EXPECT_EQ(shown(line), kPlain) << line;
  }
}

TEST(JsonLine, BearsDepthAndLengthOfAnyKind) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + '}';
  };
  EXPECT_EQ(shown(nested(kJsonLineDepthMax)), "- - [] " + nested(kJsonLineDepthMax));
  EXPECT_EQ(shown(nested(kJsonLineDepthMax + 1)), kPlain);
  EXPECT_EQ(shown(nested(500'000)), kPlain);
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) {
    many += "\"a\":1,";
  }
  EXPECT_EQ(shown(many + "\"a\":2}"), R"(- - [] {"a":2})");
}

// Random JSON as text, so that nobody's idea of a number is between the test and its digits.
class Generator {
 public:
  std::string value(int depth = 0) {
    switch (below(depth < 3 ? 8U : 6U)) {
      case 0:
        return pick(std::array{"true", "false", "null"});
      case 1:
        return number();
      case 2:
        return number() + '.' + digits() + pick(std::array{"", "0", "e5", "E-07"});
      case 6:
        return nested('[', ']', [&] { return value(depth + 1); });
      case 7:
        return nested('{', '}', [&] { return string() + space() + ':' + value(depth + 1); });
      default:
        return string();
    }
  }

  // Between quotes.
  std::string string() {
    std::string text;
    for (std::size_t i = below(6); i > 0; --i) {
      text += pick(std::array{"a", "}", "]", ",", ":", "{", "\\\"", "\\\\", "\\n", "\\u0000",
                              "\\ud83d\\ude00", "\xc3\xa4", "\xf0\x9f\x98\x80", "\x7f", "time"});
    }
    return '"' + text + '"';
  }

  std::string space() { return pick(std::array{"", "", " ", "\t", " \r "}); }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  template <std::size_t kSize>
  std::string pick(const std::array<const char*, kSize>& texts) {
    return texts[below(kSize)];
  }

  std::string digits() {
    std::string text;
    for (std::size_t i = below(25) + 1; i > 0; --i) {
      text += static_cast<char>('0' + below(10));
    }
    return text;
  }

  std::string number() {
    return pick(std::array{"", "-"}) + pick(std::array{"0", "7", "18446744073709551615"});
  }

  template <typename Item>
  std::string nested(char open, char close, Item item) {
    std::string text(1, open);
    for (std::size_t i = below(4); i > 0; --i) {
      text += space() + item() + space() + (i > 1 ? "," : "");
    }
    return text + close;
  }

  std::mt19937 random_{20260828};
};

TEST(JsonLine, GivesBackTheValuesOfRandomObjects) {
  Generator generator;
  for (int round = 0; round < 500; ++round) {
    const std::string message = generator.string();
    std::string line = "{\"msg\":" + message;
    std::string fields = "{";
    for (int i = 0; i < round % 7; ++i) {
      const std::string key = "\"" + std::to_string(i) + generator.string().substr(1);
      const std::string value = generator.value();
      line += generator.space() + ',' + generator.space() + key + generator.space() + ':';
      line += generator.space() + value + generator.space();
      fields += (i > 0 ? "," : "") + key + ':' + value;
    }
    const auto record = parse_json_line(line + '}', LevelSource::kLine);
    ASSERT_TRUE(record) << line;
    EXPECT_EQ(record->fields, round % 7 == 0 ? "" : fields + '}');
    EXPECT_EQ(record->message, nlohmann::json::parse(message).get<std::string>());
    if (round % 7 > 0) {  // And by a reader that is not ours.
      auto whole = nlohmann::json::parse(line + '}');
      whole.erase("msg");
      ASSERT_EQ(nlohmann::json::parse(record->fields), whole);
    }
  }
}

}  // namespace
}  // namespace spillway
