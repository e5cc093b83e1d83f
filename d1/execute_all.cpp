// SPDX-License-Identifier: MIT
#include "d1/execute_all.h"

namespace spillway {

Status does_not_fit() {
  return {StatusCode::kLost, "the database's answer does not fit the statements"};
}

Result<std::vector<StatementResult>> execute_all(Database& database,
                                                 std::span<const Statement> statements,
                                                 const ExecuteOptions& options) {
  Result<std::vector<StatementResult>> results = database.execute(statements, options);
  if (results && results->size() != statements.size()) {
    return does_not_fit();
  }
  return results;
}

}  // namespace spillway
