// SPDX-License-Identifier: MIT
#include "table/log_table.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "table/insert_sql.h"
#include "table/log_schema.h"
#include "table/row_encoding.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace spillway {
namespace {

constexpr std::size_t kNameBytesMax = 64;

bool has_reserved_prefix(std::string_view name) { return lower_case(name).starts_with("sqlite_"); }

const char* fault_of(std::string_view name) {
  if (name.empty()) {
    return "is empty";
  }
  if (name.size() > kNameBytesMax) {
    return "is longer than 64 bytes";
  }
  if (!is_storable_text(name)) {
    return "is not UTF-8 without NUL";
  }
  return has_reserved_prefix(name) ? "begins with sqlite_, which SQLite keeps for itself" : nullptr;
}

ExecuteOptions repeatable(ExecuteOptions options) {
  options.is_idempotent = true;
  return options;
}

// Rows are looked into without asking whether they are as long as their columns.
Result<std::vector<StatementResult>> run(Database& database, std::span<const Statement> statements,
                                         const ExecuteOptions& options) {
  auto results = execute_all(database, statements, options);
  if (!results) {
    return results;
  }
  bool is_whole = true;
  for (const StatementResult& result : *results) {
    for (const Row& row : result.rows) {
      is_whole = is_whole && !row.empty() && row.size() == result.columns.size();
    }
  }
  return is_whole ? std::move(results) : does_not_fit();
}

Result<bool> read_schema(Database& database, std::string_view table,
                         const ExecuteOptions& options) {
  const std::vector<Statement> statements = read_statements(table);
  Result<std::vector<StatementResult>> answers = run(database, statements, options);
  if (!answers && answers.error().code() == StatusCode::kSchema) {
    // TABLE_meta is missing, or is not ours: without the version, which is read from it.
    answers = run(database, std::span(statements).first(statements.size() - 1), options);
  }
  if (!answers) {
    return answers.error();
  }
  return is_schema_complete(table, *answers);
}

std::vector<RowBlock> blocks_for(const DatabaseTraits& traits, std::int64_t writer,
                                 std::span<const Record> rows) {
  if (traits.dialect == Dialect::kD1) {
    return rows_as_json(writer, rows, traits.limits.value_bytes_max);
  }
  std::vector<RowBlock> blocks;
  blocks.push_back(rows_as_columns(writer, rows));
  return blocks;
}

// Gives each statement the SQL for its rows, which stay where they are: they may be megabytes.
void set_sql(std::vector<Statement>& statements, std::string_view table,
             std::string (*sql)(std::string_view, RowForm)) {
  for (Statement& statement : statements) {
    statement.sql = sql(table, form_of(statement.rows));
  }
}

std::int64_t changes_of(std::span<const StatementResult> results) {
  std::int64_t changes = 0;
  for (const StatementResult& result : results) {
    changes += result.meta.changes;
  }
  return changes;
}

// Adds what the comparison found: rows that are missing, and rows that are there with other
// contents.
Result<Inserted> with_differences(Inserted inserted, std::span<const StatementResult> answers) {
  for (const StatementResult& answer : answers) {
    for (const Row& row : answer.rows) {
      const auto seq = exact_integer(row.front());
      const auto is_there = exact_integer(row.back());
      if (row.size() != 2 || !seq || !is_there) {
        return Status(StatusCode::kLost, "the database's comparison of rows cannot be read");
      }
      if (*is_there == 0) {
        inserted.missing.push_back(*seq);
      } else if (inserted.collisions++ == 0) {
        inserted.collided_seq = *seq;
      }
    }
  }
  return inserted;
}

// Why a comparison failed that looks at rows which were inserted before it: fewer of them may be
// compared at once, but no failure of it refuses one.
Status failed_comparison(const Status& failure, std::size_t rows) {
  const bool would_refuse = failure.code() == StatusCode::kConstraint ||
                            (failure.code() == StatusCode::kTooBig && rows == 1);
  return (would_refuse ? failure.with_code(StatusCode::kLost) : failure)
      .with_execution(Execution::kMaybe);
}

}  // namespace

LogTable::LogTable(std::string name) : name_(std::move(name)) {}

Result<LogTable> LogTable::named(std::string_view name) {
  if (const char* fault = fault_of(name)) {
    return Status(StatusCode::kInvalidArgument, std::string("the table name ") + fault);
  }
  return LogTable(std::string(name));
}

Status LogTable::prepare(Database& database, const ExecuteOptions& options) const {
  const ExecuteOptions repeatable_options = repeatable(options);
  const Result<bool> is_there = read_schema(database, name_, repeatable_options);
  if (!is_there || *is_there) {
    return is_there.status();
  }
  const auto created = database.execute(create_statements(name_), repeatable_options);
  if (!created) {
    return created.error();
  }
  // Again, because IF NOT EXISTS accepts whatever another process may have made meanwhile.
  const Result<bool> is_made = read_schema(database, name_, repeatable_options);
  if (!is_made || *is_made) {
    return is_made.status();
  }
  return {StatusCode::kSchema, "table \"" + name_ + "\" was dropped just after it was created"};
}

Result<Inserted> LogTable::insert(Database& database, std::int64_t writer,
                                  std::span<const Record> rows,
                                  const ExecuteOptions& options) const {
  if (rows.empty()) {
    return Inserted{};
  }
  std::vector<Statement> statements;
  for (RowBlock& block : blocks_for(database.traits(), writer, rows)) {
    statements.push_back({{}, std::move(block)});
  }
  set_sql(statements, name_, insert_sql);
  const auto results = run(database, statements, repeatable(options));
  if (!results) {
    return results.error();
  }
  const auto sent = static_cast<std::int64_t>(rows.size());
  const std::int64_t changes = changes_of(*results);
  const Inserted inserted{.rows = std::min(changes, sent)};  // What a trigger writes counts, too.
  if (changes == sent) {
    return inserted;
  }
  auto compared = compare(database, std::move(statements), inserted, options);
  return compared ? std::move(compared)
                  : Result<Inserted>(failed_comparison(compared.error(), rows.size()));
}

Result<Inserted> LogTable::compare(Database& database, std::vector<Statement> statements,
                                   Inserted inserted, const ExecuteOptions& options) const {
  set_sql(statements, name_, comparison_sql);
  const auto answers = run(database, statements, repeatable(options));
  return answers ? with_differences(std::move(inserted), *answers)
                 : Result<Inserted>(answers.error());
}

}  // namespace spillway
