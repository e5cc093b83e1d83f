// SPDX-License-Identifier: MIT
//
// Other people's text on a terminal: what would steer it is shown instead.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

enum class Tabs : unsigned char { kKeep, kShow };

/// Appends `text` so that no byte of it moves the cursor, changes colours or titles, breaks the
/// line or turns the direction of writing: control characters become \x1b, \n, \t; C1 controls,
/// line and paragraph separators, marks and overrides of direction become \u009b, \u202e; bytes
/// that are no UTF-8 become \xff. All else stays as it is, backslashes too.
void append_visible(std::string_view text, Tabs tabs, std::string& out);
[[nodiscard]] std::string visible(std::string_view text);

/// The same for JSON: in it only strings can hold such characters (DEL and what is above), so they
/// become \u escapes and the data stays what it was. `json` must be valid and on one line.
[[nodiscard]] std::string visible_json(std::string_view json);

/// Columns that UTF-8 text takes, one for each code point: wide characters are not known.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

}  // namespace spillway
