// SPDX-License-Identifier: MIT
//
// RetryingDatabase: a Database that rides out short overloads without doing a write twice.
//
//     auto opened = spillway::open("d1://…", spillway::OpenMode::kExisting);
//     auto db = spillway::RetryingDatabase::wrap(*std::move(opened));
//     const auto users = (*db)->prepare("SELECT name FROM users").all();
//
// Wrap once, at the top: around the database that the application uses, not around one that a layer
// below has wrapped already. docs/retries.md has the table of what is tried again: in short, what
// only reads after any failure that is likely to pass, and what writes only where the failure says
// that nothing was executed. A batch is one transaction: it reads if all its statements do.
#pragma once

#include <spillway/database.h>
#include <spillway/retry.h>
#include <spillway/status.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace spillway {

/// True: no statement of the text can change the database. Certain for SELECT, VALUES, WITH …
/// SELECT, EXPLAIN of anything, and the PRAGMAs that are known to only ask; all else counts as
/// writing, and so does a text without a statement, with a quote or parenthesis left open, or that
/// is not UTF-8. Quotes, comments and several statements are understood as SQLite understands them.
/// Not known is what hides behind a name: functions that an application or an extension has added
/// to SQLite (FTS3's optimize() writes), and a view over pragma_optimize. Costs time in proportion
/// to the text.
/// Source: sqlite.org/c3ref/stmt_readonly.html, which the tests compare it with.
[[nodiscard]] bool is_read_only(std::string_view sql) noexcept;

class RetryingDatabase final : public Database {
 public:
  /// Of the options, `operation`, `is_read_only`, `is_idempotent`, `deadline` and `cancel` are set
  /// anew for each call. kInvalidArgument: there is no database, it retries by itself (it is
  /// wrapped already), or a predicate is given: here the statements decide as well.
  [[nodiscard]] static Result<std::unique_ptr<RetryingDatabase>> wrap(
      std::unique_ptr<Database> inner, RetryOptions options = {});

  /// As the wrapped database, which gets the same statements and options with each attempt. What
  /// comes back is what the last attempt gave; only execution() speaks for all of them. Blocks for
  /// the attempts and the waits in between: see retry. With ExecuteOptions::is_idempotent,
  /// statements that write count as reading. A D1 that limits the rate is called again only after
  /// its Retry-After, and only if that fits.
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  /// Those of the wrapped database, with `does_retry`: the log pipeline refuses it, and so does
  /// another `wrap`.
  [[nodiscard]] DatabaseTraits traits() const override;

  /// What the last call took.
  [[nodiscard]] const RetryReport& last_report() const noexcept { return report_; }

 private:
  RetryingDatabase(std::unique_ptr<Database> inner, RetryOptions options);
  [[nodiscard]] RetryOptions options_for(std::span<const Statement> statements,
                                         const ExecuteOptions& options) const;

  std::unique_ptr<Database> inner_;
  RetryOptions options_;
  RetryReport report_;
};

}  // namespace spillway
