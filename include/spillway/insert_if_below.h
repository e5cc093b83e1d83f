// SPDX-License-Identifier: MIT
//
// insert_if_below: a row, unless there are too many already, such as the eleventh report of a
// person's today.
//
//     const auto report = spillway::insert_if_below(
//         *db,
//         {.table = "reports",
//          .values = {{"reporter", user}, {"text", text}},
//          .time_column = "reported_ms",
//          .counted_by = {"reporter"}},
//         10, std::chrono::hours(24));
//     if (report && !report->is_inserted) {
//       answer_429(*report->retry_after);
//     }
//
// Whoever counts first and inserts then lets two through where one had room: between the two calls
// somebody else does the same. Here one INSERT does both, and how many rows it changed is the
// decision.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway {

/// Names may be any; they are quoted.
struct LimitedInsert {
  std::string table;
  /// The row: columns and their values, all but the time.
  std::vector<std::pair<std::string, Value>> values = {};
  /// A column of whole milliseconds since 1970, which gets the database's time: no client's clock
  /// has a say. Declare it INTEGER NOT NULL; a text in it counts for ever.
  std::string time_column;
  /// The columns of `values` in which a row equals the new one to be counted with it, NULL like any
  /// value. Empty: all rows count. With an index on these and the time, in this order, one call
  /// reads about twice `limit` rows at most; without it, the table.
  std::vector<std::string> counted_by = {};
};

struct LimitedInsertResult {
  bool is_inserted = false;
  /// From 1 ms to the window: before that there is no room. Only where nothing was inserted.
  std::optional<std::chrono::milliseconds> retry_after = {};
};

/// Inserts the row if fewer than `limit` rows, which count with it, have come within the last
/// `window`. Both are from 1 on. One call of Database::execute, with all it says of errors,
/// blocking and threads. What decides is whether the INSERT changed anything, triggers of yours
/// included.
///
/// A RetryingDatabase takes it for what it is, a write. After an error whose execution() is kMaybe
/// the row may be there or not, and a second attempt may be refused because the first one took the
/// last place: give the row a key of its own, and look for that before you believe the refusal.
///
/// kInvalidArgument: no `limit` or `window`; `counted_by` names none of `values`; a column, the
/// time's too, would get two values. kConstraint, besides the table's own: it took no row and said
/// nothing, though there was room (a trigger).
[[nodiscard]] Result<LimitedInsertResult> insert_if_below(Database& database,
                                                          const LimitedInsert& insert,
                                                          std::int64_t limit,
                                                          std::chrono::milliseconds window,
                                                          const ExecuteOptions& options = {});

}  // namespace spillway
