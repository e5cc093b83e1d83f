// SPDX-License-Identifier: MIT
//
// What a connection does with its file before the first statement.
#pragma once

#include <spillway/sqlite_database.h>
#include <spillway/status.h>

#include "d1/sqlite_connection.h"

namespace spillway {

/// Reads the file for the first time; gives a new one, that is a file without any table, its page
/// size, auto_vacuum and WAL. Any number of processes may do so on one file at once. Waits for
/// locks as long as the connection's limits allow.
[[nodiscard]] Status set_up(SqliteConnection& connection, OpenMode mode, Durability durability);

}  // namespace spillway
