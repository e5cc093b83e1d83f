// SPDX-License-Identifier: MIT
//
// Characters that make a terminal do something else than show them.
#pragma once

#include <string_view>

namespace spillway {

/// The C0 controls and DEL, as bytes.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
  return (c >= 0 && c < ' ') || c == 0x7F;
}

/// Beyond ASCII: if `part`, one well-formed sequence of UTF-8, is a C1 control, a line or paragraph
/// separator, or a mark or override of the writing direction, its code point; otherwise 0.
[[nodiscard]] char32_t steering_point(std::string_view part) noexcept;

}  // namespace spillway
