// SPDX-License-Identifier: MIT
#include "d1/sqlite_status.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

constexpr int kPrimaryMask = 0xff;  // An extended code keeps its primary code in the low byte.

bool holds_any(std::string_view message, auto texts) {
  return std::any_of(texts.begin(), texts.end(), [message](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  });
}

// SQLITE_ERROR says everything from a typing error to a missing table; only its text tells.
StatusCode code_of_generic_error(std::string_view message) {
  constexpr std::array<std::string_view, 3> kMissing = {"no such table", "no such column",
                                                        "has no column named"};
  constexpr std::array<std::string_view, 1> kTooMany = {"too many SQL variables"};
  if (holds_any(message, kMissing)) {
    return StatusCode::kSchema;
  }
  return holds_any(message, kTooMany) ? StatusCode::kTooBig : StatusCode::kPermanent;
}

// SQLite turns ENOSPC into SQLITE_FULL, but a quota or a file size limit into SQLITE_IOERR.
bool is_no_room(int system_errno) { return system_errno == EDQUOT || system_errno == EFBIG; }

StatusCode code_of(int extended_code, std::string_view message, int system_errno) {
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

// After other codes the errno is left over from something else.
bool has_own_errno(int extended_code) {
  const int primary = extended_code & kPrimaryMask;
  return primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
}

}  // namespace

Status sqlite_status(int extended_code, std::string message, int system_errno) {
  const int reason = has_own_errno(extended_code) ? system_errno : 0;
  const StatusCode code = code_of(extended_code, message, reason);
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
