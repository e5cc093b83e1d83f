// SPDX-License-Identifier: MIT
#include "sinks/admission.h"

namespace spillway {
namespace {

/// How much of the queue, in tenths, records of a level may fill.
constexpr std::size_t tenths_for(Level level) noexcept {
  if (level >= Level::kError) {
    return 10;
  }
  return level == Level::kWarn ? 8 : 5;
}

}  // namespace

bool admits(Level level, std::size_t record_bytes, QueueFill fill, QueueFill limit) noexcept {
  const std::size_t tenths = tenths_for(level);
  return (fill.bytes + record_bytes) * 10 <= limit.bytes * tenths &&
         (fill.records + 1) * 10 <= limit.records * tenths;
}

}  // namespace spillway
