// SPDX-License-Identifier: MIT
//
// parse_duration: a length of time as people write it on a command line.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace spillway {

/// A positive whole number directly followed by its unit: ms, s, min or h. Empty for everything
/// else, a number without a unit and one too large to count in milliseconds included. `m` alone is
/// no unit: it could be minutes or months.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(
    std::string_view text) noexcept;

}  // namespace spillway
