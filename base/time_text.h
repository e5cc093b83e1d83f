// SPDX-License-Identifier: MIT
//
// The one form of a point in time in texts and tables: UTC, 24 characters,
// 2026-08-28T06:35:12.345Z. It sorts as text.
#pragma once

#include <spillway/clock.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr std::size_t kTimeTextBytes = 24;

/// Years outside 0000 to 9999 become the nearest time that has the form.
[[nodiscard]] std::array<char, kTimeTextBytes> time_text_chars(WallTime time) noexcept;
[[nodiscard]] std::string time_text(WallTime time);
/// The time that has exactly this text; empty if none has.
[[nodiscard]] std::optional<WallTime> parse_time_text(std::string_view text) noexcept;

}  // namespace spillway
