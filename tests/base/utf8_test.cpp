// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::string storable(std::string_view bytes) {
  std::string out;
  EXPECT_TRUE(append_storable_text(bytes, kNoLimit, out));
  return out;
}

// An encoder to compare with: what a code point looks like by the definition of UTF-8.
std::string encode(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) { return byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) {
    return {byte(code_point)};
  }
  if (code_point < 0x800) {
    return {byte(0xC0 | (code_point >> 6)), tail(0)};
  }
  if (code_point < 0x10000) {
    return {byte(0xE0 | (code_point >> 12)), tail(6), tail(0)};
  }
  return {byte(0xF0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

bool is_surrogate(std::uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

// Bytes that lean towards the edges of table 3-7, so that every error class comes up.
std::string random_bytes(std::mt19937& random) {
  static constexpr std::string_view kEdges =
      "a\x00\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4"
      "\xF5\xFE\xFF"sv;
  std::string bytes(random() % 24, 'x');
  for (char& byte : bytes) {
    byte = random() % 4 == 0 ? 'x' : kEdges[random() % kEdges.size()];
  }
  return bytes;
}

TEST(Utf8, KeepsEveryCodePointButNullAndSurrogates) {
  for (std::uint32_t code_point = 1; code_point <= 0x10FFFF; ++code_point) {
    const std::string bytes = encode(code_point);
    ASSERT_EQ(is_storable_text(bytes), !is_surrogate(code_point)) << std::hex << code_point;
    if (!is_surrogate(code_point)) {
      ASSERT_EQ(storable(bytes), bytes) << std::hex << code_point;
      ASSERT_EQ(first_utf8_part(bytes).bytes, bytes.size()) << std::hex << code_point;
    }
  }
}

TEST(Utf8, TellsValidBytesWhetherTheyHoldNullOrNot) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8(std::string_view("\0a\0\0b\0", 6)));
  EXPECT_TRUE(is_valid_utf8("plain text of some length, \u00E9\u20AC\U0001F600"));
  EXPECT_FALSE(is_valid_utf8(std::string_view("\0\0\xFF", 3)));
  EXPECT_FALSE(is_valid_utf8("plain text of some length \xC3"));
}

TEST(Utf8, KeepsEmptyAndLongPlainText) {
  EXPECT_TRUE(is_storable_text(""));
  EXPECT_EQ(storable(""), "");
  const std::string text(1000, 'a');
  EXPECT_TRUE(is_storable_text(text));
  EXPECT_EQ(storable(text), text);
}

TEST(Utf8, FindsOneBadByteAtEveryPlaceOfALongText) {
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t bad = 0; bad < length; ++bad) {
      for (const char byte : {'\0', '\x80', '\xC3', '\xFF'}) {
        std::string text(length, 'a');
        text[bad] = byte;
        ASSERT_FALSE(is_storable_text(text)) << length << ' ' << bad;
        ASSERT_EQ(storable(text), text.substr(0, bad) + (byte == '\0' ? "\u2400" : "\uFFFD") +
                                      text.substr(bad + 1));
      }
    }
  }
}

TEST(Utf8, ReplacesALoneContinuationByte) {
  EXPECT_EQ(storable("a\x80z"), "a\uFFFDz");
  EXPECT_EQ(storable("\xBF"), "\uFFFD");
  EXPECT_EQ(storable("\x80\xBF"), "\uFFFD\uFFFD");
  EXPECT_EQ(storable("\u00E9\x80"), "\u00E9\uFFFD");
}

