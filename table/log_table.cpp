// SPDX-License-Identifier: MIT
#include "table/log_table.h"

#include "base/time_text.h"
#include "base/utf8.h"
#include "table/log_schema.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace spillway {
namespace {

constexpr std::size_t kNameBytesMax = 64;

bool has_reserved_prefix(std::string_view name) {
  constexpr std::string_view kReserved = "sqlite_";
  const std::string_view start = name.substr(0, kReserved.size());
  return std::equal(start.begin(), start.end(), kReserved.begin(), kReserved.end(),
                    [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a + 32 == b); });
}

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

Row row_of(std::int64_t writer, const Record& record) {
  Row row;
  row.reserve(7);
  row.emplace_back(time_text(record.time));
  row.emplace_back(writer);
  row.emplace_back(record.seq);
  row.emplace_back(std::string(to_string(record.level)));
  row.emplace_back(record.context);
  row.emplace_back(record.message);
  if (record.fields.empty()) {
    row.emplace_back(std::monostate());
  } else {
    row.emplace_back(record.fields);
  }
  return row;
}

// What a Database gives is checked before it is used: it may be anybody's, and an answer that came
// over a network can be short.
Result<std::vector<StatementResult>> run(Database& database, std::span<const Statement> statements,
                                         const ExecuteOptions& options) {
  auto results = database.execute(statements, options);
  if (!results) {
    return results;
  }
  bool is_whole = results->size() == statements.size();
  for (const StatementResult& result : *results) {
    for (const Row& row : result.rows) {
      is_whole = is_whole && !row.empty() && row.size() == result.columns.size();
    }
  }
  return is_whole ? std::move(results)
                  : Status(StatusCode::kLost, "the database's answer does not fit the statements");
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

// "2 of 100 rows not in the table after the insert (first: seq 7): …"
Status refused(std::size_t rows, const std::vector<Row>& missing) {
  const auto* seq = std::get_if<std::string>(&missing.front().front());
  return {StatusCode::kConstraint, std::to_string(missing.size()) + " of " + std::to_string(rows) +
                                       " rows not in the table after the insert (first: seq " +
                                       (seq != nullptr ? *seq : "?") +
                                       "): a trigger keeps rows out"};
}

}  // namespace

LogTable::LogTable(std::string name)
    : name_(std::move(name)),
      insert_sql_("INSERT INTO " + quoted_name(name_) +
                  "(created_at, writer, seq, level, context, message, fields)"
                  " VALUES(?, ?, ?, ?, ?, ?, ?)"
                  // Not INSERT OR IGNORE, which would swallow NOT NULL and CHECK failures too.
                  " ON CONFLICT(created_at, writer, seq) DO NOTHING"),
      // As text, because D1 answers every number as a REAL.
      missing_sql_("SELECT printf('%d', ?3) WHERE NOT EXISTS(SELECT 1 FROM " + quoted_name(name_) +
                   " WHERE created_at = ?1 AND writer = ?2 AND seq = ?3)") {}

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

Result<std::int64_t> LogTable::insert(Database& database, std::int64_t writer,
                                      std::span<const Record> rows,
                                      const ExecuteOptions& options) const {
  if (rows.empty()) {
    return std::int64_t{0};
  }
  Statement statement{insert_sql_};
  statement.rows.reserve(rows.size());
  for (const Record& record : rows) {
    statement.rows.push_back(row_of(writer, record));
  }
  const auto results = run(database, std::span(&statement, 1), repeatable(options));
  if (!results) {
    return results.error();
  }
  const std::int64_t changes = results->front().meta.changes;
  const auto sent = static_cast<std::int64_t>(rows.size());
  if (changes != sent) {
    Status status = check_stored(database, std::move(statement.rows), options);
    if (!status.is_ok()) {
      return status;
    }
  }
  return std::min(changes, sent);  // What a trigger writes counts in `changes` too.
}

Status LogTable::check_stored(Database& database, std::vector<Row> rows,
                              const ExecuteOptions& options) const {
  constexpr std::size_t kKeyColumns = 3;
  for (Row& row : rows) {
    row.resize(kKeyColumns);
  }
  const std::size_t sent = rows.size();
  const Statement statement{missing_sql_, std::move(rows)};
  const auto results = run(database, std::span(&statement, 1), repeatable(options));
  if (!results) {
    // Whatever became of this one, the insert before it was executed.
    return results.error().with_execution(Execution::kMaybe);
  }
  const std::vector<Row>& missing = results->front().rows;
  return missing.empty() ? Status() : refused(sent, missing);
}

}  // namespace spillway
