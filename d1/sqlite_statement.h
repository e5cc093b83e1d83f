// SPDX-License-Identifier: MIT
//
// SqliteStatement: RAII over one prepared statement. It must not outlive its connection.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <memory>
#include <string>
#include <vector>

struct sqlite3_stmt;

namespace spillway {

class SqliteStatement {
 public:
  /// Takes `statement` over.
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  [[nodiscard]] bool is_read_only() const noexcept;
  [[nodiscard]] std::vector<std::string> columns() const;

  /// Binds the values without copying them: `row` must stay as it is until the next `reset`.
  /// kInvalidArgument: the number of values is not that of the parameters, or a number is not
  /// finite (SQLite would store NULL for NaN, and D1 has neither). Else a code of SQLite's as in
  /// `step`.
  [[nodiscard]] Status bind(const Row& row);

  /// SQLITE_ROW, SQLITE_DONE or an error, which the connection then explains.
  [[nodiscard]] int step() noexcept;
  /// The row that `step` announced.
  [[nodiscard]] Row row() const;
  void reset() noexcept;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

}  // namespace spillway
