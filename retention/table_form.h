// SPDX-License-Identifier: MIT
//
// TableForm: what retention must know of a table before it may delete from it: the order in which
// it is walked, and where the age and the level of a row stand.
//
// A table of Spillway's own is walked along its key, which begins with the time. One that others
// made is walked by rowid, or by its primary key if it has no rowid; its time may have any form of
// instant.h.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/condition.h"
#include "retention/policy.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::retention {

/// A stretch of a table in the order of its key. What is empty does not bound it.
struct Range {
  std::optional<WallTime> from = {};    ///< Rows of this time and later; own tables only.
  std::optional<Row> beyond = {};       ///< Rows whose key is greater.
  std::optional<Row> last = {};         ///< Rows whose key is not greater.
  std::optional<WallTime> before = {};  ///< Rows that are older; own tables only.
};

struct TableForm {
  std::string name;                       ///< As it was given.
  bool is_own = false;                    ///< Exactly Spillway's log table.
  std::vector<std::string> key = {};      ///< Quoted names, in order; or one of rowid's names.
  std::string time = {};                  ///< Quoted.
  std::string level = {};                 ///< Quoted. Empty: it has none.
  std::vector<std::string> columns = {};  ///< Quoted: all that is stored, the key's too.

  [[nodiscard]] std::string table() const;     ///< Quoted.
  [[nodiscard]] std::string meta() const;      ///< Quoted, the table beside it.
  [[nodiscard]] std::string key_list() const;  ///< "a", "b"
  /// "a" DESC, "b" DESC
  [[nodiscard]] std::string key_list_descending() const;

  /// The rows of the range.
  [[nodiscard]] Condition in(const Range& range) const;
  /// The rows that are as old as the rule says, whatever form their time has: for counting.
  [[nodiscard]] Condition aged(const Rule& rule) const;
  /// The rows that the rule lets go.
  [[nodiscard]] Condition expired(const Rule& rule) const;
  /// Rows whose time can be read and is not after `now`.
  [[nodiscard]] Condition dated(WallTime now) const;
  /// An expression for what the row's time is: 'aged', or as class_sql says why it has none.
  [[nodiscard]] Condition class_of(WallTime now) const;
  /// The row's milliseconds since 1970 as an expression; NULL: not readable.
  [[nodiscard]] std::string instant() const;
};

/// Which column holds the time, where the table is not Spillway's own.
struct FormChoice {
  std::string table = "logs";
  /// Empty: `created_at`, beside `level` and `message`, all of which must be there.
  std::optional<std::string> time_column = {};
};

/// Reads the schema; writes nothing. kSchema: there is no such table. kInvalidArgument: it is a
/// view or virtual, or its columns are not those of a log; the message is one line with the way
/// out.
[[nodiscard]] Result<TableForm> read_table_form(Database& database, const FormChoice& choice,
                                                const ExecuteOptions& options);

}  // namespace spillway::retention
