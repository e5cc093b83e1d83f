// SPDX-License-Identifier: MIT
//
// An integer in an answer, which D1 may send as a double.
#pragma once

#include <spillway/database.h>

#include <cmath>
#include <cstdint>
#include <optional>

namespace spillway {

/// From here on a double may be what is left of another integer.
inline constexpr double kTwoTo53 = 9'007'199'254'740'992;

/// A real that may be a rounded integer: D1 answers RETURNING so. NaN is none.
[[nodiscard]] inline bool may_be_rounded(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  return real != nullptr && std::abs(*real) >= kTwoTo53;
}

/// The integer that `value` holds: as one, or as a real that is certainly the same. Empty: it holds
/// none.
[[nodiscard]] inline std::optional<std::int64_t> exact_integer(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return *integer;
  }
  const auto* real = std::get_if<double>(&value);
  const bool is_exact = real != nullptr && !may_be_rounded(value) && std::trunc(*real) == *real;
  return is_exact ? std::optional(static_cast<std::int64_t>(*real)) : std::nullopt;
}

}  // namespace spillway
