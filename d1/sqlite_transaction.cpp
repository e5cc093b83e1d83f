// SPDX-License-Identifier: MIT
#include "d1/sqlite_transaction.h"

#include <exception>

namespace spillway {

SqliteTransaction::~SqliteTransaction() { roll_back(); }

Status SqliteTransaction::begin(Kind kind) {
  roll_back();  // A rollback that failed after the last attempt is made up for here.
  return connection_.run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN").status();
}

Status SqliteTransaction::commit() { return connection_.run("COMMIT").status(); }

void SqliteTransaction::roll_back() noexcept {
  if (!connection_.is_in_transaction()) {
    return;
  }
  try {
    // What the rollback itself answers changes nothing: uncommitted is uncommitted.
    static_cast<void>(connection_.run("ROLLBACK"));
  } catch (const std::exception&) {
    // No memory. The next `begin` tries again, and closing the connection rolls back as well.
  }
}

}  // namespace spillway
