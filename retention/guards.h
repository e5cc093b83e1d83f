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

/// Whether the share of rows that would go has to be looked at: the policy is another one than that
/// of the state, or there is none, or since then the cut-offs moved on by a day more than the rows
/// did.
[[nodiscard]] bool must_look_at_share(const State& state, const Policy& policy, WallTime now,
                                      const std::optional<WallTime>& newest);

struct Share {
  std::int64_t going = 0;
  bool is_most = false;  ///< More than 90 % of a table of over 1,000 rows.
};
/// What to say of such a share.
[[nodiscard]] std::string most_would_go(const Share& share);
/// Counts the rows that would go, and of those that stay only as many as decides it.
[[nodiscard]] Result<Share> share_of(Database& database, const TableForm& form,
                                     const std::vector<Rule>& rules,
                                     const std::optional<std::int64_t>& max_rows,
                                     const ExecuteOptions& options);

}  // namespace spillway::retention
