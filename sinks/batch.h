// SPDX-License-Identifier: MIT
//
// Batch: rows that are sent together, and what is known of their fate.
#pragma once

#include "sinks/gap.h"
#include "table/record.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spillway {

/// The rows of one attempt. Shared with the thread that sends them, and so never changed.
using Rows = std::shared_ptr<const std::vector<Record>>;

struct Batch {
  Rows rows;
  /// What the first gaps.size() rows report; the rows behind them are users' records.
  std::vector<Gap> gaps = {};
  /// It was sent at least once without a certain answer. Stays true until the rows are stored or
  /// refused: an attempt that was not executed says nothing about the one before it.
  bool is_in_doubt = false;

  [[nodiscard]] std::size_t records() const noexcept { return rows->size() - gaps.size(); }
  [[nodiscard]] bool has_error() const noexcept;
  /// It has one, or names one that was skipped.
  [[nodiscard]] bool tells_of_error() const noexcept;
  /// The lowest number of a record that is in the batch or named in one of its gap rows.
  [[nodiscard]] std::int64_t first_seq() const noexcept;

  /// The first half of the rows, and the rest.
  [[nodiscard]] std::pair<Batch, Batch> halves() const;
};

}  // namespace spillway
