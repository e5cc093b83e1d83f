// SPDX-License-Identifier: MIT
#include <spillway/field.h>

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/replaced_new.h"
#include "tests/support/sanitizers.h"

namespace spillway::testing {
namespace {

thread_local std::size_t allocations_left = std::numeric_limits<std::size_t>::max();
thread_local std::size_t allocations = 0;

}  // namespace

bool on_allocation(std::size_t /*bytes*/) {
  ++allocations;
  return allocations_left > 0 && allocations_left-- > 0;
}

}  // namespace spillway::testing

namespace shop {

struct Order {
  int id = 0;
  std::string_view note = {};
};

void to_field(const Order& order, spillway::FieldWriter& out) {
  out.object({{"id", order.id}, {"Password", order.note}});
}

enum class Fault { kNothing, kTwice, kThrow, kForEver };
struct Faulty {
  Fault fault = {};
};
void to_field(const Faulty& faulty, spillway::FieldWriter& out) {
  switch (faulty.fault) {
    case Fault::kNothing:
      return;
    case Fault::kTwice:
      out.value(1);
      out.value(2);
      return;
    case Fault::kThrow:
      out.list({1, Order{}, 2});
      throw std::runtime_error("on purpose");
    case Fault::kForEver:
      out.value(faulty);
  }
}

}  // namespace shop

