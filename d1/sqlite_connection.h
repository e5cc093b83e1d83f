// SPDX-License-Identifier: MIT
//
// SqliteConnection: RAII over one connection of SQLite, with the callbacks that keep an attempt
// within its AttemptLimits. Together with SqliteStatement it hides sqlite3.h from all else.
//
// One thread at a time. Neither copied nor moved: SQLite's callbacks hold its address.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/attempt_limits.h"
#include "d1/sqlite_statement.h"

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;

namespace spillway {

class SqliteConnection {
 public:
  /// Opens the file, which is read at the first statement only. `limits` hold until set_limits.
  [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>> open(const std::string& path,
                                                                      OpenMode mode,
                                                                      AttemptLimits limits);
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;
  ~SqliteConnection();

  void set_limits(AttemptLimits limits) { limits_ = std::move(limits); }
  [[nodiscard]] AttemptLimits& limits() noexcept { return limits_; }

  /// kInvalidArgument: `sql` holds no statement, more than one, NUL, or one that begins or ends a
  /// transaction.
  [[nodiscard]] Result<SqliteStatement> prepare(const std::string& sql);

  /// Runs a statement of our own, which may begin or end a transaction, and gives the first value
  /// of its first row, NULL if there is none.
  [[nodiscard]] Result<Value> run(const char* sql);

  /// Why the last call of SQLite answered `code`.
  [[nodiscard]] Status failure(int code) const;

  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// SQLite opens a file that it may not write for reading, and says nothing.
  [[nodiscard]] bool is_read_only() const noexcept;
  /// True if the path leads to another file than the open one, or to none.
  [[nodiscard]] bool has_moved() const noexcept;
  [[nodiscard]] std::int64_t total_changes() const noexcept;
  [[nodiscard]] std::int64_t last_row_id() const noexcept;
  [[nodiscard]] DatabaseLimits sql_limits() const noexcept;

 private:
  struct Closer {
    void operator()(sqlite3* database) const noexcept;
  };

  explicit SqliteConnection(AttemptLimits limits);
  [[nodiscard]] Status open_file(const std::string& path, OpenMode mode);
  void install_callbacks() noexcept;
  void finish_moved_file() noexcept;
  [[nodiscard]] Result<SqliteStatement> prepare_any(const std::string& sql);

  static int on_busy(void* self, int previous_calls) noexcept;
  static int on_progress(void* self) noexcept;
  static int on_authorize(void* self, int action, const char*, const char*, const char*,
                          const char*) noexcept;

  AttemptLimits limits_;
  bool may_control_transaction_ = false;
  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace spillway
