// SPDX-License-Identifier: MIT
//
// ChunkSize: how many rows the next chunk has, so that it takes about a target time. Pure.
//
// It grows slowly and shrinks at once. What the database refused as too much is a ceiling from then
// on, which is tried again only after many chunks.
#pragma once

#include <chrono>
#include <cstdint>

namespace spillway::retention {

struct ChunkLimits {
  std::int64_t first = 1'000;
  std::int64_t max = 5'000;
  std::chrono::microseconds target = std::chrono::milliseconds(50);
};

class ChunkSize {
 public:
  explicit ChunkSize(ChunkLimits limits) noexcept;

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  /// A chunk of `rows` took so long.
  void on_done(std::int64_t rows, std::chrono::microseconds took) noexcept;
  /// The database could not do a chunk of `rows`. False: it was a single row, which cannot be
  /// halved.
  bool on_refused(std::int64_t rows) noexcept;

 private:
  ChunkLimits limits_;
  std::int64_t rows_;
  std::int64_t ceiling_;
  int done_below_ceiling_ = 0;
};

}  // namespace spillway::retention
