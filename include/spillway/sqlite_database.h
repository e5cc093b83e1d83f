// SPDX-License-Identifier: MIT
//
// SqliteDatabase: a Database in a local SQLite file, with the same results as D1. Only what
// RETURNING, PRAGMA and EXPLAIN answer is exact here and may be rounded there, see d1_database.h.
//
// Many processes may use the file at once. A new file, one without any table, gets 16 KiB pages,
// auto_vacuum=INCREMENTAL and WAL; an existing one keeps what it has. A transaction of which all
// statements read takes no write lock; any other begins IMMEDIATE. Foreign keys are enforced, as on
// D1. Used by one thread at a time.
#pragma once

#include <spillway/database.h>

#include <chrono>
#include <memory>
#include <string>

namespace spillway {

class SqliteConnection;

enum class Durability : std::uint8_t {
  kProcess,  ///< synchronous=NORMAL: a commit survives the process, in WAL mode not a power cut
             ///< just after it.
  kPower,  ///< synchronous=FULL: a commit survives a power cut too, at the price of an fsync each.
};

struct SqliteOptions {
  Durability durability = Durability::kProcess;
  /// How long a statement waits for a lock when ExecuteOptions::lock_wait says nothing.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(1);
  /// Must outlive the database. Not null.
  const Clock* clock = &Clock::system();
};

class SqliteDatabase final : public Database {
 public:
  /// `path` is a file name as the system takes it: neither URI nor `:memory:`.
  /// Errors: see spillway::open. Blocks for at most `busy_timeout`.
  [[nodiscard]] static Result<std::unique_ptr<SqliteDatabase>> open(const std::string& path,
                                                                    OpenMode mode,
                                                                    SqliteOptions options = {});
  ~SqliteDatabase() override;

  /// All as Database says, and in particular:
  /// kInvalidArgument: no statements; a text that is not exactly one statement; BEGIN, COMMIT,
  /// ROLLBACK or SAVEPOINT; a wrong number of values; NaN or infinity. kOverload: another
  /// connection held the lock for all of `lock_wait`. kCancelled: cancelled, or the deadline had
  /// passed before the call. kTransient: the deadline passed during it; or the file at the path is
  /// not the one that was opened, so that nobody would see the rows: open it anew. kLost: the
  /// system reported an I/O error.
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  [[nodiscard]] DatabaseTraits traits() const override;

 private:
  SqliteDatabase(std::unique_ptr<SqliteConnection> connection, SqliteOptions options);

  std::unique_ptr<SqliteConnection> connection_;
  SqliteOptions options_;
};

}  // namespace spillway
