// SPDX-License-Identifier: MIT
//
// D1Database: a Database in Cloudflare D1, over its REST API.
//
// One call of `execute` is one attempt: POST …/accounts/{account}/d1/database/{id}/raw, with the
// statements as one batch, which D1 runs as one transaction. What may write is sent once. Before
// `SELECT *` a request of its own learns the number of columns, which is remembered. Statements
// that all only read are sent again, mostly once, when a table has other columns now or a text came
// that may not be UTF-8. All this counts against the rate limit and ends with the deadline. Over
// REST all goes to the primary, so a read sees every write before it.
// Source: developers.cloudflare.com/api/resources/d1/subresources/database/methods/raw.
//
// Used by one thread at a time; may move between threads. One connection is kept for later calls; a
// call that finds it older than 60 s makes a new one. No signal is raised, SIGPIPE included, and no
// global state of libcurl is torn down, so the application may use libcurl itself.
#pragma once

#include <spillway/database.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct D1Options {
  std::string account_id;
  std::string database_id;  ///< The UUID.

  /// Needs the permission D1 Write, to read only D1 Read. White space around it is dropped; in it,
  /// or any byte that a header cannot hold, is refused. It appears in no message, log or file.
  std::string token;
  /// If not empty, the token is what this file holds, whatever `token` says. Read when the database
  /// is opened: after a refusal, open it anew and a replaced token counts.
  std::string token_file = {};

  /// Plain http is taken for literal loopback addresses only (127.0.0.0/8, [::1]), and without a
  /// proxy, whatever the environment says. User-info, a query or a fragment is refused.
  std::string base_url = "https://api.cloudflare.com/client/v4";
  /// Certificates to trust, a PEM file. Empty: CURL_CA_BUNDLE or SSL_CERT_FILE of the environment,
  /// else the system's.
  std::string ca_file = {};

  /// True: statements that write are refused before anything is sent.
  bool is_read_only = false;

  /// Leave these alone unless the network is known to be slow. D1 ends what takes longer than 30 s.
  /// Source: developers.cloudflare.com/d1/platform/limits.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  /// The whole attempt, from resolving the name to the last byte; ExecuteOptions::deadline may end
  /// it earlier.
  std::chrono::milliseconds attempt_timeout = std::chrono::seconds(30);

  /// Must outlive the database. Not null.
  const Clock* clock = &Clock::system();
};

/// What an answer said of the account's rate limit. What it did not say is empty.
/// Source: developers.cloudflare.com/fundamentals/api/reference/limits.
struct D1RateLimit {
  std::optional<std::int64_t> limit = {};      ///< Requests in a window.
  std::optional<std::int64_t> remaining = {};  ///< Of those, in this one.
  /// Until the next window begins, at the time of the answer.
  std::optional<std::chrono::milliseconds> reset_after = {};
};

class D1Database final : public Database {
 public:
  /// Checks the options; sends nothing. kInvalidArgument: an option cannot be used; the message
  /// names it and the way out. kConfig: there is no usable token, or the file of certificates
  /// cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<D1Database>> open(const D1Options& options);
  ~D1Database() override;

  /// As Database says. Values arrive as they were given and come back as they are stored: integers
  /// of 64 bits, reals, texts of any bytes and blobs, although D1 itself binds and answers every
  /// number as a double. docs/facts.md, "Values to D1" and "Values from D1", says how, and what it
  /// costs.
  ///
  /// Not so for RETURNING, PRAGMA and EXPLAIN, nor for `SELECT *` from a table that did not exist
  /// before the call, or where the server does not name the columns of an empty result: there a
  /// whole number below 2^53 comes back as an integer, any other as a real, and what is not UTF-8
  /// as U+FFFD. Such a real may have been rounded, so that RowView::get refuses it as an integer:
  /// SELECT it to get all its digits. Name the columns in place of `*`. Names that SQLite makes out
  /// of the text (RETURNING a + ?1, CREATE TABLE t AS SELECT ?1) show what was sent: use AS.
  ///
  /// kInvalidArgument: no statements; a text that is not exactly one statement, or begins or ends a
  /// transaction; a wrong number of values; NaN or infinity. kTooBig: over a limit of traits(),
  /// where the SQL text counts with what makes its values exact (some 200 bytes for each column
  /// that is read), or over 100 MB together; nothing was executed. kCancelled: cancelled before all
  /// of a request was sent, or the deadline had passed before any of it was; nothing was changed.
  /// kTransient: timed out before all of it was sent, or a `SELECT *` beside statements that write
  /// has other columns now, which the next attempt knows; nothing was changed. kLost: cancelled or
  /// timed out later, so that the statements may have been executed. All else as the server's
  /// answer is classified: see docs/failure-modes.md.
  ///
  /// A cancel is noticed within 100 ms.
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  [[nodiscard]] DatabaseTraits traits() const override;

  /// What the last answer said; empty if it said nothing, or none has come. The numbers are for
  /// people and metrics: `traits().rate` is what keeps a program within the limit.
  [[nodiscard]] std::optional<D1RateLimit> rate_limit() const;

 private:
  class Shell;
  explicit D1Database(std::unique_ptr<Shell> shell);

  std::unique_ptr<Shell> shell_;
};

}  // namespace spillway
