// SPDX-License-Identifier: MIT
//
// DatabaseSource: a new, empty database for one test of the contract suite, whatever its kind, and
// the fixture that the suite is run on. A kind that this machine does not have skips its tests.
#pragma once

#include <spillway/database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

enum class Access { kReadWrite, kReadOnly };

class DatabaseSource {
 public:
  DatabaseSource() = default;
  DatabaseSource(const DatabaseSource&) = delete;
  DatabaseSource& operator=(const DatabaseSource&) = delete;
  virtual ~DatabaseSource() = default;

  /// Opens the database, the same one at each call.
  [[nodiscard]] virtual std::unique_ptr<Database> open(Access access) = 0;
};

struct DatabaseKind {
  std::string name;
  /// Null if this machine has none.
  std::unique_ptr<DatabaseSource> (*make)();
  /// Why not.
  std::string (*absence)();
};

/// For GoogleTest: as it names the parameter of a test that fails.
inline void PrintTo(const DatabaseKind& kind, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << kind.name;
}

/// All kinds of databases that there are.
[[nodiscard]] std::vector<DatabaseKind> database_kinds();

class DatabaseContract : public ::testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    source = GetParam().make();
    if (source == nullptr) {
      GTEST_SKIP() << GetParam().absence();
    }
    database = source->open(Access::kReadWrite);
  }

  Result<std::vector<StatementResult>> run(std::vector<Statement> statements,
                                           const ExecuteOptions& options = {}) {
    return database->execute(statements, options);
  }
  Status status_of(std::vector<Statement> statements, const ExecuteOptions& options = {}) {
    return run(std::move(statements), options).status();
  }
  /// The last statement's result. Fails the test, and gives nothing, if there is none.
  StatementResult last_of(std::vector<Statement> statements) {
    Result<std::vector<StatementResult>> results = run(std::move(statements));
    if (!results) {
      ADD_FAILURE() << results.error().to_string();
      return {};
    }
    return std::move(results.value().back());
  }
  StatementResult query(const std::string& sql, Row values = {}) {
    Statement statement{sql};
    if (!values.empty()) {
      statement.rows.push_back(std::move(values));
    }
    return last_of({std::move(statement)});
  }
  std::vector<Row> rows_of(const std::string& sql, Row values = {}) {
    return query(sql, std::move(values)).rows;
  }
  /// The only value of the only row.
  Value value_of(const std::string& sql, Row values = {}) {
    const std::vector<Row> rows = rows_of(sql, std::move(values));
    if (rows.size() != 1 || rows[0].size() != 1) {
      ADD_FAILURE() << sql << ": not one value";
      return {};
    }
    return rows[0][0];
  }

  std::unique_ptr<DatabaseSource> source;
  std::unique_ptr<Database> database;
};

inline std::string name_of(const ::testing::TestParamInfo<DatabaseKind>& kind) {
  return kind.param.name;
}

}  // namespace spillway::testing
