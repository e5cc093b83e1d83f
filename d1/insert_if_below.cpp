// SPDX-License-Identifier: MIT
#include <spillway/insert_if_below.h>

#include "base/ascii.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/guarded.h"
#include "d1/invalid_argument.h"
#include "d1/sql_fragments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace spillway {
namespace {

using std::chrono::milliseconds;

// What may go by between the two statements of a call.
constexpr std::chrono::seconds kBetweenStatements{10};

// The position among the values, from 1. 0: there is none.
std::size_t position_of(const LimitedInsert& insert, std::string_view column) {
  const auto found = std::find_if(
      insert.values.begin(), insert.values.end(),
      [column](const auto& each) { return is_same_ignoring_case(each.first, column); });
  return found == insert.values.end() ? 0
                                      : static_cast<std::size_t>(found - insert.values.begin()) + 1;
}

// SQLite takes the first of two values for a column: one for the time would pass the limit.
Status check_columns(const LimitedInsert& insert) {
  std::size_t position = 0;
  for (const auto& [column, value] : insert.values) {
    ++position;
    if (is_same_ignoring_case(column, insert.time_column) ||
        position_of(insert, column) != position) {
      return invalid_argument("insert_if_below: the column " + quoted_name(column) +
                              " would get more than one value");
    }
  }
  for (const std::string& column : insert.counted_by) {
    if (position_of(insert, column) == 0) {
      return invalid_argument("insert_if_below: counted_by names the column " +
                              quoted_name(column) + ", for which there is no value");
    }
  }
  return {};
}

Status check(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  if (limit < 1 || window < milliseconds(1)) {
    return invalid_argument(
        "insert_if_below needs a limit of at least 1 and a window of at least 1 ms");
  }
  return check_columns(insert);
}

// "FROM … WHERE …": the rows within the window that count with the new one, whose values are those
// of the INSERT. `more`: beyond the window, too.
std::string counted_rows(const LimitedInsert& insert, milliseconds window, milliseconds more = {}) {
  std::string rows = " FROM " + quoted_name(insert.table) + " WHERE " +
                     quoted_name(insert.time_column) + " > " + std::string(kDatabaseNow) + " - " +
                     std::to_string(window.count()) + " - " + std::to_string(more.count());
  for (const std::string& column : insert.counted_by) {
    rows += " AND " + quoted_name(column) + " IS ?" + std::to_string(position_of(insert, column));
  }
  return rows;
}

// The first values, as many as a statement numbers. None: it runs without.
std::vector<Row> first_values(const LimitedInsert& insert, std::size_t count) {
  Row row;
  for (std::size_t i = 0; i < count; ++i) {
    row.push_back(insert.values[i].second);
  }
  return count == 0 ? std::vector<Row>() : std::vector<Row>{std::move(row)};
}

std::size_t last_counted(const LimitedInsert& insert) {
  std::size_t last = 0;
  for (const std::string& column : insert.counted_by) {
    last = std::max(last, position_of(insert, column));
  }
  return last;
}

// The inner LIMIT keeps a table that is far above its limit from being read.
Statement insert_statement(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  std::string columns;
  std::string values;
  for (std::size_t i = 0; i < insert.values.size(); ++i) {
    columns += quoted_name(insert.values[i].first) + ", ";
    values += '?' + std::to_string(i + 1) + ", ";
  }
  const std::string most = std::to_string(limit);
  return {"INSERT INTO " + quoted_name(insert.table) + "(" + columns +
              quoted_name(insert.time_column) + ") SELECT " + values + std::string(kDatabaseNow) +
              " WHERE (SELECT count(*) FROM (SELECT 1" + counted_rows(insert, window) + " LIMIT " +
              most + ")) < " + most,
          first_values(insert, insert.values.size())};
}

// There is room again when the last row within the limit leaves the window. A time in the future,
// by a clock that was set back, counts as now, and so does what is no number. A row that has left
// the window since the INSERT still tells that it was the limit.
Statement wait_statement(const LimitedInsert& insert, std::int64_t limit, milliseconds window) {
  const std::string whole = std::to_string(window.count());
  return {"SELECT CASE WHEN typeof(t) IN ('integer', 'real') THEN max(min(CAST(t AS INTEGER) - " +
              std::string(kDatabaseNow) + ", 0) + " + whole + ", 1) ELSE " + whole +
              " END FROM (SELECT " + quoted_name(insert.time_column) + " AS t" +
              counted_rows(insert, window, kBetweenStatements) +
              " ORDER BY t DESC LIMIT 1 OFFSET " + std::to_string(limit - 1) + ")",
          first_values(insert, last_counted(insert))};
}

Result<LimitedInsertResult> result_of(const std::vector<StatementResult>& answers) {
  if (answers[0].meta.changes > 0) {
    return LimitedInsertResult{.is_inserted = true};
  }
  const std::vector<Row>& rows = answers[1].rows;
  const auto wait = rows.empty() || rows[0].empty() ? std::nullopt : exact_integer(rows[0][0]);
  if (!wait) {
    return Status(StatusCode::kConstraint,
                  "the table took no row although there is room: it has a trigger, or a constraint "
                  "with ON CONFLICT IGNORE");
  }
  return LimitedInsertResult{.retry_after = milliseconds(*wait)};
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
    const auto answers = execute_all(database, statements, options);
    return answers ? result_of(*answers) : answers.error();
  });
}

}  // namespace spillway
