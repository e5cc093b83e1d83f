// SPDX-License-Identifier: MIT
#include <spillway/prepared_statement.h>

#include "d1/execute_all.h"
#include "d1/guarded.h"
#include "d1/sql_text.h"

#include <utility>

namespace spillway {
namespace {

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

Status no_rows() {
  return {StatusCode::kInvalidArgument,
          "bind_rows got no rows, and the statement without values is another one; leave out the "
          "call where there is nothing to do"};
}

Result<ResultSet> run_one(Database& database, const Statement& statement,
                          const ExecuteOptions& options) {
  Result<std::vector<StatementResult>> results = execute_all(database, {&statement, 1}, options);
  if (!results) {
    return results.error();
  }
  return ResultSet(std::move(results->front()));
}

Result<std::vector<Statement>> statements_of(std::vector<PreparedStatement> prepared) {
  std::vector<Statement> batch;
  batch.reserve(prepared.size());
  for (PreparedStatement& each : prepared) {
    if (!each.status().is_ok()) {
      return each.status().with_message("statement " + std::to_string(batch.size() + 1) + ": " +
                                        each.status().message());
    }
    batch.push_back(std::move(each).statement());
  }
  return batch;
}

Result<std::vector<ResultSet>> run_batch(Database& database, std::span<const Statement> batch,
                                         const ExecuteOptions& options) {
  Result<std::vector<StatementResult>> results = execute_all(database, batch, options);
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

Result<ExecResult> run_text(Database& database, std::string_view text,
                            const ExecuteOptions& options) {
  std::vector<Statement> statements;
  for (const std::string_view statement : split_statements(text)) {
    statements.push_back({std::string(statement)});
  }
  const Result<std::vector<StatementResult>> results = execute_all(database, statements, options);
  if (!results) {
    return results.error();
  }
  ExecResult done{.count = static_cast<std::int64_t>(results->size())};
  for (const StatementResult& result : *results) {
    done.duration += result.meta.duration;
  }
  return done;
}

}  // namespace

PreparedStatement PreparedStatement::with_row(Row row, std::size_t refused) const {
  return changed([&](PreparedStatement& bound) {
    if (refused != 0) {
      bound.status_ = too_large(refused);
    }
    if (!row.empty()) {
      bound.statement_.rows.push_back(std::move(row));
    }
  });
}

PreparedStatement PreparedStatement::bind_rows(std::vector<Row> rows) const {
  return changed([&](PreparedStatement& bound) {
    if (rows.empty()) {
      bound.status_ = no_rows();
    }
    bound.statement_.rows = std::move(rows);
  });
}

PreparedStatement PreparedStatement::with_bookmark(const std::string& bookmark) const {
  return changed([&](PreparedStatement& bound) { bound.bookmark_ = bookmark; });
}

/// A copy with no values, changed by `change`. Where there is no memory for it, the status says so.
template <typename Change>
PreparedStatement PreparedStatement::changed(Change&& change) const noexcept {
  PreparedStatement copy(*database_, std::string());
  const Status failure = guarded(Execution::kNo, [&] {
    copy.statement_.sql = statement_.sql;
    copy.bookmark_ = bookmark_;
    change(copy);
    return Status();
  });
  if (!failure.is_ok()) {
    copy.status_ = failure;
  }
  return copy;
}

Result<ResultSet> PreparedStatement::all(const ExecuteOptions& options) const {
  if (!status_.is_ok()) {
    return status_;
  }
  return guarded(Execution::kMaybe,
                 [&] { return run_one(*database_, statement_, in_session(options, bookmark_)); });
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
  return PreparedStatement(*database_, std::move(sql)).with_bookmark(bookmark_);
}

Result<std::vector<ResultSet>> DatabaseSession::batch(std::vector<PreparedStatement> statements,
                                                      const ExecuteOptions& options) const {
  return guarded(Execution::kMaybe, [&] {
    return database_->batch(std::move(statements), in_session(options, bookmark_));
  });
}

PreparedStatement Database::prepare(std::string sql) { return {*this, std::move(sql)}; }

Result<std::vector<ResultSet>> Database::batch(std::vector<PreparedStatement> statements,
                                               const ExecuteOptions& options) {
  return guarded(Execution::kMaybe, [&]() -> Result<std::vector<ResultSet>> {
    const Result<std::vector<Statement>> batch = statements_of(std::move(statements));
    return batch ? run_batch(*this, *batch, options) : batch.error();
  });
}

Result<ExecResult> Database::exec(std::string_view text, const ExecuteOptions& options) {
  return guarded(Execution::kMaybe, [&] { return run_text(*this, text, options); });
}

DatabaseSession Database::with_session(std::string constraint_or_bookmark) {
  return {*this, std::move(constraint_or_bookmark)};
}

}  // namespace spillway
