// SPDX-License-Identifier: MIT
#include <spillway/retrying_database.h>

#include "d1/guarded.h"
#include "d1/invalid_argument.h"
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

// What retries have to know of a call's statements.
struct Call {
  bool is_read_only = true;
  std::string name;  ///< For the observer: what kind of statement, without what it says.
};

Call call_of(std::span<const Statement> statements) {
  constexpr std::size_t kVerbMax = 10;  // Longer words begin no statement of SQLite's.
  Call call{.name = "batch of " + std::to_string(statements.size())};
  for (const Statement& each : statements) {
    const Result<SqlStatement> statement = parse_statement(each.sql);
    call.is_read_only = call.is_read_only && statement && statement->does_read_only;
    if (statements.size() == 1) {
      const bool has_verb =
          statement && !statement->verb.empty() && statement->verb.size() <= kVerbMax;
      call.name = has_verb ? statement->verb : "statement";
    }
  }
  return call;
}

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
  return guarded(Execution::kNo, [&]() -> Result<std::unique_ptr<RetryingDatabase>> {
    if (inner == nullptr) {
      return invalid_argument("there is no database to wrap");
    }
    if (inner->traits().does_retry) {
      return invalid_argument("the database retries by itself; wrap it once, at the top");
    }
    if (options.predicate) {
      return invalid_argument(
          "a RetryingDatabase takes no predicate; use retry() for rules of your own");
    }
    return std::unique_ptr<RetryingDatabase>(
        new RetryingDatabase(std::move(inner), std::move(options)));
  });
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
  Call call = call_of(statements);
  RetryOptions own = options_;
  own.operation = std::move(call.name);
  own.is_read_only = call.is_read_only;
  own.is_idempotent = options.is_idempotent;
  own.deadline = options.deadline;
  own.cancel = options.cancel;
  return own;
}

DatabaseTraits RetryingDatabase::traits() const {
  DatabaseTraits traits = inner_->traits();
  traits.does_retry = true;
  return traits;
}

}  // namespace spillway
