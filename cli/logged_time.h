// SPDX-License-Identifier: MIT
//
// logged_time: the time of a record as other programs' logs have it.
#pragma once

#include <spillway/clock.h>

#include <optional>
#include <string_view>

namespace spillway {

/// A time of RFC 3339, with its offset: `2026-08-28T08:35:12.345678+02:00`. A space may stand for
/// the T, a comma for the point, and the offset may lack its colon. What comes after milliseconds
/// is cut off. Empty: anything else; without an offset nobody knows what time it is.
[[nodiscard]] std::optional<WallTime> logged_time_of_text(std::string_view text) noexcept;

/// A number of JSON that counts from 1970. From 10^8 on it is seconds, from 10^11 milliseconds,
/// from 10^14 microseconds, from 10^17 to 10^20 nanoseconds: in each unit from 1973 to 5138. Empty:
/// another number, which would be a duration or a counter, or one with an exponent.
[[nodiscard]] std::optional<WallTime> logged_time_of_number(std::string_view number) noexcept;

}  // namespace spillway