TEST(Utf8, ReplacesEachByteOfAnOverlongForm) {
  EXPECT_EQ(storable("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xC1\xBF"), "\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xE0\x9F\xBF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xF0\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xF0\x8F\xBF\xBF"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(Utf8, ReplacesEachByteOfASurrogate) {
  EXPECT_EQ(storable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xED\xBF\xBF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xED\x9F\xBF"), "\uD7FF");
  EXPECT_EQ(storable("\xEE\x80\x80"), "\uE000");
}

TEST(Utf8, ReplacesEachByteOfWhatIsPastTheLastCodePoint) {
  EXPECT_EQ(storable("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xF5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(storable("\xF4\x8F\xBF\xBF"), "\U0010FFFF");
}

TEST(Utf8, ReplacesBytesThatNeverOccur) { EXPECT_EQ(storable("\xFF\xFE"), "\uFFFD\uFFFD"); }

TEST(Utf8, ReplacesACutSequenceAsOnePart) {
  EXPECT_EQ(storable("\xC3"), "\uFFFD");
  EXPECT_EQ(storable("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(storable("\xF0\x9F"), "\uFFFD");
  EXPECT_EQ(storable("\xF0\x9F\x92"), "\uFFFD");
  EXPECT_EQ(storable("\xE2\x82z"), "\uFFFDz");
  EXPECT_EQ(storable("\xF0\x9F\x92z"), "\uFFFDz");
  EXPECT_EQ(storable("\xE2\xE2\x82\xAC"), "\uFFFD\u20AC");
}

TEST(Utf8, ReplacesByMaximalPartsAsUnicodeShowsIt) {
  // Unicode 15, chapter 3, tables 3-8 to 3-11.
  EXPECT_EQ(storable("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(storable("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(storable("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41\uFFFD\uFFFD\x42");
  EXPECT_EQ(storable("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
}

TEST(Utf8, ShowsNullAsASymbol) {
  EXPECT_FALSE(is_storable_text("\0"sv));
  EXPECT_EQ(storable("a\0b"sv), "a\u2400b");
  EXPECT_EQ(storable("\0\0"sv), "\u2400\u2400");
  EXPECT_EQ(storable("\xE2\0\x82"sv), "\uFFFD\u2400\uFFFD");
}

TEST(Utf8, AppendsBehindWhatIsThere) {
  std::string out = "before ";
  EXPECT_TRUE(append_storable_text("\xFFx", 4, out));
  EXPECT_EQ(out, "before \uFFFDx");
}

TEST(Utf8, SaysWhetherAllFitted) {
  std::string out;
  EXPECT_TRUE(append_storable_text("", 0, out));
  EXPECT_TRUE(append_storable_text("abc", 3, out));
  EXPECT_FALSE(append_storable_text("a", 0, out));
  EXPECT_FALSE(append_storable_text("defg", 3, out));
  EXPECT_EQ(out, "abcdef");
}

TEST(Utf8, CutsBetweenCodePointsWhenAppending) {
  for (const auto& [room, expected] : std::vector<std::pair<std::size_t, std::string>>{
           {0, ""}, {1, "a"}, {2, "a"}, {3, "a"}, {4, "a\u20AC"}, {5, "a\u20ACb"}}) {
    std::string out;
    EXPECT_EQ(append_storable_text("a\u20ACb", room, out), room == 5) << room;
    EXPECT_EQ(out, expected) << room;
  }
}

TEST(Utf8, CountsTheReplacementNotTheByteAgainstTheRoom) {
  std::string out;
  EXPECT_FALSE(append_storable_text("ab\xFF", 4, out));
  EXPECT_EQ(out, "ab");
  EXPECT_FALSE(append_storable_text("\0\0"sv, 5, out));
  EXPECT_EQ(out, "ab\u2400");
}

TEST(Utf8, DoesNotFillTheRoomWithWhatComesAfterTheCut) {
  std::string out;
  EXPECT_FALSE(append_storable_text("\u20ACa", 2, out));
  EXPECT_EQ(out, "");
}

TEST(Utf8, MakesAnyBytesStorableAndKeepsWhatIs) {
  const std::uint32_t seed = 17;
  std::mt19937 random(seed);
  for (int i = 0; i < 100'000; ++i) {
    const std::string bytes = random_bytes(random);
    const std::string once = storable(bytes);
    ASSERT_TRUE(is_storable_text(once)) << testing::PrintToString(bytes);
    ASSERT_EQ(storable(once), once) << testing::PrintToString(bytes);
    ASSERT_EQ(is_storable_text(bytes), once == bytes) << testing::PrintToString(bytes);
  }
}

TEST(Utf8, AppendsTheBeginningOfTheWholeUnderAnyLimit) {
  std::mt19937 random(18);
  for (int i = 0; i < 100'000; ++i) {
    const std::string bytes = random_bytes(random);
    const std::string whole = storable(bytes);
    const std::size_t room = random() % 40;
    std::string out;
    const bool is_all = append_storable_text(bytes, room, out);
    ASSERT_EQ(is_all, whole.size() <= room) << testing::PrintToString(bytes);
    ASSERT_TRUE(whole.starts_with(out)) << testing::PrintToString(bytes);
    ASSERT_TRUE(is_storable_text(out)) << testing::PrintToString(bytes);
    ASSERT_LE(out.size(), room) << testing::PrintToString(bytes);
    if (!is_all) {
      const std::size_t next = first_utf8_part(std::string_view(whole).substr(out.size())).bytes;
      ASSERT_GT(out.size() + next, room) << testing::PrintToString(bytes);
    }
  }
}

}  // namespace
}  // namespace spillway
