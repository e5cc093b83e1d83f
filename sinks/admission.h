// SPDX-License-Identifier: MIT
//
// Admission to the queue: which records a queue that fills up still takes. Pure.
#pragma once

#include <spillway/record.h>

#include <cstddef>

namespace spillway {

struct QueueFill {
  std::size_t bytes = 0;
  std::size_t records = 0;
};

/// How much of the queue, in tenths, records of a level may fill.
[[nodiscard]] constexpr std::size_t tenths_for(Level level) noexcept {
  if (level >= Level::kError) {
    return 10;
  }
  return level == Level::kWarn ? 8 : 5;
}

/// True if a record of this level and size may join a queue of this fill: up to INFO while it stays
/// half full at most, WARN up to four fifths, ERROR and above as long as it fits.
[[nodiscard]] constexpr bool admits(Level level, std::size_t record_bytes, QueueFill fill,
                                    QueueFill limit) noexcept {
  const std::size_t tenths = tenths_for(level);
  return (fill.bytes + record_bytes) * 10 <= limit.bytes * tenths &&
         (fill.records + 1) * 10 <= limit.records * tenths;
}

}  // namespace spillway
