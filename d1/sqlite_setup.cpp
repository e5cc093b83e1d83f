// SPDX-License-Identifier: MIT
#include "d1/sqlite_setup.h"

#include <cstdint>
#include <initializer_list>
#include <variant>

namespace spillway {
namespace {

Status run_all(SqliteConnection& connection, std::initializer_list<const char*> texts) {
  for (const char* sql : texts) {
    if (Result<Value> answer = connection.run(sql); !answer) {
      return answer.error();
    }
  }
  return {};
}

// The first statement that reads the file: here it shows whether it is a database at all.
Result<bool> has_schema(SqliteConnection& connection) {
  Result<Value> version = connection.run("PRAGMA schema_version");
  if (!version) {
    return version.error();
  }
  const std::int64_t* number = std::get_if<std::int64_t>(&*version);
  return number != nullptr && *number != 0;
}

// The order matters: auto_vacuum writes the first page, after which the page size is fixed, and a
// file in WAL mode takes neither. A file system that cannot do WAL answers with another mode, which
// is no error.
Status try_make_new(SqliteConnection& connection) {
  return run_all(connection, {"PRAGMA page_size=16384", "PRAGMA auto_vacuum=INCREMENTAL",
                              "PRAGMA journal_mode=WAL"});
}

// Processes that start together all come here, and until the first has switched to WAL they meet
// one another's locks, of which SQLite tells some at once without asking the busy handler. Whoever
// still has no WAL when the time is over works with what the file is: it is in use, so its maker
// looks after it, and each mode is correct.
Status make_new(SqliteConnection& connection) {
  Status status = try_make_new(connection);
  while (status.code() == StatusCode::kOverload && connection.limits().wait_for_lock()) {
    status = try_make_new(connection);
  }
  return status.code() == StatusCode::kOverload ? Status() : status;
}

}  // namespace

Status set_up(SqliteConnection& connection, OpenMode mode, Durability durability) {
  const Result<bool> is_old = has_schema(connection);
  if (!is_old) {
    return is_old.error();
  }
  if (!*is_old && mode != OpenMode::kReadOnly) {
    if (Status status = make_new(connection); !status.is_ok()) {
      return status;
    }
  }
  return run_all(connection, {durability == Durability::kPower ? "PRAGMA synchronous=FULL"
                                                               : "PRAGMA synchronous=NORMAL",
                              "PRAGMA mmap_size=0", "PRAGMA foreign_keys=ON"});
}

}  // namespace spillway
