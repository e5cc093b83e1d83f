// SPDX-License-Identifier: MIT
//
// Guards: what has to be so before anything is deleted. Each answers why the run is refused, in one
// line with the way out; empty: it may go on. Only reads.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/policy.h"
#include "retention/state.h"
#include "retention/table_form.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway::retention {

using Refusal = std::optional<std::string>;

/// The local clock and the database's differ by more than 5 minutes.
[[nodiscard]] Result<Refusal> clock_guard(Database& database, WallTime local_now,
                                          const ExecuteOptions& options);

/// The newest row is older than the shortest rule, so that all of what the rule is for would go.
[[nodiscard]] Refusal newest_guard(const std::vector<Rule>& rules,
                                   const std::optional<WallTime>& newest);

/// Integers in the time column that are neither seconds nor milliseconds, as far as the first and
/// the last 1,000 rows of a table of others tell.
[[nodiscard]] Result<Refusal> unit_guard(Database& database, const TableForm& form, WallTime now,
                                         const ExecuteOptions& options);

/// A time column that was named by hand, of a table that may be no log at all.
[[nodiscard]] Refusal named_column_guard(const TableForm& form, const FormChoice& choice,
                                         const std::optional<std::int64_t>& allow_delete);

/// What a run is about to do.
struct Intent {
  const Policy& policy;
  WallTime now;
  const std::optional<std::int64_t>& allow_delete;
  const State& before;  ///< What the last run left.
  const std::optional<WallTime>& newest;
};
/// All of what a rule is for would go (newest_guard), or more than 90 % of a table of over 1,000
/// rows, where the policy is another one than the last run's, or there was none, or since then the
/// cut-offs moved on by a day more than the rows did. Only then it counts the rows that would go,
/// and of those that stay as many as decides it; `allow_delete` lets the run pass if it is enough.
[[nodiscard]] Result<Refusal> share_guard(Database& database, const TableForm& form,
                                          const Intent& intent, const ExecuteOptions& options);

}  // namespace spillway::retention
