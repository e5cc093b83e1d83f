// SPDX-License-Identifier: MIT
//
// The statements that put rows into a log table and that look what became of them. Pure: they take
// the rows of a RowBlock. docs/formats.md says why they are as they are.
#pragma once

#include "table/row_encoding.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

/// Inserts the rows whose key is not in the table.
[[nodiscard]] std::string insert_sql(std::string_view table, RowForm form);

/// Answers a row (seq, is_there) for each row that is not in the table, or with other contents:
/// `is_there` is 0 or 1. D1 gives both as doubles.
[[nodiscard]] std::string comparison_sql(std::string_view table, RowForm form);

}  // namespace spillway
