// SPDX-License-Identifier: MIT
//
// What the tests of SqliteDatabase have in common: a file in a directory of its own, and short
// forms for running statements.
#pragma once

#include <spillway/sqlite_database.h>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

using Results = Result<std::vector<StatementResult>>;

inline std::unique_ptr<SqliteDatabase> open_file(const std::string& path,
                                                 OpenMode mode = OpenMode::kCreate,
                                                 SqliteOptions options = {}) {
  return std::move(SqliteDatabase::open(path, mode, options)).value();
}

inline Results run(Database& database, std::vector<Statement> statements,
                   const ExecuteOptions& options = {}) {
  return database.execute(statements, options);
}

/// The only value of the only row.
inline Value value_of(Database& database, const std::string& sql, Row parameters = {}) {
  std::vector<Row> rows;
  if (!parameters.empty()) {
    rows.push_back(std::move(parameters));
  }
  return run(database, {{sql, std::move(rows)}}).value().at(0).rows.at(0).at(0);
}

inline std::int64_t count_of(Database& database, const std::string& table) {
  return std::get<std::int64_t>(value_of(database, "SELECT count(*) FROM " + table));
}

class SqliteFile : public ::testing::Test {
 protected:
  TempDir directory;
  std::string path = directory.path("x.db");
};

}  // namespace spillway::testing
