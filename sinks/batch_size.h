// SPDX-License-Identifier: MIT
//
// BatchSize: how many rows one batch may have. A database can refuse a batch because it takes too
// long or too much memory, and each attempt that finds out costs it a reset. So what worked in the
// end, when such a batch was halved, is what the next ones begin with. Pure: it is told the time.
#pragma once

#include <spillway/clock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace spillway {

class BatchSize {
 public:
  explicit BatchSize(std::size_t rows_max) noexcept : rows_max_(rows_max), learned_(rows_max) {}

  [[nodiscard]] std::size_t rows_max(SteadyTime now) const noexcept {
    return now < learned_until_ ? learned_ : rows_max_;
  }

  /// A batch was refused as too big, and its halves go on their way.
  void on_too_big() noexcept { is_learning_ = true; }
  void on_stored(std::size_t rows) noexcept { largest_stored_ = std::max(largest_stored_, rows); }
  /// All parts have come to an end. A single large row among many leaves halves that are stored: it
  /// is not taken for a sign that all batches are too big.
  void on_settled(SteadyTime now) noexcept {
    if (is_learning_ && largest_stored_ > 0) {
      learned_ = largest_stored_;
      learned_until_ = now + kMemory;
    }
    is_learning_ = false;
    largest_stored_ = 0;
  }

 private:
  /// One failure in so long, should the cause be still there, does little harm.
  static constexpr std::chrono::minutes kMemory{10};

  std::size_t rows_max_;
  std::size_t learned_;
  SteadyTime learned_until_ = SteadyTime::min();
  bool is_learning_ = false;
  std::size_t largest_stored_ = 0;  ///< Since all was settled last.
};

}  // namespace spillway
