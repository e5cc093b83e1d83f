// SPDX-License-Identifier: MIT
#include <spillway/result_set.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr double kTwoTo53 = 9007199254740992.0;

ResultSet one_cell(Value value) {
  return ResultSet({.columns = {"n"}, .rows = {{std::move(value)}}, .meta = {}});
}

template <typename T>
Result<T> read(Value value) {
  const ResultSet set = one_cell(std::move(value));
  return set[0].get<T>("n");
}

template <typename T>
std::string refusal(Value value) {
  const Result<T> result = read<T>(std::move(value));
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

Blob blob_of(std::string_view bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return {span.begin(), span.end()};
}

TEST(RowView, GivesIntegersOfAllWidths) {
  EXPECT_EQ(*read<std::int64_t>(kMin), kMin);
  EXPECT_EQ(*read<std::int64_t>(kMax), kMax);
  EXPECT_EQ(*read<std::uint64_t>(kMax), static_cast<std::uint64_t>(kMax));
  EXPECT_EQ(*read<std::int32_t>(std::int64_t{-2147483648}), -2147483648);
  EXPECT_EQ(*read<std::uint8_t>(std::int64_t{255}), 255);
  EXPECT_EQ(*read<std::int8_t>(std::int64_t{-128}), -128);
}

TEST(RowView, RefusesAnIntegerThatTheTypeCannotHold) {
  EXPECT_EQ(refusal<std::uint8_t>(std::int64_t{256}),
            R"(column "n" holds the integer 256, wanted an integer from 0 to 255)");
  EXPECT_THAT(refusal<std::uint64_t>(std::int64_t{-1}), HasSubstr("from 0 to"));
  EXPECT_THAT(refusal<std::int32_t>(std::int64_t{2147483648}), HasSubstr("2147483648"));
}

TEST(RowView, ConvertsBetweenIntegerAndRealOnlyWhereNothingChanges) {
  EXPECT_EQ(*read<std::int64_t>(3.0), 3);
  EXPECT_EQ(*read<double>(std::int64_t{3}), 3.0);
  EXPECT_EQ(*read<double>(kMin), -9223372036854775808.0);
  EXPECT_EQ(*read<double>(std::int64_t{9007199254740992}), kTwoTo53);
  EXPECT_THAT(refusal<std::int64_t>(2.5), HasSubstr("holds the real 2.5, wanted an integer"));
  EXPECT_THAT(refusal<std::int64_t>(9223372036854775808.0), HasSubstr("wanted an integer"));
  EXPECT_THAT(refusal<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), HasSubstr("nan"));
  EXPECT_THAT(refusal<double>(std::int64_t{9007199254740993}), HasSubstr("9007199254740993"));
  EXPECT_THAT(refusal<double>(kMax), HasSubstr("a number that a double holds exactly"));
}

TEST(RowView, RefusesARealAsAnIntegerThatMayHaveBeenRounded) {
  EXPECT_EQ(*read<std::int64_t>(kTwoTo53 - 1), 9007199254740991);
  EXPECT_EQ(*read<std::int64_t>(1 - kTwoTo53), -9007199254740991);
  for (const double real : {kTwoTo53, -kTwoTo53, 1e18, -9223372036854775808.0, 1e300}) {
    EXPECT_THAT(refusal<std::int64_t>(real), HasSubstr("may have been rounded: SELECT it"));
    EXPECT_THAT(refusal<std::uint64_t>(real), HasSubstr("may have been rounded: SELECT it"));
    EXPECT_EQ(*read<double>(real), real);
  }
  EXPECT_THAT(refusal<std::int64_t>(2.5), Not(HasSubstr("rounded")));
  EXPECT_THAT(refusal<std::uint8_t>(300.0), Not(HasSubstr("rounded")));
}

TEST(RowView, TakesOnlyZeroAndOneForATruth) {
  EXPECT_FALSE(*read<bool>(std::int64_t{0}));
  EXPECT_TRUE(*read<bool>(std::int64_t{1}));
  EXPECT_TRUE(*read<bool>(1.0));
  EXPECT_THAT(refusal<bool>(std::int64_t{2}), HasSubstr("wanted a truth, 0 or 1"));
  EXPECT_THAT(refusal<bool>("true"), HasSubstr("holds a text"));
}

