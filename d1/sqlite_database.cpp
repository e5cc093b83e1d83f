// SPDX-License-Identifier: MIT
#include <spillway/sqlite_database.h>

#include <sqlite3.h>

#include "d1/guarded.h"
#include "d1/sqlite_attempt.h"
#include "d1/sqlite_connection.h"
#include "d1/sqlite_file.h"
#include "d1/sqlite_setup.h"
#include "d1/sqlite_status.h"

#include <string>
#include <utility>

namespace spillway {
namespace {

// SQLite's own text speaks of a write, where somebody only wants to read.
Status unreadable_wal(const Status& status, const std::string& path) {
  return Status(StatusCode::kConfig,
                "cannot read \"" + path +
                    "\": it is in WAL mode, and while nobody writes to it a " +
                    "reader must be able to create files beside it; read as the user who writes " +
                    "it, or a copy")
      .with_sqlite_code(status.sqlite_code());
}

Status explained(const Status& status, const std::string& path, OpenMode mode) {
  if (is_not_a_database(status)) {
    return Status(StatusCode::kConfig, '"' + path + "\" is not an SQLite database")
        .with_sqlite_code(status.sqlite_code());
  }
  constexpr int kPrimaryCode = 0xFF;
  if (mode == OpenMode::kReadOnly && (status.sqlite_code() & kPrimaryCode) == SQLITE_READONLY) {
    return unreadable_wal(status, path);
  }
  return status.with_message("cannot open \"" + path + "\": " + status.message());
}

Result<std::unique_ptr<SqliteConnection>> connect(const std::string& path, OpenMode mode,
                                                  const SqliteOptions& options) {
  if (options.clock == nullptr) {
    return Status(StatusCode::kInvalidArgument, "SqliteOptions::clock is null");
  }
  if (Status status = check_database_file(path, mode); !status.is_ok()) {
    return status;
  }
  auto connection =
      SqliteConnection::open(path, mode, AttemptLimits(*options.clock, options.busy_timeout));
  if (!connection) {
    return explained(connection.error(), path, mode);
  }
  if (mode != OpenMode::kReadOnly && (*connection)->is_read_only()) {
    return Status(StatusCode::kConfig, "cannot write \"" + path + "\": it can only be read");
  }
  if (Status status = set_up(**connection, mode, options.durability); !status.is_ok()) {
    return explained(status, path, mode);
  }
  return connection;
}

}  // namespace

SqliteDatabase::SqliteDatabase(std::unique_ptr<SqliteConnection> connection, SqliteOptions options)
    : connection_(std::move(connection)), options_(options) {}

SqliteDatabase::~SqliteDatabase() = default;

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::string& path, OpenMode mode,
                                                             SqliteOptions options) {
  return guarded(Execution::kNo, [&]() -> Result<std::unique_ptr<SqliteDatabase>> {
    auto connection = connect(path, mode, options);
    if (!connection) {
      return connection.error();
    }
    return std::unique_ptr<SqliteDatabase>(new SqliteDatabase(std::move(*connection), options));
  });
}

Result<std::vector<StatementResult>> SqliteDatabase::execute(std::span<const Statement> statements,
                                                             const ExecuteOptions& options) {
  // Not executed: a commit allocates nothing of ours afterwards, and before it the transaction's
  // destructor rolls back.
  return guarded(Execution::kNo, [&] {
    connection_->set_limits(AttemptLimits(*options_.clock,
                                          options.lock_wait.value_or(options_.busy_timeout),
                                          options.deadline, options.cancel));
    return run_attempt(*connection_, *options_.clock, statements);
  });
}

DatabaseTraits SqliteDatabase::traits() const {
  return {.name = "SQLite", .dialect = Dialect::kSqlite, .limits = connection_->sql_limits()};
}

}  // namespace spillway
