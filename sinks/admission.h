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

/// True if a record of this level and size may join a queue of this fill: up to INFO while it stays
/// half full at most, WARN up to four fifths, ERROR and above as long as it fits.
[[nodiscard]] bool admits(Level level, std::size_t record_bytes, QueueFill fill,
                          QueueFill limit) noexcept;

}  // namespace spillway
