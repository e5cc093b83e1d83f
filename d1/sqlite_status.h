// SPDX-License-Identifier: MIT
//
// The one place where SQLite's result codes become a Status. The table is docs/failure-modes.md's.
#pragma once

#include <spillway/status.h>

#include <string>

namespace spillway {

/// The failure that `extended_code` means. `message` is SQLite's own text, of which some codes
/// need a look. `system_errno` (0: unknown) tells why the system refused; its text is added.
[[nodiscard]] Status sqlite_status(int extended_code, std::string message, int system_errno = 0);

/// True for SQLITE_NOTADB: the file holds something else.
[[nodiscard]] bool is_not_a_database(const Status& status) noexcept;

}  // namespace spillway
