// SPDX-License-Identifier: MIT
//
// plan: what a run would do, without doing any of it. The database is opened for reading only.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/policy.h"
#include "retention/run.h"
#include "retention/table_form.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spillway::retention {

struct PlannedRule {
  std::string name;                   ///< "keep", a level.
  std::string keep;                   ///< "30d".
  WallTime cutoff = {};               ///< What is strictly older goes.
  std::optional<WallTime> from = {};  ///< Where the walk would begin; empty: from the oldest row.
  std::optional<std::int64_t> rows = {};  ///< That would go. Only where it was asked to count.
};

struct Plan {
  std::string table = {};
  std::string policy = {};
  bool is_own = false;
  WallTime now = {};
  std::optional<WallTime> oldest = {};  ///< Of the rows whose time can be read.
  std::optional<WallTime> newest = {};  ///< Not in the future.
  std::vector<PlannedRule> rules = {};
  std::optional<std::int64_t> max_rows = {};
  /// Rows beyond it, once the rules are through; only where counted.
  std::optional<std::int64_t> over_max_rows = {};
  std::map<std::string, std::int64_t> kept = {};  ///< As Report::kept; only where counted.
  bool is_full_walk = false;
  std::optional<std::string> refusal = {};  ///< What a guard would say, as far as it can be told.
  Cost cost = {};
};

/// Reads fewer than 60 rows of a table of Spillway's own, and of a table of others some thousand;
/// with `is_exact` it counts, which reads the table. Writes nothing. kInvalidArgument: the policy
/// has levels and the table none. Else as read_table_form and execute.
[[nodiscard]] Result<Plan> plan(Database& database, const RunOptions& options, bool is_exact,
                                WallTime now, const ExecuteOptions& limits);

/// What `check` found: from TABLE_meta and the oldest row, not from the table.
struct Check {
  std::string table = {};
  bool is_met = false;
  std::string why = {};  ///< Why not, in one line. Empty: it is.
  std::optional<WallTime> last_met = {};
  /// The oldest row; of a table of others the one that the last run left.
  std::optional<WallTime> oldest = {};
  Cost cost = {};
};

/// Met: the last run that met this very policy began within `kCheckGrace`.
inline constexpr std::chrono::hours kCheckGrace{48};
[[nodiscard]] Result<Check> check(Database& database, const RunOptions& options, WallTime now,
                                  const ExecuteOptions& limits);

}  // namespace spillway::retention
