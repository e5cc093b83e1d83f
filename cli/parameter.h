// SPDX-License-Identifier: MIT
//
// parse_parameter: a value for SQL as it is written on a command line.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <string_view>

namespace spillway {

/// A text, unless it begins with the name of another type: `int:-5`, `real:1.5`, `hex:00FF` (a
/// blob), `null:`. `text:` makes a text of whatever follows.
///
/// kInvalidArgument: what follows is no such value; the message says so.
[[nodiscard]] Result<Value> parse_parameter(std::string_view text);

}  // namespace spillway
