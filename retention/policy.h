// SPDX-License-Identifier: MIT
//
// Policy: how long rows are kept. Pure.
//
// A policy becomes rules once it is told the time: each rule has a cut-off, and a row goes when it
// is strictly older than the cut-off of the rule for its level. `--max-rows` has no cut-off in time
// and is no rule of these.
#pragma once

#include <spillway/clock.h>
#include <spillway/status.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::retention {

/// How long rows are kept. Empty: for ever.
using Keep = std::optional<std::chrono::milliseconds>;

struct LevelPolicy {
  std::string level;  ///< In upper case: levels are compared so.
  Keep keep = {};
};

struct Policy {
  /// For rows of all levels that `levels` does not name.
  Keep keep = {};
  /// Sorted by level, each named once.
  std::vector<LevelPolicy> levels = {};
  /// The newest rows stay, at most so many.
  std::optional<std::int64_t> max_rows = {};

  /// True if no row can ever go.
  [[nodiscard]] bool keeps_all() const noexcept;
};

/// `30min`, `12h`, `30d`, `4w`, `forever`. kInvalidArgument, with the way out, for everything else:
/// no unit, `m` alone (minutes or months?), 0, a sign, white space, more than 100 years.
[[nodiscard]] Result<Keep> parse_keep(std::string_view text);
/// `DEBUG=2d`. Any level name is taken, of letters, digits, '_', '-' and '.', and made upper case.
[[nodiscard]] Result<LevelPolicy> parse_level_keep(std::string_view text);
/// "30d": as parse_keep reads it.
[[nodiscard]] std::string to_string(const Keep& keep);
/// "keep=30d DEBUG=2d max-rows=1000": two policies that say the same have the same text.
[[nodiscard]] std::string to_string(const Policy& policy);

/// Which rows a rule is for.
struct Levels {
  std::vector<std::string> names = {};
  bool is_all_but = false;  ///< True: those that `names` does not hold; with no names, all.
};

struct Rule {
  std::string name;  ///< "keep", or the level.
  Levels levels;
  std::chrono::milliseconds keep;
  WallTime cutoff;  ///< What is strictly older goes.
};

/// The rules that can delete something, those with the oldest cut-off first.
[[nodiscard]] std::vector<Rule> rules_of(const Policy& policy, WallTime now);

}  // namespace spillway::retention
