// SPDX-License-Identifier: MIT
//
// An integer in an answer.
#pragma once

#include <spillway/database.h>

#include <cstdint>
#include <optional>

namespace spillway {

/// The integer that `value` holds: as one, or as a double, which is how D1 sends numbers, where
/// that is exact. Empty: it is no integer, or beyond 2^53 so that the double may be another's.
[[nodiscard]] inline std::optional<std::int64_t> exact_integer(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number;
  }
  constexpr double kExactMax = 9007199254740992.0;  // 2^53
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !(*real >= -kExactMax && *real <= kExactMax)) {
    return std::nullopt;
  }
  const auto number = static_cast<std::int64_t>(*real);
  return static_cast<double>(number) == *real ? std::optional(number) : std::nullopt;
}

}  // namespace spillway
