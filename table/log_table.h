// SPDX-License-Identifier: MIT
//
// LogTable: the statements of the log table and of TABLE_meta beside it. docs/formats.md says what
// they hold.
//
// It knows names and SQL, and keeps nothing of a database: every call is given one. Not for
// concurrent use with one Database, like the Database itself.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "table/record.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

class LogTable {
 public:
  /// kInvalidArgument: the name is empty, longer than 64 bytes, holds NUL or is not UTF-8, or
  /// begins with `sqlite_`.
  [[nodiscard]] static Result<LogTable> named(std::string_view name);

  /// Reads the schema, and creates the table and TABLE_meta if they are missing. When both are
  /// there, nothing is written and no write lock is taken. kConfig: a table of that name has
  /// another shape, or a newer version of Spillway made it; the message is one line that says how
  /// it differs. Else what the Database answers.
  [[nodiscard]] Status prepare(Database& database, const ExecuteOptions& options) const;

  /// Inserts the rows in one transaction. A row whose key is in the table already is left as it is,
  /// so the same rows can be sent again whatever became of them. Gives the number of rows that were
  /// new.
  ///
  /// When the database counts more or fewer changes than rows, a second statement looks whether
  /// each row's key is in the table. kConstraint with Execution::kNo: some are not, and
  /// sending them again will not help; the message says how many, and the others may be stored. Any
  /// failure of the second statement has Execution::kMaybe. Both statements keep to `options`.
  [[nodiscard]] Result<std::int64_t> insert(Database& database, std::int64_t writer,
                                            std::span<const Record> rows,
                                            const ExecuteOptions& options) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  explicit LogTable(std::string name);

  /// kConstraint: not each of `rows` (parameters of the insert) is in the table.
  [[nodiscard]] Status check_stored(Database& database, std::vector<Row> rows,
                                    const ExecuteOptions& options) const;

  std::string name_;
  std::string insert_sql_;
  std::string missing_sql_;  // Answers the seq of a row whose key is not in the table.
};

}  // namespace spillway
