// SPDX-License-Identifier: MIT
#include <spillway/d1_database.h>

#include "d1/api_token.h"
#include "d1/column_cache.h"
#include "d1/d1_attempt.h"
#include "d1/d1_http.h"
#include "d1/d1_options.h"
#include "d1/sql_text.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace spillway {
namespace {

// The account has 1,200 requests in five minutes for everything, its dashboard included; half of
// them are ours at most. Source: developers.cloudflare.com/fundamentals/api/reference/limits.
constexpr RequestRate kD1Rate = {.per_second = 2, .burst = 5};

Status check_only_reads(std::span<const Statement> statements) {
  for (const Statement& statement : statements) {
    const auto parsed = parse_statement(statement.sql);  // What it cannot read is refused later.
    if (parsed && !parsed->does_read_only) {
      return {StatusCode::kConfig,
              "the database was opened for reading, and " + parsed->verb + " writes"};
    }
  }
  return {};
}

}  // namespace

class D1Database::Shell {
 public:
  Shell(D1HttpOptions http, const D1Options& options)
      : token_(http.transfer.token),
        clock_(*options.clock),
        attempt_timeout_(options.attempt_timeout),
        is_read_only_(options.is_read_only),
        http_(std::move(http)) {}

  [[nodiscard]] Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                                             const ExecuteOptions& options);
  /// What leaves the client shows the token nowhere, whatever a server echoed.
  [[nodiscard]] Status clean(const Status& status) const { return without_token(status, token_); }
  [[nodiscard]] const std::optional<D1RateLimit>& rate_limit() const { return http_.rate_limit(); }

 private:
  const std::string token_;
  const Clock& clock_;
  const std::chrono::milliseconds attempt_timeout_;
  const bool is_read_only_;
  D1Http http_;
  ColumnCache columns_;
};

Result<std::vector<StatementResult>> D1Database::Shell::execute(
    std::span<const Statement> statements, const ExecuteOptions& options) {
  if (is_read_only_) {
    if (Status status = check_only_reads(statements); !status.is_ok()) {
      return status;
    }
  }
  auto attempt = D1Attempt::begin(statements, DatabaseLimits(), columns_);
  if (!attempt) {
    return attempt.error();
  }
  const SteadyTime longest = clock_.steady_now() + attempt_timeout_;
  const SteadyTime end = std::min(longest, options.deadline.value_or(longest));
  while (!attempt->is_done()) {
    attempt->take(http_.post(attempt->body(), end, options.cancel));
  }
  return (*std::move(attempt)).result();
}

D1Database::D1Database(std::unique_ptr<Shell> shell) : shell_(std::move(shell)) {}

D1Database::~D1Database() = default;

Result<std::unique_ptr<D1Database>> D1Database::open(const D1Options& options) try {
  auto http = d1_http_options(options);
  if (!http) {
    return http.error();
  }
  auto shell = std::make_unique<Shell>(*std::move(http), options);
  return std::unique_ptr<D1Database>(new D1Database(std::move(shell)));
} catch (const std::exception&) {
  return Status(StatusCode::kInternal, "out of memory").with_execution(Execution::kNo);
}

Result<std::vector<StatementResult>> D1Database::execute(std::span<const Statement> statements,
                                                         const ExecuteOptions& options) try {
  auto results = shell_->execute(statements, options);
  return results ? std::move(results) : shell_->clean(results.error());
} catch (const std::exception&) {  // It may have been sent by then.
  return Status(StatusCode::kInternal, "out of memory");
}

DatabaseTraits D1Database::traits() const {
  return {.name = "D1", .dialect = Dialect::kD1, .rate = kD1Rate};
}

std::optional<D1RateLimit> D1Database::rate_limit() const { return shell_->rate_limit(); }

}  // namespace spillway
