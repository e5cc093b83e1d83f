// SPDX-License-Identifier: MIT
//
// SqliteTransaction: RAII over one transaction of a connection.
#pragma once

#include <spillway/status.h>

#include "d1/sqlite_connection.h"

#include <cstdint>

namespace spillway {

/// What has not been committed is rolled back by the destructor: SQLite itself rolls back after
/// some errors only, and a connection left in a transaction refuses all further work.
class SqliteTransaction {
 public:
  enum class Kind : std::uint8_t { kRead, kWrite };

  /// `connection` must outlive the object. One transaction of a connection at a time.
  explicit SqliteTransaction(SqliteConnection& connection) : connection_(connection) {}
  SqliteTransaction(const SqliteTransaction&) = delete;  // Two would end one transaction twice.
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  ~SqliteTransaction();

  /// A write transaction takes the write lock now: one that reads first and wants to write later
  /// would get SQLITE_BUSY at once, without waiting.
  [[nodiscard]] Status begin(Kind kind);
  /// After a failure the transaction may still be open; the destructor ends it.
  [[nodiscard]] Status commit();

 private:
  void roll_back() noexcept;

  SqliteConnection& connection_;
};

}  // namespace spillway
