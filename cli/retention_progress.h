// SPDX-License-Identifier: MIT
//
// How far a run has come, for who sits in front of it.
#pragma once

#include "retention/run.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace spillway {

/// "12345 rows, 2300 rows/s, 41 %, 2 min left"; what cannot be told is left out. Pure.
[[nodiscard]] std::string progress_text(const retention::Progress& progress);

/// One line on stderr that changes, at most every 200 ms; the destructor removes it. Nothing is
/// written unless stderr is a terminal.
class ProgressLine {
 public:
  /// `is_wanted` false: nothing either.
  explicit ProgressLine(bool is_wanted) noexcept;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void show(const retention::Progress& progress);

 private:
  bool is_shown_;
  std::size_t width_ = 0;  // Of what stands there.
  std::chrono::milliseconds next_{0};
};

}  // namespace spillway
