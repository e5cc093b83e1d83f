// SPDX-License-Identifier: MIT
//
// What can be said about a database file before SQLite opens it, so that the message names the
// path, the reason and the way out where SQLite would say "unable to open database file".
//
// Nothing here opens the file: closing a descriptor of it would drop the locks of every other
// connection that this process has on it (fcntl(2), "advisory record locks").
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <string>

namespace spillway {

/// kInvalidArgument: `path` is empty or holds NUL. kConfig: the file cannot be used so. Success
/// promises nothing, the file may change at any moment.
[[nodiscard]] Status check_database_file(const std::string& path, OpenMode mode);

/// The path in a form that SQLite takes for a file name, whatever it looks like (`:memory:`,
/// `file:…`).
[[nodiscard]] std::string as_plain_file_name(const std::string& path);

}  // namespace spillway
