// SPDX-License-Identifier: MIT
//
// How log rows go into the parameters of a statement. Pure.
//
// A row is seven values, which SQLite takes in the loop of one statement. D1 would answer for each
// of them and takes at most 100 parameters at a time, so there many rows are one text: a JSON array
// of arrays, which the statement takes apart again.
#pragma once

#include <spillway/database.h>

#include "table/record.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

enum class RowForm : std::uint8_t {
  kColumns,  ///< Each parameter row is a log row, in the order of the columns.
  kJson,     ///< The only parameter holds all rows.
};

/// The parameter rows of one statement.
using RowBlock = std::vector<Row>;

[[nodiscard]] inline RowForm form_of(const RowBlock& block) noexcept {
  return block.front().size() == 1 ? RowForm::kJson : RowForm::kColumns;
}

[[nodiscard]] RowBlock rows_as_columns(std::int64_t writer, std::span<const Record> rows);

/// The rows in their order, in as few texts as hold them, none over `text_bytes_max`. A row whose
/// JSON alone would be longer (escapes can make six bytes of one) goes as columns.
[[nodiscard]] std::vector<RowBlock> rows_as_json(std::int64_t writer, std::span<const Record> rows,
                                                 std::size_t text_bytes_max);

}  // namespace spillway
