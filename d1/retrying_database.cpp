// SPDX-License-Identifier: MIT
#include <spillway/retrying_database.h>

#include "d1/guarded.h"
#include "d1/sql_text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace spillway {
namespace {

bool does_read_only(std::string_view text) {
  const Result<SqlStatement> statement = parse_statement(text);
  return statement && statement->does_read_only;
}

// For the observer: what kind of statement, without what it says.
std::string name_of(std::span<const Statement> statements) {
  if (statements.size() != 1) {
    return "batch of " + std::to_string(statements.size());
  }
  const Result<SqlStatement> statement = parse_statement(statements.front().sql);
  constexpr std::size_t kVerbMax = 10;  // Longer words begin no statement of SQLite's.
  const bool has_verb = statement && !statement->verb.empty() && statement->verb.size() <= kVerbMax;
  return has_verb ? statement->verb : "statement";
}

Status invalid(const char* message) { return {StatusCode::kInvalidArgument, message}; }

}  // namespace

bool is_read_only(std::string_view sql) noexcept {
  const Result<bool> is_certain = guarded(Execution::kNo, [&]() -> Result<bool> {
    const std::vector<std::string_view> statements = split_statements(sql);
    return !statements.empty() && std::all_of(statements.begin(), statements.end(), does_read_only);
  });
  return is_certain && *is_certain;
}

Result<std::unique_ptr<RetryingDatabase>> RetryingDatabase::wrap(std::unique_ptr<Database> inner,
                                                                 RetryOptions options) {
  if (inner == nullptr) {
    return invalid("there is no database to wrap");
  }
  if (inner->traits().does_retry) {
    return invalid("the database retries by itself; wrap it once, at the top");
  }
  if (options.predicate) {
    return invalid("a RetryingDatabase takes no predicate; use retry() for rules of your own");
  }
  return std::unique_ptr<RetryingDatabase>(
      new RetryingDatabase(std::move(inner), std::move(options)));
}

RetryingDatabase::RetryingDatabase(std::unique_ptr<Database> inner, RetryOptions options)
    : inner_(std::move(inner)), options_(std::move(options)) {}

Result<std::vector<StatementResult>> RetryingDatabase::execute(
    std::span<const Statement> statements, const ExecuteOptions& options) {
  return guarded(Execution::kMaybe, [&] {
    return retry([&] { return inner_->execute(statements, options); },
                 options_for(statements, options), &report_);
  });
}

RetryOptions RetryingDatabase::options_for(std::span<const Statement> statements,
                                           const ExecuteOptions& options) const {
  RetryOptions call = options_;
  call.operation = name_of(statements);
  call.is_read_only = std::all_of(statements.begin(), statements.end(),
                                  [](const Statement& each) { return is_read_only(each.sql); });
  call.is_idempotent = options.is_idempotent;
  call.deadline = options.deadline;
  call.cancel = options.cancel;
  return call;
}

DatabaseTraits RetryingDatabase::traits() const {
  DatabaseTraits traits = inner_->traits();
  traits.does_retry = true;
  return traits;
}

}  // namespace spillway
