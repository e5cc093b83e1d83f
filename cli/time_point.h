// SPDX-License-Identifier: MIT
//
// parse_time_point: a point in time as people write it on a command line.
#pragma once

#include <spillway/clock.h>
#include <spillway/status.h>

#include <string>
#include <string_view>

namespace spillway {

/// The point in the form of the log table: 24 characters, UTC.
///
/// Either a length of time before `now`, a positive whole number with its unit (`30s`, `15min`,
/// `2h`, `3d`, `1w`), or a time in UTC as the table shows it, `2026-08-28T06:35:12.345Z`. Of that
/// the end may be left out, down to the year, and means the first moment: `2026-08-28` is midnight.
/// A space may stand for the T.
///
/// kInvalidArgument: anything else; the message says what is wrong and how to write it. `m` alone
/// is no unit, it could be minutes or months; other zones than UTC are not known.
[[nodiscard]] Result<std::string> parse_time_point(std::string_view text, WallTime now);

}  // namespace spillway
