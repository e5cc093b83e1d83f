// SPDX-License-Identifier: MIT
//
// The one place where SQLite's result codes become a class, whether they come from SQLite itself or
// by name in a text of D1. The table is docs/failure-modes.md's.
#pragma once

#include <spillway/status.h>

#include <string>
#include <string_view>

namespace spillway {

/// The class of an extended code. `message` is SQLite's own text, of which SQLITE_ERROR needs a
/// look: it says everything from a typing error to a missing table. Whole texts decide, never a
/// phrase inside one. `system_errno` (0: unknown) tells why the system refused.
[[nodiscard]] StatusCode class_of_sqlite(int extended_code, std::string_view message,
                                         int system_errno = 0) noexcept;

/// The code of "SQLITE_BUSY" or "SQLITE_CONSTRAINT_UNIQUE"; 0 for what is no such name. Of an
/// extended name that D1 does not use, the primary code.
[[nodiscard]] int sqlite_code_named(std::string_view name) noexcept;

/// The failure that `extended_code` means, by class_of_sqlite. The text of `system_errno` is added.
[[nodiscard]] Status sqlite_status(int extended_code, std::string message, int system_errno = 0);

/// True for SQLITE_NOTADB: the file holds something else.
[[nodiscard]] bool is_not_a_database(const Status& status) noexcept;

}  // namespace spillway
