// SPDX-License-Identifier: MIT
#include <spillway/prepared_statement.h>

#include "d1/sql_text.h"

#include <utility>

namespace spillway {
namespace {

Status does_not_fit() {
  return {StatusCode::kLost, "the database's answer does not fit the statements"};
}

// What a Database gives is counted before it is used: it may be anybody's.
Result<std::vector<StatementResult>> execute_all(Database& database,
                                                 std::span<const Statement> statements,
                                                 const ExecuteOptions& options) {
  Result<std::vector<StatementResult>> results = database.execute(statements, options);
  if (results && results->size() != statements.size()) {
    return does_not_fit();
  }
  return results;
}

ExecuteOptions in_session(ExecuteOptions options, const std::string& bookmark) {
  if (options.bookmark.empty()) {
    options.bookmark = bookmark;
  }
  return options;
}

Status too_large(std::size_t position) {
  return {StatusCode::kInvalidArgument,
          "value " + std::to_string(position) +
              " is above 9223372036854775807, the largest integer that a database holds"};
}

}  // namespace

PreparedStatement PreparedStatement::with_row(Row row, std::size_t refused) const {
  PreparedStatement bound(*database_, statement_.sql, bookmark_);
  if (refused != 0) {
    bound.status_ = too_large(refused);
  }
  if (!row.empty()) {
    bound.statement_.rows.push_back(std::move(row));
  }
  return bound;
}

PreparedStatement PreparedStatement::bind_rows(std::vector<Row> rows) const {
  PreparedStatement bound(*database_, statement_.sql, bookmark_);
  bound.statement_.rows = std::move(rows);
  return bound;
}

Result<ResultSet> PreparedStatement::all(const ExecuteOptions& options) const {
  if (!status_.is_ok()) {
    return status_;
  }
  Result<std::vector<StatementResult>> results =
      execute_all(*database_, {&statement_, 1}, in_session(options, bookmark_));
  if (!results) {
    return results.error();
  }
  return ResultSet(std::move(results->front()));
}

Result<ResultSet> PreparedStatement::run(const ExecuteOptions& options) const {
  return all(options);
}

Result<std::vector<Row>> PreparedStatement::raw(const ExecuteOptions& options) const {
  Result<ResultSet> set = all(options);
  if (!set) {
    return set.error();
  }
  return (*std::move(set)).result().rows;
}

Result<std::optional<OwnedRow>> PreparedStatement::first(const ExecuteOptions& options) const {
  Result<ResultSet> set = all(options);
  if (!set) {
    return set.error();
  }
  if (set->empty()) {
    return std::optional<OwnedRow>();
  }
  StatementResult result = (*std::move(set)).result();
  return std::optional<OwnedRow>(std::in_place, std::move(result.columns),
                                 std::move(result.rows.front()));
}

PreparedStatement DatabaseSession::prepare(std::string sql) const {
  return {*database_, std::move(sql), bookmark_};
}

Result<std::vector<ResultSet>> DatabaseSession::batch(std::vector<PreparedStatement> statements,
                                                      const ExecuteOptions& options) const {
  return database_->batch(std::move(statements), in_session(options, bookmark_));
}

PreparedStatement Database::prepare(std::string sql) { return {*this, std::move(sql)}; }

Result<std::vector<ResultSet>> Database::batch(std::vector<PreparedStatement> statements,
                                               const ExecuteOptions& options) {
  std::vector<Statement> batch;
  batch.reserve(statements.size());
  for (PreparedStatement& prepared : statements) {
    if (!prepared.status().is_ok()) {
      return prepared.status().with_message("statement " + std::to_string(batch.size() + 1) + ": " +
                                            prepared.status().message());
    }
    batch.push_back(std::move(prepared).statement());
  }
  Result<std::vector<StatementResult>> results = execute_all(*this, batch, options);
  if (!results) {
    return results.error();
  }
  std::vector<ResultSet> sets;
  sets.reserve(results->size());
  for (StatementResult& result : *results) {
    sets.emplace_back(std::move(result));
  }
  return sets;
}

Result<ExecResult> Database::exec(std::string_view text, const ExecuteOptions& options) {
  std::vector<Statement> statements;
  for (const std::string_view statement : split_statements(text)) {
    statements.push_back({std::string(statement)});
  }
  const Result<std::vector<StatementResult>> results = execute_all(*this, statements, options);
  if (!results) {
    return results.error();
  }
  ExecResult done{.count = static_cast<std::int64_t>(results->size())};
  for (const StatementResult& result : *results) {
    done.duration += result.meta.duration;
  }
  return done;
}

DatabaseSession Database::with_session(std::string constraint_or_bookmark) {
  return {*this, std::move(constraint_or_bookmark)};
}

}  // namespace spillway
