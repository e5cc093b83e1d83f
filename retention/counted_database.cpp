// SPDX-License-Identifier: MIT
#include "retention/counted_database.h"

namespace spillway::retention {

void add_cost(Cost& cost, std::span<const StatementResult> results, Dialect dialect) {
  for (const StatementResult& result : results) {
    cost.rows_read += result.meta.rows_read;
    // SQLite counts changes only.
    cost.rows_written +=
        dialect == Dialect::kSqlite ? result.meta.changes : result.meta.rows_written;
  }
}

Result<std::vector<StatementResult>> CountedDatabase::execute(std::span<const Statement> statements,
                                                              const ExecuteOptions& options) {
  ++cost_.requests;
  auto results = inner_.execute(statements, options);
  if (results) {
    add_cost(cost_, *results, traits().dialect);
  }
  return results;
}

}  // namespace spillway::retention
