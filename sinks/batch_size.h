// SPDX-License-Identifier: MIT
//
// BatchSize: how many rows and bytes one batch may have. A database can refuse a batch because it
// takes too long or too much memory, and each attempt that finds out costs it a reset. So what
// worked in the end, when such a batch was halved, is what the next ones begin with; successes
// double it again. Pure.
//
// D1 says so of small batches too, when it is in trouble for other reasons. Nothing is learnt from
// those, and no trouble makes batches smaller than what it takes anywhere.
#pragma once

#include <algorithm>
#include <cstddef>

namespace spillway {

struct Extent {
  std::size_t rows = 0;
  std::size_t bytes = 0;
};

class BatchSize {
 public:
  explicit BatchSize(Extent max) noexcept : max_(max), learned_(max) {}

  void set_bytes_max(std::size_t bytes) noexcept {
    const bool is_full = learned_.bytes >= max_.bytes;
    max_.bytes = bytes;
    learned_.bytes = is_full ? bytes : std::min(learned_.bytes, bytes);
  }

  [[nodiscard]] Extent max() const noexcept { return learned_; }

  /// Such a batch can be too much for a database; one below is not.
  [[nodiscard]] static bool is_large(Extent batch) noexcept {
    return batch.rows >= kFloor.rows || batch.bytes >= kFloor.bytes;
  }

  /// A batch was too big, and its halves go on their way.
  void on_too_big(Extent batch) noexcept { is_learning_ = is_learning_ || is_large(batch); }
  void on_stored(Extent batch) noexcept {
    largest_stored_ = {std::max(largest_stored_.rows, batch.rows),
                       std::max(largest_stored_.bytes, batch.bytes)};
    if (batch.rows >= max_.rows) {
      patience_ = kPatienceMin;
    }
    if (!is_learning_ && ++successes_ >= patience_) {
      learned_ = {std::min(learned_.rows * 2, max_.rows), std::min(learned_.bytes * 2, max_.bytes)};
      successes_ = 0;
    }
  }
  /// All parts have come to an end. A single large row among many leaves halves that are stored: it
  /// is not taken for a sign that all batches are too big.
  void on_settled() noexcept {
    if (is_learning_ && largest_stored_.rows > 0) {
      learn();
    }
    is_learning_ = false;
    largest_stored_ = {};
  }

 private:
  static constexpr Extent kFloor{200, 200'000};
  // The larger size is tried again after so many successes, and after each vain trial after twice
  // as many: at the rate for D1 from 8 s to some 9 minutes.
  static constexpr int kPatienceMin = 16;
  static constexpr int kPatienceMax = 1'024;

  void learn() noexcept {
    const bool was_in_vain = learned_.rows < max_.rows || patience_ > kPatienceMin;
    patience_ = was_in_vain ? std::min(patience_ * 2, kPatienceMax) : patience_;
    learned_ = {std::min(std::max(largest_stored_.rows, kFloor.rows), max_.rows),
                std::min(std::max(largest_stored_.bytes, kFloor.bytes), max_.bytes)};
    successes_ = 0;
  }

  Extent max_;
  Extent learned_;
  bool is_learning_ = false;
  Extent largest_stored_;  ///< Since all was settled last.
  int successes_ = 0;
  int patience_ = kPatienceMin;
};

}  // namespace spillway
