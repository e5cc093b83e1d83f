// SPDX-License-Identifier: MIT
//
// DiagnosticLines: what the pipeline tells its operator, and how often. Pure.
#pragma once

#include <spillway/clock.h>
#include <spillway/stats.h>
#include <spillway/status.h>

#include "table/log_table.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

class DiagnosticLines {
 public:
  void paused(std::chrono::nanoseconds pause, const Status& failure);
  void resumed(std::chrono::nanoseconds after);
  // What can happen with every row or attempt is told no faster than a person reads.
  void resent(const Status& failure, SteadyTime now);
  void refused(std::int64_t seq, std::string_view why, SteadyTime now);
  /// The first time only.
  void collided(const Inserted& inserted);
  /// `open_gaps`: as GapLedger describes them.
  void closed_too_early(const Stats& left, const std::string& open_gaps);

  /// The lines since the last call, oldest first.
  [[nodiscard]] std::vector<std::string> take();

 private:
  std::vector<std::string> lines_;
  SteadyTime next_resend_ = SteadyTime::min();
  SteadyTime next_refusal_ = SteadyTime::min();
  std::uint64_t untold_refusals_ = 0;
  bool has_told_collisions_ = false;
};

}  // namespace spillway
