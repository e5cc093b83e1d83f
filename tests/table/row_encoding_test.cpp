// SPDX-License-Identifier: MIT
#include "table/row_encoding.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::int64_t kWriter = 9'007'199'254'740'991;  // 2^53 - 1, the greatest there is.

Record record_of(std::int64_t seq, std::string message = "m", std::string fields = "") {
  return {.time = WallTime(std::chrono::milliseconds(1'787'898'912'345)),
          .seq = seq,
          .level = Level::kWarn,
          .context = "app",
          .message = std::move(message),
          .fields = std::move(fields)};
}

std::string text_of(const RowBlock& block) { return std::get<std::string>(block.at(0).at(0)); }

// What the row record_of(1) is in JSON.
const std::string kRowText =
    R"(["2026-08-28T06:35:12.345Z",9007199254740991,1,"WARN","app","m",null])";

TEST(RowEncoding, GivesSqliteOneBlockOfSevenColumns) {
  const std::vector<Record> rows{record_of(1), record_of(2, "b", "{}")};
  const RowBlock block = rows_as_columns(kWriter, rows);
  EXPECT_EQ(form_of(block), RowForm::kColumns);
  EXPECT_THAT(block, ElementsAre(Row{"2026-08-28T06:35:12.345Z", kWriter, std::int64_t{1}, "WARN",
                                     "app", "m", std::monostate()},
                                 Row{"2026-08-28T06:35:12.345Z", kWriter, std::int64_t{2}, "WARN",
                                     "app", "b", "{}"}));
}

TEST(RowEncoding, GivesD1OneTextWithAllRows) {
  const std::vector<Record> rows{record_of(1), record_of(2, "a\"\n€", R"({"k":1})")};
  const std::vector<RowBlock> blocks = rows_as_json(kWriter, rows, 2'000'000);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(form_of(blocks[0]), RowForm::kJson);
  EXPECT_EQ(text_of(blocks[0]), "[" + kRowText + R"(,["2026-08-28T06:35:12.345Z",)" +
                                    R"(9007199254740991,2,"WARN","app","a\"\n€","{\"k\":1}"]])");
}

TEST(RowEncoding, BeginsAnotherTextBeforeOneGetsTooLong) {
  const std::vector<Record> rows{record_of(1), record_of(2), record_of(3)};
  const std::size_t two_rows = 2 * kRowText.size() + 3;  // Brackets and a comma.
  EXPECT_THAT(rows_as_json(kWriter, rows, 3 * kRowText.size() + 4), SizeIs(1));
  const auto blocks = rows_as_json(kWriter, rows, two_rows);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(text_of(blocks[0]), SizeIs(two_rows));
  EXPECT_THAT(text_of(blocks[1]), SizeIs(kRowText.size() + 2));
  EXPECT_THAT(rows_as_json(kWriter, rows, two_rows - 1), SizeIs(3));
}

TEST(RowEncoding, ARowThatFitsNoTextGoesAsColumnsAndTheOrderIsKept) {
  const std::vector<Record> rows{record_of(1), record_of(2, std::string(99, '"')),
                                 record_of(3, std::string(99, '"')), record_of(4)};
  const auto blocks = rows_as_json(kWriter, rows, kRowText.size() + 99);
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(form_of(blocks[0]), RowForm::kJson);
  ASSERT_EQ(form_of(blocks[1]), RowForm::kColumns);
  EXPECT_EQ(form_of(blocks[2]), RowForm::kJson);
  ASSERT_THAT(blocks[1], SizeIs(2)) << "those beside each other share a statement";
  EXPECT_EQ(blocks[1][0][2], Value(std::int64_t{2}));
  EXPECT_EQ(blocks[1][1][2], Value(std::int64_t{3}));
}

TEST(RowEncoding, ARowFitsATextToTheByte) {
  const std::vector<Record> rows{record_of(1)};
  EXPECT_EQ(form_of(rows_as_json(kWriter, rows, kRowText.size() + 2).at(0)), RowForm::kJson);
  EXPECT_EQ(form_of(rows_as_json(kWriter, rows, kRowText.size() + 1).at(0)), RowForm::kColumns);
}

}  // namespace
}  // namespace spillway
