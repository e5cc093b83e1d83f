// SPDX-License-Identifier: MIT
//
// How long to leave a database alone that says so itself, for the log and for those who read it.
// The table of docs/failure-modes.md has the rest.
#pragma once

#include <chrono>

namespace spillway {

/// For a rate limit that names no time: D1 counts calls over five minutes.
inline constexpr std::chrono::milliseconds kRateLimitPause = std::chrono::seconds(300);

// A server's word is obeyed within reason: 0 would be no pause, a day would outlive the incident.
inline constexpr std::chrono::milliseconds kRetryAfterMin = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kRetryAfterMax = std::chrono::minutes(15);

}  // namespace spillway
