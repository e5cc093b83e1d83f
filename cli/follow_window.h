// SPDX-License-Identifier: MIT
//
// FollowWindow: what `tail --follow` has to read again, and what of it is new.
//
// A row may be stored after rows with a later time: a batch waits for its answer, a held row for
// the end of a pause, and clocks differ. So each look begins somewhat before the last one, and
// every few looks much before it; rows seen already are remembered by their keys. Pure.
#pragma once

#include <spillway/clock.h>

#include "table/log_query.h"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>

namespace spillway {

class FollowWindow {
 public:
  /// An attempt of the pipeline takes up to 10 s, and begins within a second.
  static constexpr std::chrono::milliseconds kOverlap = std::chrono::seconds(15);
  /// What a pause or two hold back.
  static constexpr std::chrono::milliseconds kDeepOverlap = std::chrono::minutes(5);
  /// Some megabytes. When more rows than this fall into the overlap, it shrinks to the newest.
  static constexpr std::size_t kSeenMax = 50'000;

  /// Nothing before `floor`, a time of the table or empty, is ever looked at.
  explicit FollowWindow(std::string floor, std::size_t seen_max = kSeenMax);

  /// Where the next look begins: before the last one.
  [[nodiscard]] std::string since(std::chrono::milliseconds overlap) const;
  /// True if the row was not seen before; from now on it was.
  bool note(const LogKey& key);
  /// A look that began at `now` has come to its end.
  void looked_at(WallTime now);

 private:
  std::string floor_;
  std::size_t seen_max_;
  WallTime looked_at_{};
  std::set<LogKey> seen_;
};

}  // namespace spillway
