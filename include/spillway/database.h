// SPDX-License-Identifier: MIT
//
// Database: what Spillway needs from a database, in the shape of D1.
//
// Two virtual calls. `execute` runs a list of statements as one transaction and gives one result
// for each; `traits` says what kind of database it is. SqliteDatabase (a local file) and D1Database
// (over HTTP) implement it; wrappers that retry, count or inject faults override `execute` and hand
// `traits` on.
//
// A Database is used by one thread at a time; it may move between threads. One call is one attempt:
// nothing below this interface repeats a statement that may write.
#pragma once

#include <spillway/clock.h>
#include <spillway/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spillway {

using Blob = std::vector<std::byte>;

/// A value of SQLite's five storage classes, in and out without change: NULL, INTEGER, REAL, TEXT,
/// BLOB.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
using Row = std::vector<Value>;

/// One SQL statement and its parameters. With no rows it runs once without parameters, otherwise
/// once for each row, in order; either way it gives one result. Every row has as many values as the
/// statement has parameters.
struct Statement {
  std::string sql;
  std::vector<Row> rows = {};
};

/// What a statement did. Fields that a database cannot tell stay 0.
struct Meta {
  /// Rows inserted, updated or deleted, by triggers too; over all parameter rows.
  std::int64_t changes = 0;
  /// Means something only after an INSERT into a table with a rowid.
  std::int64_t last_row_id = 0;
  std::int64_t rows_read = 0;
  std::int64_t rows_written = 0;
  /// Time in the database, without the network.
  std::chrono::microseconds duration{0};
};

struct StatementResult {
  /// In order, duplicates kept; known even when there are no rows.
  std::vector<std::string> columns;
  std::vector<Row> rows;
  Meta meta;
};

struct ExecuteOptions {
  /// No work is begun after this time and what runs is stopped soon after it. Empty: no limit of
  /// the caller's.
  std::optional<SteadyTime> deadline = {};
  /// Stops the attempt early. What had been done in the transaction is rolled back.
  std::stop_token cancel = {};
  /// A D1 session bookmark, for a Database that knows sessions. SqliteDatabase and D1Database
  /// ignore it: over REST D1 has none (see DatabaseSession).
  std::string bookmark = {};
  /// The caller promises that running the statements twice does no harm.
  bool is_idempotent = false;
  /// How long to wait for a lock that another connection holds, never past `deadline`. Empty: the
  /// database's own setting (SqliteOptions::busy_timeout); 0: do not wait. D1 has no such lock and
  /// ignores it.
  std::optional<std::chrono::milliseconds> lock_wait = {};
};

enum class Dialect : std::uint8_t { kSqlite, kD1 };

/// The most that one request may carry. Source for D1:
/// developers.cloudflare.com/d1/platform/limits.
struct DatabaseLimits {
  std::size_t parameters_max = 100;         ///< Bound values per statement.
  std::size_t sql_bytes_max = 100'000;      ///< Text of one statement.
  std::size_t value_bytes_max = 2'000'000;  ///< One text or blob, and one row.
};

/// How many requests a database takes from us: a token bucket that holds `burst` and gets
/// `per_second`. 0: no limit.
struct RequestRate {
  double per_second = 0;
  int burst = 0;
};

struct DatabaseTraits {
  std::string name;  ///< As people call it in a sentence: "SQLite", "D1".
  Dialect dialect = Dialect::kSqlite;
  DatabaseLimits limits = {};
  /// What a program that sends all the time should keep to. The log pipeline does; `execute`
  /// delays nothing.
  RequestRate rate = {};
  /// True if `execute` may repeat a failed attempt by itself. The log pipeline refuses such a
  /// database: one place retries.
  bool does_retry = false;
};

class DatabaseSession;
class PreparedStatement;
class ResultSet;
struct ExecResult;

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  /// Runs the statements in one transaction: all or nothing.
  ///
  /// On success there is one result per statement, in order. On failure the transaction has been
  /// rolled back unless the Status says Execution::kMaybe, and the connection can be used again.
  /// Blocks until done, at most until the deadline and a short while for stopping.
  [[nodiscard]] virtual Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) = 0;
  [[nodiscard]] virtual DatabaseTraits traits() const = 0;

  // The shape that D1 has in a Worker, written once on `execute`. To use it, include
  // <spillway/prepared_statement.h>, which says more.

  /// A statement to bind values to and to run. Nothing is sent, nothing is checked yet.
  [[nodiscard]] PreparedStatement prepare(std::string sql);

  /// Runs the statements, whichever database prepared them, in one transaction; one result each, in
  /// order. Errors: as `execute`.
  [[nodiscard]] Result<std::vector<ResultSet>> batch(std::vector<PreparedStatement> statements,
                                                     const ExecuteOptions& options = {});

  /// Runs a text of several statements without parameters, such as a schema, in one transaction:
  /// unlike in a Worker either all of it counts or nothing. kInvalidArgument: there is no statement
  /// in it. Else as `execute`.
  [[nodiscard]] Result<ExecResult> exec(std::string_view text, const ExecuteOptions& options = {});

  /// A session that begins with a constraint, "first-primary" or "first-unconstrained", or with the
  /// bookmark of another one.
  [[nodiscard]] DatabaseSession with_session(
      std::string constraint_or_bookmark = "first-unconstrained");
};

/// A D1 database is made elsewhere (`wrangler d1 create`): for D1 kCreate is the same as kExisting.
enum class OpenMode : std::uint8_t {
  kCreate,    ///< Read and write; a file that does not exist is created (its directory is not).
  kExisting,  ///< Read and write; a file that does not exist is an error, and nothing is created.
  kReadOnly,  ///< Read; every writing statement fails.
};

/// What a database needs beside its URL.
struct OpenOptions {
  /// A file that holds the token for D1. Empty: CLOUDFLARE_API_TOKEN of the environment.
  std::string token_file = {};
};

/// Opens the database that `url` names: `sqlite:PATH`, or `d1://ACCOUNT_ID/DATABASE_ID` with
/// CLOUDFLARE_API_BASE_URL of the environment in place of Cloudflare's own address, if it is set.
/// ACCOUNT_ID may be left out (`d1:///DATABASE_ID`) where CLOUDFLARE_ACCOUNT_ID is set.
/// For D1 nothing is sent yet: whether the database exists, the first statement tells.
///
/// kInvalidArgument: the URL, or what the environment adds to it, is not of a known form. kConfig:
/// the file cannot be used (missing directory, a directory, no permission, not a database), or
/// there is no usable token. kOverload: another process holds a lock that opening needs; try again
/// later. The message names the URL's part that is wrong and the way out.
[[nodiscard]] Result<std::unique_ptr<Database>> open(std::string_view url, OpenMode mode,
                                                     const OpenOptions& options = {});

/// Opens a database, each time it is called.
using DatabaseFactory = std::function<Result<std::unique_ptr<Database>>()>;

/// What opens the database that `url` names, now and later: a relative path means the directory
/// that the process is in at this call, wherever it goes afterwards. Opens nothing yet.
/// The environment is read now, the token file each time. kInvalidArgument: as `open`. kConfig:
/// there is no such directory any more, or neither a token nor a file for one is named.
[[nodiscard]] Result<DatabaseFactory> database_factory(std::string_view url, OpenMode mode,
                                                       const OpenOptions& options = {});

}  // namespace spillway
