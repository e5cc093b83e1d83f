// SPDX-License-Identifier: MIT
//
// Budget: what a run may still do: until it is told to stop, its time is over, or its rows are used
// up.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>

#include "retention/end.h"
#include "retention/run.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace spillway::retention {

class Budget {
 public:
  /// Both must outlive the object.
  Budget(const RunOptions& options, const World& world);

  /// What every request of the run keeps to.
  [[nodiscard]] const ExecuteOptions& limits() const noexcept { return limits_; }

  /// Why nothing that takes so long may begin; empty: it may.
  [[nodiscard]] std::optional<Verdict> stopped(std::chrono::milliseconds takes = {}) const;
  /// Why no more rows may go; empty: they may.
  [[nodiscard]] std::optional<Verdict> used_up(std::int64_t deleted, std::int64_t written) const;
  /// How many rows may go; at least 1.
  [[nodiscard]] std::int64_t rows_left(std::int64_t deleted, std::int64_t written) const;
  [[nodiscard]] bool is_told_to_stop() const { return world_.stop.stop_requested(); }

 private:
  const RunOptions& options_;
  const World& world_;
  ExecuteOptions limits_;
};

}  // namespace spillway::retention
