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

/// What an insert did.
struct Inserted {
  /// Rows that were new.
  std::int64_t rows = 0;
  /// Rows whose key was in the table with other contents, which are left as they are: another
  /// writer has the same number, or a trigger has changed the row since.
  std::int64_t collisions = 0;
  /// The number of one of them.
  std::int64_t collided_seq = 0;
  /// The numbers of rows that are not in the table in spite of it, because a trigger keeps them
  /// out: sending them again would not help.
  std::vector<std::int64_t> missing = {};
};

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
  /// so the same rows can be sent again whatever became of them.
  ///
  /// When the database counts more or fewer changes than rows, a second request looks what is in
  /// the table under each row's key. Any failure of it has Execution::kMaybe. Both keep to
  /// `options`.
  [[nodiscard]] Result<Inserted> insert(Database& database, std::int64_t writer,
                                        std::span<const Record> rows,
                                        const ExecuteOptions& options) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  explicit LogTable(std::string name);

  /// What the table holds of these rows, which were inserted: `inserted`, with how they differ.
  [[nodiscard]] Result<Inserted> compare(Database& database, std::vector<Statement> statements,
                                         Inserted inserted, const ExecuteOptions& options) const;

  std::string name_;
};

}  // namespace spillway
