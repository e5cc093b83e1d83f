// SPDX-License-Identifier: MIT
#include <spillway/insert_if_below.h>

#include "d1/exact_integer.h"
#include "d1/guarded.h"
#include "d1/sql_fragments.h"

#include <algorithm>
#include <array>

namespace spillway {
namespace {

using std::chrono::milliseconds;

Status invalid(const std::string& message) { return {StatusCode::kInvalidArgument, message}; }

// Null: there is none.
const Value* value_of(const LimitedInsert& insert, const std::string& column) {
  const auto found = std::find_if(insert.values.begin(), insert.values.end(),
                                  [&column](const auto& each) { return each.first == column; });
  return found == insert.values.end() ? nullptr : &found->second;
}

Status check(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  if (limit < 1 || window < milliseconds(1)) {
    return invalid("insert_if_below needs a limit of at least 1 and a window of at least 1 ms");
  }
  for (const std::string& column : insert.counted_by) {
    if (value_of(insert, column) == nullptr) {
      return invalid("insert_if_below: counted_by names the column " + quoted_name(column) +
                     ", for which there is no value");
    }
  }
  return {};
}

// "FROM … WHERE …": the rows within the window that count with the new one.
std::string counted_rows(const LimitedInsert& insert, milliseconds window) {
  std::string rows = " FROM " + quoted_name(insert.table) + " WHERE " +
                     quoted_name(insert.time_column) + " > " + std::string(kDatabaseNow) + " - " +
                     std::to_string(window.count());
  for (const std::string& column : insert.counted_by) {
    rows += " AND " + quoted_name(column) + " IS ?";
  }
  return rows;
}

Row counted_values(const LimitedInsert& insert) {
  Row row;
  for (const std::string& column : insert.counted_by) {
    row.push_back(*value_of(insert, column));
  }
  return row;
}

// The inner LIMIT keeps a table that is far above its limit from being read.
Statement insert_statement(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  std::string columns;
  std::string values;
  Row row;
  for (const auto& [column, value] : insert.values) {
    columns += quoted_name(column) + ", ";
    values += "?, ";
    row.push_back(value);
  }
  const Row counted = counted_values(insert);
  row.insert(row.end(), counted.begin(), counted.end());
  const std::string most = std::to_string(limit);
  return {"INSERT INTO " + quoted_name(insert.table) + "(" + columns +
              quoted_name(insert.time_column) + ") SELECT " + values + std::string(kDatabaseNow) +
              " WHERE (SELECT count(*) FROM (SELECT 1" + counted_rows(insert, window) + " LIMIT " +
              most + ")) < " + most,
          {std::move(row)}};
}

// There is room again when the last row within the limit leaves the window. A time in the future,
// by a clock that was set back, counts as now.
Statement wait_statement(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  return {"SELECT min(t - " + std::string(kDatabaseNow) + ", 0) + " +
              std::to_string(window.count()) + " FROM (SELECT " + quoted_name(insert.time_column) +
              " AS t" + counted_rows(insert, window) + " ORDER BY t DESC LIMIT 1 OFFSET " +
              std::to_string(limit - 1) + ")",
          {counted_values(insert)}};
}

// No row: the last one has just left the window.
milliseconds wait_of(const StatementResult& answer) {
  const bool is_there = !answer.rows.empty() && !answer.rows[0].empty();
  return milliseconds(is_there ? exact_integer(answer.rows[0][0]).value_or(1) : 1);
}

}  // namespace

Result<LimitedInsertResult> insert_if_below(Database& database, const LimitedInsert& insert,
                                            std::int64_t limit, milliseconds window,
                                            const ExecuteOptions& options) {
  return guarded(Execution::kMaybe, [&]() -> Result<LimitedInsertResult> {
    if (Status status = check(insert, limit, window); !status.is_ok()) {
      return status;
    }
    const std::array<Statement, 2> statements{insert_statement(insert, limit, window),
                                              wait_statement(insert, limit, window)};
    const Result<std::vector<StatementResult>> answers = database.execute(statements, options);
    if (!answers) {
      return answers.error();
    }
    const bool is_inserted = (*answers)[0].meta.changes > 0;
    return LimitedInsertResult{
        .is_inserted = is_inserted,
        .retry_after = is_inserted ? std::nullopt : std::optional(wait_of((*answers)[1]))};
  });
}

}  // namespace spillway
