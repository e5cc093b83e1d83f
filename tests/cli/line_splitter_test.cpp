// SPDX-License-Identifier: MIT
#include "cli/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using std::string_view_literals::operator""sv;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kMax = LineSplitter::kHeldBytesMax;

struct Line {
  std::string text;
  std::uint64_t bytes = 0;
  bool operator==(const Line&) const = default;
};

// Feeds `stream` in blocks of `block_bytes` and ends it.
std::vector<Line> split(std::string_view stream, std::size_t block_bytes) {
  std::vector<Line> lines;
  const auto collect = [&lines](std::string_view text, std::uint64_t bytes) {
    lines.push_back({std::string(text), bytes});
  };
  LineSplitter splitter;
  while (!stream.empty()) {
    const std::string block(stream.substr(0, block_bytes));  // A copy: its end has no neighbours.
    splitter.feed(block, collect);
    stream.remove_prefix(block.size());
  }
  splitter.finish(collect);
  return lines;
}

std::vector<std::string> texts(std::string_view stream, std::size_t block_bytes = 1'000'000) {
  std::vector<std::string> out;
  for (Line& line : split(stream, block_bytes)) {
    EXPECT_EQ(line.bytes, line.text.size());
    out.push_back(std::move(line.text));
  }
  return out;
}

TEST(LineSplitter, GivesNothingForAnEmptyStream) { EXPECT_THAT(texts(""), IsEmpty()); }

TEST(LineSplitter, EndsALineAtLf) { EXPECT_THAT(texts("a\nbc\n"), ElementsAre("a", "bc")); }

TEST(LineSplitter, GivesALastLineWithoutLf) {
  EXPECT_THAT(texts("a\nlast"), ElementsAre("a", "last"));
}

TEST(LineSplitter, TakesOneCrBeforeLfAsPartOfTheEnd) {
  EXPECT_THAT(texts("a\r\nb\r\r\n"), ElementsAre("a", "b\r"));
}

TEST(LineSplitter, KeepsACrInsideALineAndAtTheEndOfTheStream) {
  EXPECT_THAT(texts("a\rb\nc\r"), ElementsAre("a\rb", "c\r"));
}

TEST(LineSplitter, CountsEmptyLines) {
  EXPECT_THAT(texts("\n\r\n\n"), ElementsAre("", "", ""));
  EXPECT_EQ(texts(std::string(100'000, '\n')).size(), 100'000U);
}

TEST(LineSplitter, KeepsNulAndOtherBytes) {
  EXPECT_THAT(texts("a\0\xff\x80\nb"sv), ElementsAre("a\0\xff\x80"sv, "b"));
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheStreamIsCut) {
  const std::string stream = "one\r\n\r\n\n\r\r\ntwo\rthree\nlast\r";
  const auto whole = split(stream, stream.size());
  ASSERT_EQ(whole.size(), 6U);
  for (std::size_t block = 1; block < stream.size(); ++block) {
    EXPECT_EQ(split(stream, block), whole) << "blocks of " << block;
  }
}

TEST(LineSplitter, DoesNotCopyALineThatLiesInTheBlock) {
  const std::string block = "first\nsecond\n";
  std::vector<const char*> places;
  LineSplitter splitter;
  splitter.feed(block,
                [&](std::string_view line, std::uint64_t) { places.push_back(line.data()); });
  EXPECT_THAT(places, ElementsAre(block.data(), block.data() + 6));
}

TEST(LineSplitter, HoldsTheBeginningOfALongLineAndCountsTheRest) {
  const std::string line(kMax + 1'000'000, 'x');
  const Line cut{line.substr(0, kMax), line.size()};
  for (const std::size_t block : {std::size_t{65'536}, line.size() + 10}) {
    EXPECT_EQ(split(line + "\nnext\n", block), (std::vector<Line>{cut, {"next", 4}}));
  }
}

TEST(LineSplitter, LeavesALineOfTheGreatestLengthWhole) {
  const std::string line(kMax, 'x');
  for (const std::string end : {"\n", "\r\n", ""}) {
    for (const std::size_t block : {std::size_t{65'536}, kMax - 1, kMax, kMax + 1, kMax + 2}) {
      EXPECT_EQ(split(line + end, block), (std::vector<Line>{{line, kMax}}))
          << "blocks of " << block;
    }
  }
}

TEST(LineSplitter, TellsACrAtTheBorderFromALineEnd) {
  const std::string almost(kMax - 1, 'x');
  // The CR is the last byte that is held: part of the end if LF follows, of the line if not.
  EXPECT_EQ(split(almost + "\r\n", 65'536), (std::vector<Line>{{almost, kMax - 1}}));
  EXPECT_EQ(split(almost + "\ry\n", 65'536), (std::vector<Line>{{almost + "\r", kMax + 1}}));
  EXPECT_EQ(split(almost + "\r", 65'536), (std::vector<Line>{{almost + "\r", kMax}}));
  // The CR is the first byte that is not held.
  EXPECT_EQ(split(almost + "x\ry\n", 65'536), (std::vector<Line>{{almost + "x", kMax + 2}}));
}

TEST(LineSplitter, HoldsNoMoreThanItMust) {
  const std::string block(1'000'000, 'x');
  std::uint64_t bytes = 0;
  std::size_t held = 0;
  const auto collect = [&](std::string_view line, std::uint64_t line_bytes) {
    held = line.size();
    bytes = line_bytes;
  };
  LineSplitter splitter;
  for (int i = 0; i < 5'000; ++i) {
    splitter.feed(block, collect);  // 5 GB without a line end: more than 32 bits count.
  }
  splitter.finish(collect);
  EXPECT_EQ(held, kMax);
  EXPECT_EQ(bytes, 5'000'000'000U);
}

}  // namespace
}  // namespace spillway
