// SPDX-License-Identifier: MIT
#include "d1/sqlite_status.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

constexpr int kPrimaryMask = 0xff;  // An extended code keeps its primary code in the low byte.

bool is_around(std::string_view text, std::string_view head, std::string_view middle) {
  return text.starts_with(head) && text.find(middle, head.size()) != std::string_view::npos;
}

StatusCode code_of_generic_error(std::string_view message) {
  const bool is_missing = message.starts_with("no such table: ") ||
                          message.starts_with("no such column: ") ||
                          is_around(message, "table ", " has no column named ");
  if (is_missing) {
    return StatusCode::kSchema;
  }
  return message == "too many SQL variables" ? StatusCode::kTooBig : StatusCode::kPermanent;
}

// SQLite turns ENOSPC into SQLITE_FULL, but a quota or a file size limit into SQLITE_IOERR.
bool is_no_room(int system_errno) { return system_errno == EDQUOT || system_errno == EFBIG; }

// After other codes the errno is left over from something else.
bool has_own_errno(int extended_code) {
  const int primary = extended_code & kPrimaryMask;
  return primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
}

struct NamedCode {
  std::string_view name;
  int code;
};

// Without the prefix SQLITE_. Of the extended ones those that D1's texts show.
constexpr NamedCode kNames[] = {
    {"ERROR", SQLITE_ERROR},
    {"INTERNAL", SQLITE_INTERNAL},
    {"PERM", SQLITE_PERM},
    {"ABORT", SQLITE_ABORT},
    {"BUSY", SQLITE_BUSY},
    {"LOCKED", SQLITE_LOCKED},
    {"NOMEM", SQLITE_NOMEM},
    {"READONLY", SQLITE_READONLY},
    {"INTERRUPT", SQLITE_INTERRUPT},
    {"IOERR", SQLITE_IOERR},
    {"CORRUPT", SQLITE_CORRUPT},
    {"NOTFOUND", SQLITE_NOTFOUND},
    {"FULL", SQLITE_FULL},
    {"CANTOPEN", SQLITE_CANTOPEN},
    {"PROTOCOL", SQLITE_PROTOCOL},
    {"SCHEMA", SQLITE_SCHEMA},
    {"TOOBIG", SQLITE_TOOBIG},
    {"CONSTRAINT", SQLITE_CONSTRAINT},
    {"MISMATCH", SQLITE_MISMATCH},
    {"MISUSE", SQLITE_MISUSE},
    {"AUTH", SQLITE_AUTH},
    {"RANGE", SQLITE_RANGE},
    {"NOTADB", SQLITE_NOTADB},
    {"CONSTRAINT_CHECK", SQLITE_CONSTRAINT_CHECK},
    {"CONSTRAINT_FOREIGNKEY", SQLITE_CONSTRAINT_FOREIGNKEY},
    {"CONSTRAINT_NOTNULL", SQLITE_CONSTRAINT_NOTNULL},
    {"CONSTRAINT_PRIMARYKEY", SQLITE_CONSTRAINT_PRIMARYKEY},
    {"CONSTRAINT_TRIGGER", SQLITE_CONSTRAINT_TRIGGER},
    {"CONSTRAINT_UNIQUE", SQLITE_CONSTRAINT_UNIQUE},
    {"CONSTRAINT_ROWID", SQLITE_CONSTRAINT_ROWID},
    {"CONSTRAINT_DATATYPE", SQLITE_CONSTRAINT_DATATYPE},
};

int code_of_short_name(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [name](const NamedCode& each) { return each.name == name; });
  return found == std::end(kNames) ? 0 : found->code;
}

}  // namespace

StatusCode class_of_sqlite(int extended_code, std::string_view message, int system_errno) noexcept {
  if (extended_code == SQLITE_READONLY_DBMOVED) {
    return StatusCode::kTransient;  // The file was replaced under us: opening anew helps.
  }
  switch (extended_code & kPrimaryMask) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return StatusCode::kOverload;
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
      return StatusCode::kTransient;
    case SQLITE_IOERR:
      return is_no_room(system_errno) ? StatusCode::kStorageFull : StatusCode::kLost;
    case SQLITE_TOOBIG:
      return StatusCode::kTooBig;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return StatusCode::kConstraint;
    case SQLITE_FULL:
      return StatusCode::kStorageFull;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return StatusCode::kConfig;
    case SQLITE_ERROR:
      return code_of_generic_error(message);
    default:
      return StatusCode::kPermanent;
  }
}

int sqlite_code_named(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "SQLITE_";
  if (!name.starts_with(kPrefix)) {
    return 0;
  }
  name.remove_prefix(kPrefix.size());
  const int code = code_of_short_name(name);
  return code != 0 ? code : code_of_short_name(name.substr(0, name.find('_')));
}

Status sqlite_status(int extended_code, std::string message, int system_errno) {
  const int reason = has_own_errno(extended_code) ? system_errno : 0;
  const StatusCode code = class_of_sqlite(extended_code, message, reason);
  if (reason != 0) {
    message += " (" + std::generic_category().message(reason) + ")";
  }
  // The Status starts as kMaybe for kLost and as kNo for the rest, which is what the table says.
  return Status(code, std::move(message)).with_sqlite_code(extended_code);
}

bool is_not_a_database(const Status& status) noexcept {
  return (status.sqlite_code() & kPrimaryMask) == SQLITE_NOTADB;
}

}  // namespace spillway
