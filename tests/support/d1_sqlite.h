// SPDX-License-Identifier: MIT
//
// What the scripted D1 asks of SQLite's C interface. Not thread-safe.
#pragma once

#include <spillway/database.h>

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spillway::testing {

/// What a statement answered. `code` is SQLITE_DONE, or the error.
struct D1Rows {
  std::vector<std::string> columns = {};
  std::vector<Row> rows = {};
  int code = SQLITE_OK;
};

void set_d1_limits(sqlite3* connection);
/// unhex(), which D1 has and SQLite before 3.41 has not.
void add_d1_functions(sqlite3* connection);
/// What D1 lets a statement do. The arguments are those of SQLite's authorizer.
[[nodiscard]] bool is_allowed_on_d1(int action, const char* first, const char* second);

[[nodiscard]] D1Rows run_d1_statement(sqlite3_stmt* prepared, const Row& params);
/// The connection's last error in D1's form: "no such table: t: SQLITE_ERROR".
[[nodiscard]] std::string d1_error_text(sqlite3* connection);
/// Bytes of the pages in use.
[[nodiscard]] std::int64_t d1_size(sqlite3* connection);
/// The first value of the first row as text; "none" without a row, the message after an error.
[[nodiscard]] std::string first_value(sqlite3* connection, const std::string& sql);

}  // namespace spillway::testing
