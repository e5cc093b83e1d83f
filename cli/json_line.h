// SPDX-License-Identifier: MIT
//
// parse_json_line: a line of a program that logs JSON, as a record.
#pragma once

#include <spillway/clock.h>
#include <spillway/record.h>

#include "cli/log_options.h"

#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct JsonLine {
  std::optional<WallTime> time;
  std::optional<Level> level;
  std::string message;
  std::string fields;  ///< A JSON object; empty: nothing is left for it.
};

/// How deep brackets may be within each other.
inline constexpr int kJsonLineDepthMax = 64;

/// The record that a line is, if it is one strict JSON object. Of the names that loggers use for
/// time, level and message, each in its list in docs/formats.md, the first whose value can be read
/// is taken; all else becomes `fields`, the values as they stand in the line, down to the digits
/// of numbers. Of members with the same name the last one counts. With LevelSource::kNone no level
/// is taken.
///
/// Empty: the line is no object, is not strict JSON in valid UTF-8, is nested deeper than
/// kJsonLineDepthMax, or holds a number that is larger than doubles are.
[[nodiscard]] std::optional<JsonLine> parse_json_line(std::string_view line,
                                                      LevelSource level_from);

}  // namespace spillway
