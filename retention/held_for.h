// SPDX-License-Identifier: MIT
//
// held_for: how long other writers of an SQLite file had to wait for a transaction.
#pragma once

#include <algorithm>
#include <chrono>

namespace spillway::retention {

/// `statements` is the time that its statements took, `all` that of the whole call. What a commit
/// takes beyond the time of its statements is the automatic checkpoint of the log, which begins
/// when the lock is free again.
[[nodiscard]] constexpr std::chrono::microseconds held_for(std::chrono::microseconds statements,
                                                           std::chrono::microseconds all) noexcept {
  return std::min(all, 2 * statements);
}

}  // namespace spillway::retention
