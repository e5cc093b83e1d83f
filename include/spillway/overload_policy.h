// SPDX-License-Identifier: MIT
//
// OverloadPolicy: how the log pipeline behaves while the database is overloaded. A value; the
// defaults are the published behaviour that Spillway reproduces
// (docs/decisions/0002-overload-policy.md).
#pragma once

#include <chrono>

namespace spillway {

struct OverloadPolicy {
  /// How long writes pause after an overload error. While they do, records below ERROR are skipped
  /// and counted. Longer: kinder to the database, larger gaps. A Retry-After that is longer is
  /// obeyed instead, up to 15 min. From 1 ms to 1 h.
  std::chrono::milliseconds write_pause = std::chrono::seconds(30);

  /// During a pause, at most one attempt to write per this interval; it carries one record of level
  /// ERROR or above, the first at once. At most one that failed is kept and tried again. From 1 ms
  /// to 1 h.
  std::chrono::milliseconds error_interval = std::chrono::seconds(5);

  /// Pause 30 s, one ERROR per 5 s.
  [[nodiscard]] static OverloadPolicy reference() { return {}; }
};

}  // namespace spillway
