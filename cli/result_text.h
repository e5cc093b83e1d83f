// SPDX-License-Identifier: MIT
//
// The answer to a statement as text: a table for people, tabs or JSON for programs.
#pragma once

#include <spillway/result_set.h>

#include <string>

namespace spillway {

/// Columns in line, their names on top, numbers to the right; nothing for a statement without
/// columns. NULL, and blobs as X'00FF'. Of texts only what is harmless on a terminal, see
/// append_visible; this holds for all three forms.
[[nodiscard]] std::string aligned_text(const ResultSet& result);

/// The same values, one tab between them: a line for the names, one for each row. Tabs and line
/// ends in texts are \t and \n.
[[nodiscard]] std::string tab_text(const ResultSet& result);

/// One JSON object a row, a line each. Integers keep all digits, reals have a point or an exponent,
/// a blob is an array of its bytes, as D1 gives it; a second column of one name is NAME:2.
[[nodiscard]] std::string json_lines(const ResultSet& result);

}  // namespace spillway
