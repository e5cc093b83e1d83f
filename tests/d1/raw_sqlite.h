// SPDX-License-Identifier: MIT
//
// RawSqlite: another user of the file, who knows nothing of Spillway.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace spillway::testing {

class RawSqlite {
 public:
  explicit RawSqlite(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
  }
  RawSqlite(const RawSqlite&) = delete;
  RawSqlite& operator=(const RawSqlite&) = delete;
  ~RawSqlite() { sqlite3_close(database_); }

  int exec(const std::string& sql) {
    return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  }

  /// The first value of the first row as text; "none" without a row.
  std::string value(const std::string& sql) {
    std::string text = "none";
    sqlite3_exec(database_, sql.c_str(), keep_first, &text, nullptr);
    return text;
  }

 private:
  static int keep_first(void* text, int, char** values, char**) {
    *static_cast<std::string*>(text) = values[0] == nullptr ? "NULL" : values[0];
    return 0;
  }

  sqlite3* database_ = nullptr;
};

}  // namespace spillway::testing
