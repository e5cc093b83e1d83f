// SPDX-License-Identifier: MIT
//
// Reads what a program has put into a log table, by SQLite's own library: no code of Spillway's is
// between the table and the test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spillway::testing {

struct StoredRow {
  std::string created_at;
  std::int64_t writer = 0;
  std::int64_t seq = 0;
  std::string level;
  std::string context;
  std::string message;
  std::string fields;  ///< Empty: NULL.
};

/// All rows of `table`, in the order of (writer, seq). A failure of SQLite is a test failure.
[[nodiscard]] std::vector<StoredRow> stored_rows(const std::filesystem::path& file,
                                                 const std::string& table = "logs");

[[nodiscard]] std::vector<std::string> messages(const std::vector<StoredRow>& rows);

/// The number that a query answers. NULL counts as 0.
[[nodiscard]] std::int64_t query_number(const std::filesystem::path& file, const std::string& sql);

/// Runs SQL that answers nothing; creates the file if it does not exist.
void execute_sql(const std::filesystem::path& file, const std::string& sql);

/// What a JSON text holds at `path`, as in `$.issued`: a number, or for an object the sum of its
/// values.
[[nodiscard]] std::int64_t json_number(const std::string& json, const std::string& path);

}  // namespace spillway::testing