namespace spillway {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string code_of(std::initializer_list<Field> fields,
                    const Redaction& redaction = Redaction::standard()) {
  FieldBuffer buffer;
  EXPECT_TRUE(encode_fields(fields, redaction, buffer));
  return std::string(buffer.view());
}

std::string json_of(std::string_view code) {
  std::string text;
  append_fields_json(code, text);
  return text;
}

std::string json_of(std::initializer_list<Field> fields) { return json_of(code_of(fields)); }

std::string value_json(const FieldValue& value) {
  const std::string object = json_of({{"", value}});
  return object.substr(4, object.size() - 5);  // {"":…}
}

TEST(Field, EachTypeHasItsJson) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const char* const null_text = nullptr;
  char letters[8] = "abc";
  const std::optional<int> none;
  const std::optional<std::string> some = "some";
  const std::vector<bool> truths = {true, false};
  const std::map<std::string, std::vector<int>> map = {{"a", {1, 2}}, {"b", {}}};
  const std::vector<Field> fields = {{"x", 1}, {"y", "2"}};
  const std::string text = "text";
  const shop::Order order{7, "x"};
  const WallTime time{1'787'898'912'345ms};
  const auto nanos =
      std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>(-1ns);
  using Years = std::chrono::time_point<std::chrono::system_clock,
                                        std::chrono::duration<std::int64_t, std::ratio<31556952>>>;
  const struct {
    FieldValue value;
    std::string_view expected;
  } cases[] = {
      {{}, "null"},
      {nullptr, "null"},
      {null_text, "null"},
      {none, "null"},
      {some, R"("some")"},
      {true, "true"},
      {false, "false"},
      {'c', R"("c")"},
      {std::int8_t{-128}, "-128"},
      {std::uint8_t{255}, "255"},
      {static_cast<short>(-7), "-7"},
      {42, "42"},
      {127, "127"},
      {-129, "-129"},
      {128U, "128"},
      {2'147'483'647, "2147483647"},
      {-2'147'483'649, "-2147483649"},
      {4'294'967'296U, "4294967296"},
      {kMost, "9223372036854775807"},
      {std::uint64_t{1} << 63U, "9223372036854775808"},
      {9'007'199'254'740'993, "9007199254740993"},
      {kLeast, "-9223372036854775808"},
      {std::numeric_limits<std::uint64_t>::max(), "18446744073709551615"},
      {9.99, "9.99"},
      {5.0, "5.0"},
      {-0.0, "-0.0"},
      {1e300, "1e+300"},
      {5e-324, "5e-324"},
      {1234567890123456789.0, "1234567890123456768.0"},
      {0.1F, "0.1"},
      {2.0F, "2.0"},
      {0.5L, "0.5"},
      {std::nan(""), R"("NaN")"},
      {kInfinity, R"("Infinity")"},
      {-kInfinity, R"("-Infinity")"},
      {"", R"("")"},
      {letters, R"("abc")"},
      {text, R"("text")"},
      {"\"\\/\b\f\n\r\t\x1b\x7f"sv, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001b\x7f\""},
      {"a\0b"sv, R"("a␀b")"},
      {time, R"("2026-08-28T06:35:12.345Z")"},
      {nanos, R"("1969-12-31T23:59:59.999Z")"},
      {Years::max(), R"("9999-12-31T23:59:59.999Z")"},
      {1500ms, "1.5"},
      {2s, "2.0"},
      {-1ns, "-0.000000001"},
      {3h, "10800.0"},
      {std::chrono::nanoseconds(kLeast), "-9223372036.854775808"},
      {std::chrono::microseconds(kMost), "9223372036854.775807"},
      {std::chrono::duration<std::int64_t, std::pico>(7), "0.000000000007"},
      {std::chrono::duration<int, std::ratio<1, 4>>(3), "0.75"},
      {std::chrono::duration<double>(0.25), "0.25"},
      {std::chrono::duration<std::int64_t, std::ratio<3600>>(kMost), "3.3204139332677193e+22"},
      {truths, "[true,false]"},
      {map, R"({"a":[1,2],"b":[]})"},
      {fields, R"({"x":1,"y":"2"})"},
      {order, R"({"id":7,"Password":"[redacted]"})"},
  };
  for (const auto& [value, expected] : cases) {
    EXPECT_EQ(value_json(value), expected);
    EXPECT_TRUE(json::accept(expected));
  }
}

TEST(Field, BracesAreObjectsOfPairsThatBeginWithTextAndElseLists) {
  const std::string name = "n";
  EXPECT_EQ(json_of({{name, {1, 2.5, "x", nullptr, true}}, {"m", {"a"}}, {"o", {}}}),
            R"({"n":[1,2.5,"x",null,true],"m":["a"],"o":null})");
  EXPECT_EQ(json_of({{"n", {{"a", "b"}}}, {"m", {{"c", {{"d", {1, 2}}}}, {"e", 1}}}}),
            R"({"n":{"a":"b"},"m":{"c":{"d":[1,2]},"e":1}})");
  EXPECT_EQ(json_of({{"n", {FieldValue{{"a", 1}}, FieldValue{1, 2}, shop::Order{3}}}}),
            R"({"n":[{"a":1},[1,2],{"id":3,"Password":"[redacted]"}]})");
  EXPECT_EQ(json_of({{"a", "b"}}), R"({"a":"b"})");
  EXPECT_EQ(json_of({}), "");
}

TEST(Field, OfEqualNamesTheLastCountsAndOursAreLeftFree) {
  EXPECT_EQ(json_of({{"a", 1}, {"b", 2}, {"a", {{"x", 1}, {"x", 2}}}}), R"({"b":2,"a":{"x":2}})");
  EXPECT_EQ(json_of({{"", 1}, {nullptr, 2}, {"kind", "gap"}}), R"({"":2,"kind":"gap"})");
  EXPECT_EQ(json_of({{"\xff", 1}, {"\xfe", 2}, {"a\0"sv, 3}}), R"({"�":2,"a␀":3})");
  EXPECT_EQ(json_of({{"original_bytes", 1}, {"n", {{"original_bytes", 2}}}}),
            R"({"original_bytes_":1,"n":{"original_bytes":2}})");
  EXPECT_EQ(json_of({{"original_fields_bytes", 1}, {"original_fields_bytes_", 2}}),
            R"({"original_fields_bytes_":2})");
  EXPECT_EQ(json_of({{std::string(999, 'x') + "ü", 1}}),
            R"({")" + std::string(999, 'x') + R"(":1})");
  std::vector<Field> many;
  many.reserve(1000);
  for (int i = 0; i < 1000; ++i) {
    many.emplace_back(i % 2 == 0 ? "even" : "odd", i);
  }
  EXPECT_EQ(value_json(many), R"({"even":998,"odd":999})");
}

TEST(Field, SecretsAreNotEvenCopied) {
  const std::string secret = "hunter2";
  const std::string code = code_of({{"PassWord", secret},
                                    {"token", {secret}},
                                    {"n", {{"api_key", secret}, {"tokens", 3}}},
                                    {"m", std::map<std::string, std::string>{{"Cookie", secret}}},
                                    {"ssn", secret.size()},
                                    {"secret", shop::Order{1}}},
                                   Redaction({"SSN",
                                              "a name of more than sixty-three letters, "
                                              "which is a long name for a field"}));
  EXPECT_THAT(code, Not(HasSubstr(secret)));
  EXPECT_EQ(json_of(code), R"({"PassWord":"[redacted]","token":"[redacted]",)"
                           R"("n":{"api_key":"[redacted]","tokens":3},)"
                           R"("m":{"Cookie":"[redacted]"},"ssn":"[redacted]",)"
                           R"("secret":"[redacted]"})");
}

TEST(Field, AnExceptionTellsItsCauses) {
  const auto told = [](auto&& failing) {
    try {
      failing();
    } catch (const std::exception& error) {
      return json_of({{"error", error}});
    }
    return "nothing was thrown"s;
  };
  const auto nest = [](const auto& self, int depth) -> void {
    try {
      depth > 0 ? self(self, depth - 1) : throw std::out_of_range("bottom");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
    }
  };
  const json two = json::parse(told([&] { nest(nest, 0); }))["error"];
  EXPECT_EQ(two["type"], "std::runtime_error") << "and not what std::throw_with_nested made of it";
  EXPECT_EQ(two["what"], "level 0");
  EXPECT_EQ(two["cause"], (json{{"type", "std::out_of_range"}, {"what", "bottom"}}));
  const std::string deep = told([&] { nest(nest, 100); });
  EXPECT_THAT(deep, HasSubstr(R"("what":"level 92","cause":"[nested too deeply]"}}})"));
  EXPECT_THAT(told([] {
                try {
                  throw 1;
                } catch (...) {
                  std::throw_with_nested(std::runtime_error("outer"));
                }
              }),
              HasSubstr(R"("what":"outer","cause":"[not a std::exception]"})"));
  // Made outside of a catch, it has a nested exception that is none.
  struct Hollow : std::runtime_error, std::nested_exception {
    using std::runtime_error::runtime_error;
  };
  EXPECT_THAT(json_of({{"error", Hollow("hollow")}}), HasSubstr(R"("what":"hollow"}})"));
}

TEST(Field, WhatAToFieldDoesWrongStaysInItsField) {
  using shop::Fault;
  using shop::Faulty;
  EXPECT_EQ(json_of({{"a", Faulty{Fault::kNothing}},
                     {"b", Faulty{Fault::kTwice}},
                     {"c", {0, Faulty{Fault::kThrow}, 3}},
                     {"d", Faulty{Fault::kForEver}},
                     {"e", 5}}),
            R"({"a":null,"b":1,"c":[0,"[to_field failed]",3],"d":"[nested too deeply]","e":5})");
}

struct Nest {
  int depth = 0;
};
void to_field(const Nest& nest, FieldWriter& out) {
  if (nest.depth % 2 == 0) {
    out.list({Nest{nest.depth + 1}});
  } else {
    out.object({{"n", Nest{nest.depth + 1}}});
  }
}

TEST(Field, WhatIsNestedDeeperThan32LevelsIsCut) {
  const json cut = json::parse(value_json(Nest{}), nullptr, false);
  const json* inner = &cut;
  int depth = 0;
  for (; !inner->is_string(); ++depth) {
    inner = inner->is_array() ? &inner->at(0) : &inner->at("n");
  }
  EXPECT_EQ(depth, 32);
  EXPECT_EQ(*inner, "[nested too deeply]");
}

// Trees of random values.

struct Tree {
  const json* node = nullptr;
};

void to_field(const Tree& tree, FieldWriter& out) {
  const json& node = *tree.node;
  std::map<std::string, Tree> members;
  std::vector<Tree> items;
  switch (node.type()) {
    case json::value_t::null:
      return out.value(nullptr);
    case json::value_t::boolean:
      return out.value(node.get<bool>());
    case json::value_t::number_integer:
      return out.value(node.get<std::int64_t>());
    case json::value_t::number_unsigned:
      return out.value(node.get<std::uint64_t>());
    case json::value_t::number_float:
      return out.value(node.get<double>());
    case json::value_t::string:
      return out.value(node.get_ref<const std::string&>());
    case json::value_t::object:
      for (const auto& [name, value] : node.items()) {
        members[name] = Tree{&value};
      }
      return out.value(members);
    default:
      for (const json& item : node) {
        items.push_back(Tree{&item});
      }
      return out.value(items);
  }
}

using Random = std::mt19937_64;

std::string random_text(Random& random) {
  std::string text;
  for (std::uint64_t i = random() % 12; i > 0; --i) {
    switch (random() % 4) {
      case 0:
        text += static_cast<char>(1 + random() % 0x7F);
        break;
      case 1:
        text += "ü";
        break;
      case 2:
        text += "\u2028\u202e\uFEFF";
        break;
      default:
        text += "\xF0\x9F\x8C\x8A";
    }
  }
  return text;
}

double random_double(Random& random) {
  const double number = std::bit_cast<double>(random());
  return std::isfinite(number) ? number : -0.0;
}

json random_tree(Random& random, int depth) {
  json tree;
  switch (random() % (depth > 0 ? 9 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random() >> (random() % 64)) * (random() % 2 == 0 ? 1 : -1);
    case 3:
      return std::uint64_t{random()};
    case 4:
      return random_double(random);
    case 5:
      return random_text(random);
    case 6:
      tree = json::array();
      for (std::uint64_t i = random() % 5; i > 0; --i) {
        tree.push_back(random_tree(random, depth - 1));
      }
      return tree;
    default:
      tree = json::object();
      for (std::uint64_t i = random() % 40 / (random() % 10 + 1); i > 0; --i) {
        tree[random_text(random)] = random_tree(random, depth - 1);
      }
      return tree;
  }
}

/// That an integer stays one, and each bit of a double.
void expect_same(const json& found, const json& expected) {
  ASSERT_EQ(found, expected);
  ASSERT_EQ(found.is_number_float(), expected.is_number_float()) << expected;
  if (expected.is_number_float()) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(found.get<double>()),
              std::bit_cast<std::uint64_t>(expected.get<double>()));
  }
  if (expected.is_structured()) {
    for (auto a = found.begin(), b = expected.begin(); b != expected.end(); ++a, ++b) {
      expect_same(*a, *b);
    }
  }
}

TEST(Field, AnyTreeOfValuesComesBackTheSame) {
  Random random(20'261'201);  // NOLINT(bugprone-random-generator-seed,cert-msc51-cpp): to repeat.
  for (int i = 0; i < 2'000; ++i) {
    const json tree = random_tree(random, 5);
    const std::string text = json_of({{"tree", Tree{&tree}}});
    const json found = json::parse(text, nullptr, false);
    ASSERT_FALSE(found.is_discarded()) << text;
    ASSERT_NO_FATAL_FAILURE(expect_same(found.at("tree"), tree)) << "tree " << i;
  }
}

TEST(Field, EveryControlCharacterAndEveryUtf8ErrorIsStrictJson) {
  for (int c = 1; c < 0x80; ++c) {
    const std::string text = "a"s + static_cast<char>(c) + "b";
    const json found = json::parse(json_of({{text, text}}), nullptr, false);
    EXPECT_EQ(found, (json{{text, text}})) << c;
  }
  const std::string mark = "\uFFFD";
  const std::pair<std::string, std::string> cases[] = {
      {"\x80", mark},                                   // a continuation alone
      {"\xC0\xAF", mark + mark},                        // overlong
      {"\xE0\x80\xAF", mark + mark + mark},             // overlong
      {"\xED\xA0\x80", mark + mark + mark},             // a surrogate
      {"\xF4\x90\x80\x80", mark + mark + mark + mark},  // past U+10FFFF
      {"\xF5\xFF", mark + mark},                        // no lead
      {"\xE6\x97", mark},                               // cut off
      {"\xF0\x9F\x8C", mark},                           // cut off
      {"\xE6\x97x", mark + "x"},                        // cut short
  };
  for (const auto& [bytes, repaired] : cases) {
    const json found = json::parse(json_of({{"a" + bytes, "b" + bytes}}), nullptr, false);
    EXPECT_EQ(found, (json{{"a" + repaired, "b" + repaired}})) << repaired;
  }
}

TEST(Field, CodeThatIsCutOffOrSpoiltIsStillJson) {
  const std::string code = code_of({{"a", {1, "two", {{"c", 3.5}}}}, {"d", 1s}, {"e", WallTime{}}});
  Random random(7);  // NOLINT(bugprone-random-generator-seed,cert-msc51-cpp): to repeat.
  for (std::size_t bytes = 1; bytes < code.size(); ++bytes) {
    EXPECT_TRUE(json::accept(json_of(code.substr(0, bytes)))) << bytes;
    std::string spoilt = code;
    spoilt[bytes] = static_cast<char>(random());
    EXPECT_TRUE(json::accept(json_of(spoilt))) << json_of(spoilt);
  }
  EXPECT_TRUE(json::accept(json_of("\x0b\x01" + std::string(100'000, '\x0c'))));
}

// Memory.

TEST(Field, EightTextsOf256BytesTakeNoMemory) {
  const std::string text(256, 'x');
  const std::string name(30, 'n');
  const std::vector<int> list(20, 7);
  const std::runtime_error error("failed");
  const Redaction& redaction = Redaction::standard();  // Made at the first call.
  const std::size_t before = testing::allocations;
  FieldBuffer texts;
  EXPECT_TRUE(encode_fields({{name, text},
                             {name, text},
                             {name, text},
                             {name, text},
                             {name, text},
                             {name, text},
                             {name, text},
                             {name, text}},
                            redaction, texts));
  FieldBuffer others;
  EXPECT_TRUE(encode_fields({{"a", 1},
                             {"b", 2.5},
                             {"c", nullptr},
                             {"d", WallTime{}},
                             {"e", 3ms},
                             {"f", {1, {2}, "3"}},
                             {"g", {{"h", true}}},
                             {"i", shop::Order{1, text}},
                             {"j", list},
                             {"k", error}},
                            redaction, others));
  EXPECT_EQ(testing::allocations - before, 0U);
  const std::string large(100'000, 'x');
  EXPECT_EQ(json_of({{"before", 1}, {"large", large}, {"after", 2}}),
            R"({"before":1,"large":")" + large + R"(","after":2})");
  if (!testing::kHasSanitizer) {  // Its allocator cannot be replaced.
    EXPECT_GT(testing::allocations, before) << "or nothing is counted";
  }
}

TEST(Field, TextsOfEveryLengthComeBackWhole) {
  for (const std::size_t bytes : {0U, 1U, 254U, 255U, 256U, 65'535U, 65'536U, 1'000'000U}) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(value_json(text), '"' + text + '"') << bytes;
    const std::string name = text.substr(0, 1'000);
    EXPECT_EQ(json_of({{name, 1}, {"after", 2}}), R"({")" + name + R"(":1,"after":2})") << bytes;
  }
}

TEST(Field, WithoutMemoryThatFieldsAreMissingIsTold) {
  if (testing::kHasSanitizer) {
    GTEST_SKIP() << "the sanitizer's allocator cannot be replaced";
  }
  const std::string large(100'000, 'x');
  const Redaction& redaction = Redaction::standard();  // Made at the first call.
  for (const std::string& first : {"x"s, std::string(4'020, 'x')}) {
    FieldBuffer buffer;
    testing::allocations_left = 0;
    const bool is_whole =
        encode_fields({{"a", first}, {"b", {1, large}}, {"c", 2}}, redaction, buffer);
    testing::allocations_left = std::numeric_limits<std::size_t>::max();
    EXPECT_FALSE(is_whole);
    EXPECT_EQ(json_of(buffer.view()), R"({"a":")" + first + R"(","fields_cut":true})");
  }
}

TEST(Field, ATextThatFitsIntoNoRowIsLeftOutAndSoIsAll16MegabytesAndMore) {
  EXPECT_EQ(value_json(std::string(1'000'001, 'x')), R"("[1000001 bytes left out]")");
  const std::vector<std::string> many(20, std::string(1'000'000, 'x'));
  FieldBuffer buffer;
  EXPECT_FALSE(encode_fields({{"a", 1}, {"b", many}, {"c", 2}}, Redaction::standard(), buffer));
  EXPECT_EQ(json_of(buffer.view()), R"({"a":1,"fields_cut":true})");
}

}  // namespace
}  // namespace spillway
