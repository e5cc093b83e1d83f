// SPDX-License-Identifier: MIT
#include "cli/result_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace spillway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ResultSet sample() {
  return ResultSet({.columns = {"id", "name", "x"},
                    .rows = {{1, "Gr\xC3\xBC\xC3\x9F", Value()},
                             {200, "a\tb\n\x1b", Blob{std::byte{0}, std::byte{0xFF}}}},
                    .meta = {}});
}

std::string json_of(Value value) {
  return json_lines(ResultSet({.columns = {"v"}, .rows = {{std::move(value)}}, .meta = {}}));
}

TEST(ResultText, PutsColumnsInLineWithNumbersToTheRight) {
  EXPECT_EQ(aligned_text(sample()),
            "id   name        x\n"
            "---  ----------  -------\n"
            "  1  Gr\xC3\xBC\xC3\x9F        NULL\n"
            "200  a\\tb\\n\\x1b  X'00FF'\n");
}

TEST(ResultText, SeparatesByTabsForPrograms) {
  EXPECT_EQ(tab_text(sample()),
            "id\tname\tx\n"
            "1\tGr\xC3\xBC\xC3\x9F\tNULL\n"
            "200\ta\\tb\\n\\x1b\tX'00FF'\n");
}

TEST(ResultText, GivesAnObjectARowForJson) {
  EXPECT_EQ(json_lines(sample()),
            "{\"id\":1,\"name\":\"Gr\xC3\xBC\xC3\x9F\",\"x\":null}\n"
            "{\"id\":200,\"name\":\"a\\tb\\n\\u001b\",\"x\":[0,255]}\n");
}

TEST(ResultText, KeepsNumbersExactAndReals) {
  EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::min()), "{\"v\":-9223372036854775808}\n");
  EXPECT_EQ(json_of(3.0), "{\"v\":3.0}\n");
  EXPECT_EQ(json_of(-0.0), "{\"v\":-0.0}\n");
  EXPECT_EQ(json_of(0.1), "{\"v\":0.1}\n");
  EXPECT_EQ(json_of(1e300), "{\"v\":1e+300}\n");
  EXPECT_EQ(json_of(-kInfinity), "{\"v\":-9e999}\n");
}

TEST(ResultText, TellsColumnsOfOneNameApartInJson) {
  EXPECT_EQ(json_lines(ResultSet({.columns = {"a", "b", "a"}, .rows = {{1, 2, 3}}, .meta = {}})),
            "{\"a\":1,\"b\":2,\"a:2\":3}\n");
  EXPECT_EQ(json_lines(
                ResultSet({.columns = {"a", "a", "a:2", "a"}, .rows = {{1, 2, 3, 4}}, .meta = {}})),
            "{\"a\":1,\"a:3\":2,\"a:2\":3,\"a:4\":4}\n");
}

TEST(ResultText, ShowsTheNamesWithoutRowsAndNothingWithoutColumns) {
  EXPECT_EQ(aligned_text(ResultSet({.columns = {"a"}, .rows = {}, .meta = {}})), "a\n-\n");
  EXPECT_EQ(tab_text(ResultSet({.columns = {"a"}, .rows = {}, .meta = {}})), "a\n");
  EXPECT_EQ(json_lines(ResultSet({.columns = {"a"}, .rows = {}, .meta = {}})), "");
  EXPECT_EQ(aligned_text(ResultSet({})), "");
  EXPECT_EQ(tab_text(ResultSet({})), "");
}

}  // namespace
}  // namespace spillway
