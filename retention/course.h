// SPDX-License-Identifier: MIT
//
// Course: where a run has to walk, from what the last one left, and what it leaves for the next.
// Pure.
//
// A daily run begins at the watermarks. Once a week, after rows were put back, and whenever the
// state or the policy is another one, all of the table up to the cut-offs is walked, for rows that
// came in late; a full walk that was stopped goes on in the next run where it was.
#pragma once

#include <spillway/clock.h>

#include "retention/edge_rows.h"
#include "retention/policy.h"
#include "retention/segment.h"
#include "retention/state.h"

#include <optional>
#include <vector>

namespace spillway::retention {

class Course {
 public:
  struct Ends {
    std::optional<OldestRow> oldest = {};
    std::optional<WallTime> newest = {};
  };

  Course(const LoadedState& before, const Policy& policy, bool is_own, WallTime now,
         const Ends& ends);

  /// All that could go has to be looked at, not only what expired since.
  [[nodiscard]] bool is_full_walk() const noexcept { return is_full_walk_; }
  [[nodiscard]] const std::vector<Rule>& rules() const noexcept { return rules_; }
  /// In the order in which they have to be walked.
  [[nodiscard]] std::vector<Segment> segments() const;

  /// The walk has come to `place` in this segment; empty: it is done.
  void on_place(const Segment& segment, const std::optional<Row>& place);
  /// All segments are done.
  void on_walked();
  void on_met() noexcept { state_.met = now_; }
  /// An expired row was found that the walk did not meet.
  void on_late_row() noexcept { state_.full_walk.reset(); }
  void on_oldest(const std::optional<WallTime>& oldest) noexcept { state_.oldest = oldest; }

  [[nodiscard]] const State& state() const noexcept { return state_; }

 private:
  void note_watermarks(const Segment& segment, WallTime reached);
  [[nodiscard]] Watermarks marks_of_full_walk() const;

  bool is_own_;
  WallTime now_;
  std::vector<Rule> rules_;
  std::optional<Row> begin_;  // Where a full walk goes on.
  Watermarks marks_;          // Where a daily one begins.
  bool is_full_walk_ = true;
  State state_;
};

/// The time that a place in an own table has.
[[nodiscard]] std::optional<WallTime> time_of_place(const std::optional<Row>& place);

}  // namespace spillway::retention
