// SPDX-License-Identifier: MIT
#include "retention/chunk_size.h"

#include <algorithm>

namespace spillway::retention {
namespace {

// So many chunks must pass below a ceiling before it is tried again.
constexpr int kChunksBelowCeiling = 100;

}  // namespace

ChunkSize::ChunkSize(ChunkLimits limits) noexcept
    : limits_(limits),
      rows_(std::clamp<std::int64_t>(limits.first, 1, limits.max)),
      ceiling_(limits.max) {}

void ChunkSize::on_done(std::int64_t rows, std::chrono::microseconds took) noexcept {
  const double us = std::max(1.0, static_cast<double>(took.count()));
  const double fits = static_cast<double>(rows) * static_cast<double>(limits_.target.count()) / us;
  // A chunk that was cut short by the end of a range says nothing of longer ones.
  const double most = 2.0 * static_cast<double>(std::max(rows, rows_));
  const auto wanted = static_cast<std::int64_t>(std::min(fits, most));
  if (took > limits_.target || rows >= rows_) {
    rows_ = std::clamp<std::int64_t>(wanted, 1, ceiling_);
  }
  if (ceiling_ < limits_.max && ++done_below_ceiling_ >= kChunksBelowCeiling) {
    done_below_ceiling_ = 0;
    ceiling_ = std::min(limits_.max, ceiling_ * 2);
  }
}

bool ChunkSize::on_refused(std::int64_t rows) noexcept {
  ceiling_ = std::max<std::int64_t>(1, rows / 2);
  rows_ = ceiling_;
  done_below_ceiling_ = 0;
  return rows > 1;
}

}  // namespace spillway::retention
