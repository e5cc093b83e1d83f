// SPDX-License-Identifier: MIT
#include <spillway/d1_database.h>

#include "d1/api_token.h"
#include "d1/column_cache.h"
#include "d1/d1_attempt.h"
#include "d1/d1_http.h"
#include "d1/d1_options.h"
#include "d1/guarded.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace spillway {
namespace {

// The account has 1,200 requests in five minutes for everything, its dashboard included; half of
// them are ours at most. Source: developers.cloudflare.com/fundamentals/api/reference/limits.
constexpr RequestRate kD1Rate = {.per_second = 2, .burst = 5};

Status may_write(const std::string& verb) {
  constexpr std::size_t kShownMax = 20;  // Longer than all that SQL has: no verb at all.
  const std::string what = verb.empty() || verb.size() > kShownMax ? "this statement" : verb;
  return {StatusCode::kConfig, "the database was opened for reading, and " + what +
                                   " may write: SELECT, VALUES, EXPLAIN and the PRAGMAs that only "
                                   "ask are accepted"};
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
  auto attempt = D1Attempt::begin(statements, DatabaseLimits(), columns_);
  if (!attempt) {
    return attempt.error();
  }
  const std::string* const writing_verb = attempt->writing_verb();
  if (is_read_only_ && writing_verb != nullptr) {
    return may_write(*writing_verb);
  }
  const SteadyTime longest = clock_.steady_now() + attempt_timeout_;
  const SteadyTime end = std::min(longest, options.deadline.value_or(longest));
  const auto is_over = [&] {
    return options.cancel.stop_requested() || clock_.steady_now() >= end;
  };
  while (!attempt->is_done()) {
    attempt->take(http_.post(attempt->body(), end, options.cancel), is_over);
  }
  return (*std::move(attempt)).result();
}

D1Database::D1Database(std::unique_ptr<Shell> shell) : shell_(std::move(shell)) {}

D1Database::~D1Database() = default;

Result<std::unique_ptr<D1Database>> D1Database::open(const D1Options& options) {
  using Opened = Result<std::unique_ptr<D1Database>>;
  return guarded(Execution::kNo, [&]() -> Opened {
    auto http = d1_http_options(options);
    if (!http) {
      return http.error();
    }
    auto shell = std::make_unique<Shell>(*std::move(http), options);
    return std::unique_ptr<D1Database>(new D1Database(std::move(shell)));
  });
}

Result<std::vector<StatementResult>> D1Database::execute(std::span<const Statement> statements,
                                                         const ExecuteOptions& options) {
  return guarded(Execution::kMaybe, [&] {  // It may have been sent when something throws.
    auto results = shell_->execute(statements, options);
    return results ? std::move(results) : shell_->clean(results.error());
  });
}

DatabaseTraits D1Database::traits() const {
  return {.name = "D1", .dialect = Dialect::kD1, .rate = kD1Rate};
}

std::optional<D1RateLimit> D1Database::rate_limit() const { return shell_->rate_limit(); }

}  // namespace spillway
