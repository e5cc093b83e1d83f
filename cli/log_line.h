// SPDX-License-Identifier: MIT
//
// A row of the log table as `spillway tail` shows it.
#pragma once

#include "table/log_query.h"

#include <string>

namespace spillway {

enum class Colour : unsigned char { kOff, kOn };

/// True for a row in which Spillway says what is missing.
[[nodiscard]] bool is_gap_row(const LogRow& row);

/// One line with its end: time, level, context, message, and the fields as key=value.
///
///   2026-08-28T06:35:12.345Z ERROR billing payment failed order=42 reason="card expired"
///
/// A message of several lines goes on below, set in by four spaces, its fields on a line of their
/// own: what begins at the left is always a row of the table. Of all texts only what is harmless is
/// sent to a terminal, see append_visible. The message of a gap row stands between `***`.
[[nodiscard]] std::string log_line(const LogRow& row, Colour colour);

/// One JSON object on one line: the row as it is stored. `fields` is the JSON that is stored,
/// or a string where that is no JSON.
[[nodiscard]] std::string log_json(const LogRow& row);

}  // namespace spillway
