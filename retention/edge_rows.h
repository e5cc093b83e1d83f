// SPDX-License-Identifier: MIT
//
// The oldest and the newest row of a table: what a look at its two ends tells. Only reads.
//
// Of Spillway's own table each is one row read. A table of others is in the order in which its rows
// came, and there the first or the last 1,000 are looked at.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/policy.h"
#include "retention/table_form.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway::retention {

struct OldestRow {
  WallTime time;
  std::string level = {};  ///< In upper case; empty: it has none.
};

/// Empty: there is no row whose time can be read.
[[nodiscard]] Result<std::optional<OldestRow>> oldest_row(Database& database, const TableForm& form,
                                                          const ExecuteOptions& options);

/// True if a rule lets it go.
[[nodiscard]] bool is_expired(const OldestRow& row, const std::vector<Rule>& rules);

/// The newest row that is not after `now`. Where the last 1,000 rows of a table of others are all
/// older than `old_enough`, all of it is looked at.
[[nodiscard]] Result<std::optional<WallTime>> newest_row(Database& database, const TableForm& form,
                                                         WallTime now, WallTime old_enough,
                                                         const ExecuteOptions& options);

/// The key of the newest row of those that are beyond the newest `rows_max` by the order of the
/// key. Reads as many rows.
[[nodiscard]] Result<std::optional<Row>> first_key_beyond(Database& database, const TableForm& form,
                                                          std::int64_t rows_max,
                                                          const ExecuteOptions& options);

}  // namespace spillway::retention
