// SPDX-License-Identifier: MIT
#include "cli/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace spillway {
namespace {

using ::testing::HasSubstr;

Value parse(std::string_view text) { return parse_parameter(text).value(); }

TEST(Parameter, IsATextUnlessItSaysOtherwise) {
  for (const char* const text : {"", "5", "null", "1.5", "int", "Int:5", " int:5", "http://x"}) {
    EXPECT_EQ(parse(text), Value(text)) << text;
  }
}

TEST(Parameter, MayBeOfAnyType) {
  EXPECT_EQ(parse("int:-5"), Value(std::int64_t{-5}));
  EXPECT_EQ(parse("int:9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse("real:1.5"), Value(1.5));
  EXPECT_EQ(parse("real:3"), Value(3.0));
  EXPECT_EQ(parse("hex:00fF"), Value(Blob{std::byte{0}, std::byte{255}}));
  EXPECT_EQ(parse("hex:"), Value(Blob()));
  EXPECT_EQ(parse("null:"), Value());
}

TEST(Parameter, CanBeATextThatLooksLikeAnotherType) {
  EXPECT_EQ(parse("text:int:5"), Value("int:5"));
  EXPECT_EQ(parse("text:"), Value(""));
}

TEST(Parameter, RefusesAValueThatIsNotOfItsType) {
  for (const char* const text :
       {"int:", "int:5x", "int:1.5", "int: 5", "int:9223372036854775808", "real:", "real:x",
        "real:nan", "real:inf", "real:1e999", "hex:0", "hex:0g", "hex:+1", "hex:0 ", "null:x"}) {
    const auto value = parse_parameter(text);
    ASSERT_EQ(value.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(value.status().message(), HasSubstr("write text:" + std::string(text)));
  }
}

}  // namespace
}  // namespace spillway
