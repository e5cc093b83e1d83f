// SPDX-License-Identifier: MIT
//
// One attempt to run a list of statements on an SQLite connection: the body of
// SqliteDatabase::execute.
#pragma once

#include <spillway/database.h>

#include "d1/sqlite_connection.h"

#include <span>
#include <vector>

namespace spillway {

/// All in one transaction, within the connection's limits. After a failure nothing of it is left
/// and the connection is in no transaction. `clock` measures Meta::duration.
[[nodiscard]] Result<std::vector<StatementResult>> run_attempt(
    SqliteConnection& connection, const Clock& clock, std::span<const Statement> statements);

}  // namespace spillway