TEST(RowView, GivesTextsAndBlobsOfAnyBytes) {
  const std::string text("a\0b\xff", 4);
  EXPECT_EQ(*read<std::string>(text), text);
  EXPECT_EQ(*read<Blob>(blob_of(text)), blob_of(text));
  EXPECT_EQ(*read<Blob>(Blob()), Blob());
}

TEST(RowView, GivesViewsIntoTheSetWithoutCopying) {
  const ResultSet set({.columns = {"t", "b"}, .rows = {{"text", blob_of("blob")}}, .meta = {}});
  const Row& row = set.result().rows.front();
  EXPECT_EQ(set[0].get<std::string_view>("t")->data(), std::get<std::string>(row[0]).data());
  EXPECT_EQ(set[0].get<std::span<const std::byte>>("b")->data(), std::get<Blob>(row[1]).data());
}

TEST(RowView, NeverTurnsATextIntoANumberOrABlob) {
  EXPECT_THAT(refusal<std::int64_t>("42"), AllOf(HasSubstr("holds a text"), Not(HasSubstr("42"))));
  EXPECT_THAT(refusal<double>("1.5"), HasSubstr("holds a text"));
  EXPECT_THAT(refusal<Blob>("x"), HasSubstr("holds a text, wanted a blob"));
  EXPECT_THAT(refusal<std::string>(blob_of("x")), HasSubstr("holds a blob, wanted a text"));
  EXPECT_THAT(refusal<std::string>(std::int64_t{1}), HasSubstr("the integer 1, wanted a text"));
}

TEST(RowView, GivesNullOnlyToAnOptional) {
  EXPECT_EQ(*read<std::optional<double>>(std::monostate()), std::nullopt);
  EXPECT_EQ(*read<std::optional<double>>(1.5), 1.5);
  EXPECT_EQ(refusal<std::string>(std::monostate()),
            R"(column "n" is NULL, wanted a text; a std::optional takes NULL)");
  EXPECT_THAT(refusal<std::optional<double>>("x"), HasSubstr("holds a text"));
}

TEST(RowView, GivesAnyValueAsItIs) {
  EXPECT_EQ(*read<Value>(std::monostate()), Value());
  EXPECT_EQ(*read<Value>(2.5), Value(2.5));
}

TEST(RowView, FindsAColumnByExactNameAndTheFirstOfSeveral) {
  const ResultSet set({.columns = {"a", "a", "A"}, .rows = {{1, 2, 3}}, .meta = {}});
  EXPECT_EQ(*set[0].get<int>("a"), 1);
  EXPECT_EQ(*set[0].get<int>("A"), 3);
  EXPECT_EQ(*set[0].get<int>(1), 2);
}

TEST(RowView, NamesTheColumnsThatThereAre) {
  const ResultSet set({.columns = {"id", "name"}, .rows = {{1, "x"}}, .meta = {}});
  EXPECT_EQ(set[0].get<int>("idd").status().message(),
            R"(no column "idd" in the result; there are: id, name)");
  EXPECT_EQ(set[0].get<int>(2).status().message(),
            "no column number 2 in the result; there are 2, counted from 0");
}

TEST(RowView, DoesNotReadPastARowThatIsShorterThanItsColumns) {
  const ResultSet set({.columns = {"id", "name"}, .rows = {{1}}, .meta = {}});
  EXPECT_EQ(set[0].get<std::string>("name").status().code(), StatusCode::kInvalidArgument);
}

TEST(ResultSet, WalksThroughItsRowsInOrder) {
  const ResultSet set({.columns = {"n"}, .rows = {{1}, {2}, {3}}, .meta = {}});
  std::vector<int> seen;
  for (const RowView row : set) {
    seen.push_back(*row.get<int>(0));
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(set.size(), 3U);
}

TEST(ResultSet, KnowsItsColumnsWithoutRows) {
  const ResultSet set({.columns = {"a", "b"}, .rows = {}, .meta = {}});
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(*set.index_of("b"), 1U);
}

TEST(OwnedRow, GivesWhatARowGives) {
  const OwnedRow row({"id", "name"}, {1, "x"});
  EXPECT_EQ(*row.get<int>("id"), 1);
  EXPECT_EQ(*row.get<std::string>(1), "x");
}

}  // namespace
}  // namespace spillway
