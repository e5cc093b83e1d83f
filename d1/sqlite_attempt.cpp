// SPDX-License-Identifier: MIT
#include "d1/sqlite_attempt.h"

#include <sqlite3.h>

#include "d1/sqlite_transaction.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace spillway {
namespace {

// The statements as far as they could be prepared before the transaction began, and its kind. All
// that read only need no write lock. The first one that writes may create what the next one needs,
// so those behind it are prepared when their turn comes.
struct Plan {
  std::vector<SqliteStatement> prepared = {};
  SqliteTransaction::Kind kind = SqliteTransaction::Kind::kRead;
};

Result<Plan> plan(SqliteConnection& connection, std::span<const Statement> statements) {
  Plan plan;
  for (const Statement& statement : statements) {
    Result<SqliteStatement> prepared = connection.prepare(statement.sql);
    if (!prepared) {
      return prepared.error();
    }
    const bool is_read_only = prepared->is_read_only();
    plan.prepared.push_back(std::move(*prepared));
    if (!is_read_only) {
      plan.kind = SqliteTransaction::Kind::kWrite;
      break;
    }
  }
  return plan;
}

Status stopped_before_the_attempt(const AttemptLimits& limits) {
  return {StatusCode::kCancelled, limits.is_cancelled() ? "cancelled before the attempt"
                                                        : "deadline passed before the attempt"};
}

Status stopped_between_rows(const AttemptLimits& limits) {
  return limits.is_cancelled() ? Status(StatusCode::kCancelled, "cancelled; rolled back")
                               : Status(StatusCode::kTransient, "deadline passed; rolled back");
}

// Runs the statement for one parameter row and collects what it answers.
Status run_row(SqliteConnection& connection, SqliteStatement& prepared, const Row& parameters,
               StatementResult& result) {
  if (connection.limits().must_stop()) {
    return stopped_between_rows(connection.limits());
  }
  if (Status status = prepared.bind(parameters); !status.is_ok()) {
    return status;
  }
  int code = prepared.step();
  for (; code == SQLITE_ROW; code = prepared.step()) {
    result.rows.push_back(prepared.row());
  }
  Status status = code == SQLITE_DONE ? Status() : connection.failure(code);
  prepared.reset();  // After `failure`: a reset may change the message.
  return status;
}

Status run_rows(SqliteConnection& connection, SqliteStatement& prepared,
                const std::vector<Row>& rows, StatementResult& result) {
  if (rows.empty()) {
    return run_row(connection, prepared, {}, result);
  }
  for (std::size_t index = 0; index < rows.size(); ++index) {
    Status status = run_row(connection, prepared, rows[index], result);
    if (status.code() == StatusCode::kInvalidArgument && rows.size() > 1) {
      return status.with_message("row " + std::to_string(index + 1) + ": " + status.message());
    }
    if (!status.is_ok()) {
      return status;
    }
  }
  return {};
}

Result<StatementResult> run_statement(SqliteConnection& connection, const Clock& clock,
                                      const Statement& statement, SqliteStatement& prepared) {
  const SteadyTime begin = clock.steady_now();
  const std::int64_t changes_before = connection.total_changes();
  StatementResult result;
  if (Status status = run_rows(connection, prepared, statement.rows, result); !status.is_ok()) {
    return status;
  }
  result.columns = prepared.columns();  // After the run: the schema may have changed until then.
  result.meta.changes = connection.total_changes() - changes_before;
  result.meta.last_row_id = connection.last_row_id();
  result.meta.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(clock.steady_now() - begin);
  return result;
}

Result<std::vector<StatementResult>> run_all(SqliteConnection& connection, const Clock& clock,
                                             std::span<const Statement> statements, Plan plan) {
  std::vector<StatementResult> results;
  results.reserve(statements.size());
  for (std::size_t index = 0; index < statements.size(); ++index) {
    if (index == plan.prepared.size()) {
      Result<SqliteStatement> prepared = connection.prepare(statements[index].sql);
      if (!prepared) {
        return prepared.error();
      }
      plan.prepared.push_back(std::move(*prepared));
    }
    Result<StatementResult> result =
        run_statement(connection, clock, statements[index], plan.prepared[index]);
    if (!result) {
      return result.error();
    }
    results.push_back(std::move(*result));
  }
  return results;
}

Status check_before(const SqliteConnection& connection, AttemptLimits& limits,
                    std::span<const Statement> statements) {
  if (statements.empty()) {
    return {StatusCode::kInvalidArgument, "no statements"};
  }
  if (limits.must_stop()) {
    return stopped_before_the_attempt(limits);
  }
  // In WAL mode SQLite would go on writing into a file that nobody can see any more.
  return connection.has_moved()
             ? Status(StatusCode::kTransient, "the database file was removed or replaced")
             : Status();
}

}  // namespace

Result<std::vector<StatementResult>> run_attempt(SqliteConnection& connection, const Clock& clock,
                                                 std::span<const Statement> statements) {
  if (Status status = check_before(connection, connection.limits(), statements); !status.is_ok()) {
    return status;
  }
  SqliteTransaction transaction(connection);
  Result<Plan> planned = plan(connection, statements);
  if (!planned) {
    return planned.error();
  }
  if (Status status = transaction.begin(planned->kind); !status.is_ok()) {
    return status;
  }
  Result<std::vector<StatementResult>> results =
      run_all(connection, clock, statements, std::move(*planned));
  if (!results) {
    return results;
  }
  if (Status status = transaction.commit(); !status.is_ok()) {
    return status;
  }
  return results;
}

}  // namespace spillway
