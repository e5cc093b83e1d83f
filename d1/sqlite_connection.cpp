// SPDX-License-Identifier: MIT
#include "d1/sqlite_connection.h"

#include <sqlite3.h>

#include "d1/invalid_argument.h"
#include "d1/sql_token.h"
#include "d1/sqlite_file.h"
#include "d1/sqlite_status.h"
#include "d1/statement_refusal.h"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace spillway {
namespace {

// A statement is asked about cancel and deadline every so many steps of SQLite's machine: some
// tens of microseconds, at no cost that can be measured.
constexpr int kProgressSteps = 1000;

int open_flags(OpenMode mode) {
  // NOMUTEX: a Database is used by one thread at a time.
  constexpr int kAlways = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::kCreate:
      return kAlways | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case OpenMode::kExisting:
      return kAlways | SQLITE_OPEN_READWRITE;
    case OpenMode::kReadOnly:
      break;
  }
  return kAlways | SQLITE_OPEN_READONLY;
}

// Not by preparing the rest: some PRAGMA statements act when they are prepared.
bool holds_statement(std::string_view sql) {
  SqlScanner tokens(sql);
  std::optional<SqlToken> token = tokens.next();
  while (token && token->kind == SqlTokenKind::kSemicolon) {
    token = tokens.next();
  }
  return token.has_value();
}

}  // namespace

void SqliteConnection::Closer::operator()(sqlite3* database) const noexcept {
  sqlite3_close(database);  // Fails only while statements are alive, which do not outlive it.
}

SqliteConnection::~SqliteConnection() { finish_moved_file(); }

/// Closing checkpoints the write-ahead log, but not when the file was moved: then what was
/// committed last would stay behind in a log that no longer lies beside it, and be lost.
void SqliteConnection::finish_moved_file() noexcept {
  if (database_ && has_moved()) {  // What fails here cannot be mended, and is where it was.
    sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                              nullptr);
  }
}

SqliteConnection::SqliteConnection(AttemptLimits limits) : limits_(std::move(limits)) {}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::string& path,
                                                                 OpenMode mode,
                                                                 AttemptLimits limits) {
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(std::move(limits)));
  if (Status status = connection->open_file(path, mode); !status.is_ok()) {
    return status;
  }
  connection->install_callbacks();
  return connection;
}

Status SqliteConnection::open_file(const std::string& path, OpenMode mode) {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(as_plain_file_name(path).c_str(), &database, open_flags(mode), nullptr);
  database_.reset(database);  // Even a failed open gives an object, which holds the message.
  if (code != SQLITE_OK) {
    return database == nullptr ? sqlite_status(code, sqlite3_errstr(code)) : failure(code);
  }
  // What the schema of a file that somebody else wrote may call.
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return {};
}

void SqliteConnection::install_callbacks() noexcept {
  sqlite3_busy_handler(database_.get(), on_busy, this);
  sqlite3_progress_handler(database_.get(), kProgressSteps, on_progress, this);
  sqlite3_set_authorizer(database_.get(), on_authorize, this);
}

int SqliteConnection::on_busy(void* self, int /*previous_calls*/) noexcept {
  return static_cast<SqliteConnection*>(self)->limits_.wait_for_lock() ? 1 : 0;
}

int SqliteConnection::on_progress(void* self) noexcept {
  return static_cast<SqliteConnection*>(self)->limits_.must_stop() ? 1 : 0;
}

int SqliteConnection::on_authorize(void* self, int action, const char*, const char*, const char*,
                                   const char*) noexcept {
  const bool is_control = action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT;
  const bool is_allowed = static_cast<SqliteConnection*>(self)->may_control_transaction_;
  return is_control && !is_allowed ? SQLITE_DENY : SQLITE_OK;
}

Result<SqliteStatement> SqliteConnection::prepare(const std::string& sql) {
  if (sql.find('\0') != std::string::npos) {
    return invalid_argument("the SQL text holds NUL");
  }
  if (!holds_statement(sql)) {
    return invalid_argument("no SQL statement in the text");
  }
  return prepare_any(sql);
}

Result<SqliteStatement> SqliteConnection::prepare_any(const std::string& sql) {
  sqlite3_stmt* handle = nullptr;
  const char* rest = nullptr;
  const auto bytes = sql.size() >= INT_MAX ? INT_MAX : static_cast<int>(sql.size()) + 1;
  errno = 0;
  const int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), bytes, &handle, &rest);
  SqliteStatement statement(handle);
  if (code == SQLITE_AUTH) {
    return transaction_control_refused();
  }
  if (code != SQLITE_OK) {
    return failure(code);
  }
  if (holds_statement(rest)) {
    return invalid_argument("more than one SQL statement in one text");
  }
  return statement;
}

Result<Value> SqliteConnection::run(const char* sql) {
  may_control_transaction_ = true;
  Result<SqliteStatement> statement = prepare_any(sql);
  may_control_transaction_ = false;
  if (!statement) {
    return statement.error();
  }
  Value value;
  int code = statement->step();
  if (code == SQLITE_ROW) {
    value = std::move(statement->row().front());
    code = statement->step();
  }
  return code == SQLITE_DONE ? Result<Value>(std::move(value)) : failure(code);
}

Status SqliteConnection::failure(int code) const {
  const int system_errno = errno;
  const int primary = code & 0xff;
  const bool was_stopped = primary == SQLITE_INTERRUPT || primary == SQLITE_BUSY;
  if (was_stopped && limits_.is_cancelled()) {
    return Status(StatusCode::kCancelled, "cancelled; rolled back").with_sqlite_code(code);
  }
  if (primary == SQLITE_INTERRUPT && limits_.is_past_deadline()) {
    return Status(StatusCode::kTransient, "deadline passed; rolled back").with_sqlite_code(code);
  }
  // Not sqlite3_system_errno: it says nothing of a failed COMMIT, and keeps what was before.
  return sqlite_status(code, sqlite3_errmsg(database_.get()), system_errno);
}

bool SqliteConnection::is_in_transaction() const noexcept {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

bool SqliteConnection::is_read_only() const noexcept {
  return sqlite3_db_readonly(database_.get(), "main") == 1;
}

bool SqliteConnection::has_moved() const noexcept {
  int moved = 0;
  sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

std::int64_t SqliteConnection::total_changes() const noexcept {
  return sqlite3_total_changes64(database_.get());
}

std::int64_t SqliteConnection::last_row_id() const noexcept {
  return sqlite3_last_insert_rowid(database_.get());
}

DatabaseLimits SqliteConnection::sql_limits() const noexcept {
  const auto limit = [this](int id) {
    return static_cast<std::size_t>(sqlite3_limit(database_.get(), id, -1));
  };
  return {.parameters_max = limit(SQLITE_LIMIT_VARIABLE_NUMBER),
          .sql_bytes_max = limit(SQLITE_LIMIT_SQL_LENGTH),
          .value_bytes_max = limit(SQLITE_LIMIT_LENGTH)};
}

}  // namespace spillway
