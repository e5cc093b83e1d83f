// SPDX-License-Identifier: MIT
#include "retention/edge_rows.h"

#include "base/time_text.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace spillway::retention {
namespace {

constexpr const char* kLookAtRows = "1000";

// The first row; empty if there is none.
Result<std::optional<Row>> first_row(Database& database, Statement statement,
                                     const ExecuteOptions& options) {
  const std::array<Statement, 1> statements{std::move(statement)};
  Result<std::vector<StatementResult>> answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  std::vector<Row>& rows = answers.value().front().rows;
  return rows.empty() ? std::optional<Row>() : std::optional<Row>(std::move(rows.front()));
}

// As an own table has it, or as an instant.
std::optional<WallTime> time_in(const Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return parse_time_text(*text);
  }
  const auto number = exact_integer(value);
  return number ? std::optional(WallTime(std::chrono::milliseconds(*number))) : std::nullopt;
}

Result<std::optional<WallTime>> first_time(Database& database, Statement statement,
                                           const ExecuteOptions& options) {
  const auto row = first_row(database, std::move(statement), options);
  if (!row) {
    return row.error();
  }
  return *row && !(*row)->empty() ? time_in((*row)->front()) : std::nullopt;
}

Statement newest_of_others(const TableForm& form, const std::string& rows, WallTime now) {
  return statement_of("SELECT max(i) FROM (SELECT " + form.instant() + " AS i FROM " +
                          form.table() + rows + ") WHERE i <= ?",
                      {now.time_since_epoch().count()});
}

}  // namespace

Result<std::optional<OldestRow>> oldest_row(Database& database, const TableForm& form,
                                            const ExecuteOptions& options) {
  const std::string level = form.level.empty() ? "''" : "coalesce(upper(" + form.level + "), '')";
  const Condition dated = form.dated(WallTime::max());
  const std::string first = " ORDER BY " + form.key_list() + " LIMIT ";
  const auto row =
      first_row(database,
                form.is_own ? statement_of("SELECT " + form.time + ", " + level + " FROM " +
                                               form.table() + " WHERE " + dated.sql + first + "1",
                                           dated.values)
                            : Statement{"SELECT i, l FROM (SELECT " + form.instant() + " AS i, " +
                                        level + " AS l FROM " + form.table() + first + kLookAtRows +
                                        ") WHERE i IS NOT NULL ORDER BY i LIMIT 1"},
                options);
  if (!row) {
    return row.error();
  }
  const auto time = *row && (*row)->size() == 2 ? time_in((*row)->front()) : std::nullopt;
  if (!time) {
    return std::optional<OldestRow>();
  }
  const auto* const text = std::get_if<std::string>(&(*row)->back());
  return std::optional(OldestRow{*time, text == nullptr ? std::string() : *text});
}

bool is_expired(const OldestRow& row, const std::vector<Rule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [&row](const Rule& rule) {
    const auto& names = rule.levels.names;
    const bool is_named = std::find(names.begin(), names.end(), row.level) != names.end();
    return row.time < rule.cutoff && is_named != rule.levels.is_all_but;
  });
}

Result<std::optional<WallTime>> newest_row(Database& database, const TableForm& form, WallTime now,
                                           WallTime old_enough, const ExecuteOptions& options) {
  const std::string last = " ORDER BY " + form.key_list_descending() + " LIMIT ";
  if (form.is_own) {
    const Condition dated = form.dated(now);
    return first_time(database,
                      statement_of("SELECT " + form.time + " FROM " + form.table() + " WHERE " +
                                       dated.sql + last + "1",
                                   dated.values),
                      options);
  }
  auto newest = first_time(database, newest_of_others(form, last + kLookAtRows, now), options);
  if (!newest || (*newest && **newest >= old_enough)) {
    return newest;
  }
  return first_time(database, newest_of_others(form, "", now), options);
}

Result<std::optional<Row>> first_key_beyond(Database& database, const TableForm& form,
                                            std::int64_t rows_max, const ExecuteOptions& options) {
  return first_row(database,
                   {"SELECT " + form.key_list() + " FROM " + form.table() + " ORDER BY " +
                    form.key_list_descending() + " LIMIT 1 OFFSET " + std::to_string(rows_max)},
                   options);
}

}  // namespace spillway::retention
