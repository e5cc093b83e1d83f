// SPDX-License-Identifier: MIT
#include "tests/support/d1_engine.h"

#include "tests/support/d1_sqlite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace spillway::testing {
namespace {

// The longest that D1 lets a request run. Source: developers.cloudflare.com/d1/platform/limits.
constexpr std::chrono::seconds kRunMax{30};

constexpr const char* kNoStatements = "No SQL statements detected.";
constexpr const char* kEmptyStatement = "SQL code did not contain a statement.";
constexpr const char* kNoTransactions =
    "To execute a transaction, please use the state.storage.transaction() or "
    "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT "
    "statements. The JavaScript API is safer because it will automatically roll back on "
    "exceptions, and because it interacts correctly with Durable Objects' automatic atomic write "
    "coalescing.";
constexpr const char* kTimeout =
    "D1 DB storage operation exceeded timeout which caused object to be reset.";
constexpr const char* kWrongCount = "Wrong number of parameter bindings for SQL query.";
constexpr const char* kOnlyTheLast =
    "When executing multiple SQL statements in a single call, only the last statement can have "
    "parameters.";

std::string_view without_blanks(std::string_view sql) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  const std::size_t begin = sql.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return sql.substr(begin, sql.find_last_not_of(kBlanks) + 1 - begin);
}

// What follows a statement and holds none: empty statements.
bool is_only_semicolons(std::string_view sql) {
  return sql.find_first_not_of("; \t\r\n\f") == std::string_view::npos;
}

std::string columns_and_rows(const D1Rows& rows) {
  std::string json = R"({"columns":[)";
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    json += i == 0 ? "" : ",";
    append_js_text(rows.columns[i], json);
  }
  json += R"(],"rows":[)";
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    json += i == 0 ? "[" : ",[";
    for (std::size_t j = 0; j < rows.rows[i].size(); ++j) {
      json += j == 0 ? "" : ",";
      append_js_value(rows.rows[i][j], json);
    }
    json += ']';
  }
  return json + "]}";
}

// A JavaScript object has a key once: the first place and the last value of a name count.
std::vector<std::size_t> object_columns(const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) {
      const auto last = std::find(names.rbegin(), names.rend(), *name);
      columns.push_back(static_cast<std::size_t>(names.rend() - last) - 1);
    }
  }
  return columns;
}

std::string objects(const D1Rows& rows) {
  const std::vector<std::size_t> columns = object_columns(rows.columns);
  std::string json = "[";
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    json += i == 0 ? "{" : ",{";
    for (const std::size_t column : columns) {
      json += json.back() == '{' ? "" : ",";
      append_js_text(rows.columns[column], json);
      json += ':';
      append_js_value(rows.rows[i][column], json);
    }
    json += '}';
  }
  return json + "]";
}

}  // namespace

D1Engine::D1Engine(const std::string& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.empty() ? ":memory:" : file.c_str(), &opened);
  connection_.reset(opened);
  if (code != SQLITE_OK) {
    static_cast<void>(
        std::fprintf(stderr, "cannot open the scripted D1's database: %s\n", sqlite3_errstr(code)));
    std::abort();
  }
  sqlite3_extended_result_codes(connection_.get(), 1);
  add_d1_functions(connection_.get());
  sqlite3_set_authorizer(connection_.get(), &D1Engine::authorize, this);
  constexpr int kStepsBetweenLooks = 10'000;
  sqlite3_progress_handler(connection_.get(), kStepsBetweenLooks, &D1Engine::must_stop, this);
  static_cast<void>(command("PRAGMA foreign_keys = ON"));
  static_cast<void>(command("PRAGMA recursive_triggers = OFF"));
  set_d1_limits(connection_.get());
}

int D1Engine::authorize(void* engine, int action, const char* first, const char* second,
                        const char* /*database*/, const char* /*trigger*/) {
  auto& self = *static_cast<D1Engine*>(engine);
  if (self.is_trusted_) {
    return SQLITE_OK;
  }
  if (action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT) {
    self.has_refused_transaction_ = true;
    return SQLITE_DENY;
  }
  return is_allowed_on_d1(action, first, second) ? SQLITE_OK : SQLITE_DENY;
}

int D1Engine::must_stop(void* engine) {
  const auto& self = *static_cast<D1Engine*>(engine);
  return self.is_stopped_ || std::chrono::steady_clock::now() - self.began_ > kRunMax ? 1 : 0;
}

// The error's text, or nothing.
std::string D1Engine::command(const char* sql) {
  is_trusted_ = true;
  began_ = std::chrono::steady_clock::now();
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  is_trusted_ = false;
  return code == SQLITE_OK ? std::string() : failure();
}

std::string D1Engine::failure() {
  if (std::exchange(has_refused_transaction_, false)) {
    return kNoTransactions;
  }
  if (sqlite3_errcode(connection_.get()) == SQLITE_INTERRUPT && !is_stopped_) {
    return kTimeout;
  }
  return d1_error_text(connection_.get());
}

// Ends the transaction; gives what failed, if anything did.
std::string D1Engine::end(std::string error) {
  if (error.empty()) {
    error = command("COMMIT");
  }
  if (!error.empty()) {
    static_cast<void>(command("ROLLBACK"));
  }
  return error;
}

D1Answer D1Engine::run(const std::vector<D1Statement>& statements, RowShape shape,
                       const D1Extent& extent) {
  const std::lock_guard lock(mutex_);
  D1Answer answer{.results = "[", .error = statements.empty() ? kNoStatements : ""};
  if (answer.error.empty() && extent.is_atomic) {
    answer.error = command("BEGIN IMMEDIATE");
  }
  began_ = std::chrono::steady_clock::now();
  const std::size_t count = std::min(statements.size(), extent.statements_max);
  for (std::size_t i = 0; i < count && answer.error.empty(); ++i) {
    answer.error = run_text(statements[i], shape, answer);
  }
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    answer.error = end(std::move(answer.error));
  }
  if (answer.error.empty()) {
    answer.results += ']';
    return answer;
  }
  return {.error = std::move(answer.error)};
}

// A text may hold several statements; each gives a result, but of those with values only the last.
std::string D1Engine::run_text(const D1Statement& statement, RowShape shape, D1Answer& answer) {
  std::string_view rest = without_blanks(statement.sql);
  if (rest.empty()) {
    return kNoStatements;
  }
  for (bool is_first = true; is_first || !is_only_semicolons(rest); is_first = false) {
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v2(connection_.get(), rest.data(),
                                        static_cast<int>(rest.size()), &raw, &tail);
    const Prepared prepared(raw);
    if (code != SQLITE_OK) {
      return failure();
    }
    rest.remove_prefix(static_cast<std::size_t>(tail - rest.data()));
    rest = without_blanks(rest);
    const bool is_last = is_only_semicolons(rest);
    if (raw == nullptr) {
      return kEmptyStatement;
    }
    if (!is_last && sqlite3_bind_parameter_count(raw) > 0) {
      return kOnlyTheLast;
    }
    std::string result;
    std::string error = run_piece(raw, is_last ? statement.params : Row(), shape, result, answer);
    if (!error.empty()) {
      return error;
    }
    if (is_last || statement.params.empty()) {
      answer.results += (answer.results.size() > 1 ? "," : "") + result;
    }
  }
  return {};
}

std::string D1Engine::run_piece(sqlite3_stmt* prepared, const Row& params, RowShape shape,
                                std::string& result, D1Answer& answer) {
  if (static_cast<std::size_t>(sqlite3_bind_parameter_count(prepared)) != params.size()) {
    return kWrongCount;
  }
  const std::int64_t changes_before = sqlite3_total_changes64(connection_.get());
  const std::int64_t size_before = size();
  const D1Rows rows = run_d1_statement(prepared, params);
  if (rows.code != SQLITE_DONE) {
    return failure();
  }
  const std::int64_t changes = sqlite3_total_changes64(connection_.get()) - changes_before;
  answer.rows_written += changes;
  result = R"({"success":true,"results":)" +
           (shape == RowShape::kArrays ? columns_and_rows(rows) : objects(rows)) + R"(,"meta":)" +
           meta(changes, size_before) + "}";
  return {};
}

std::string D1Engine::meta(std::int64_t changes, std::int64_t size_before) {
  const std::int64_t size_after = size();
  const std::string written = std::to_string(changes);
  std::string json = R"({"served_by":"scripted","duration":0,"changes":)" + written;
  json += R"(,"last_row_id":)";
  append_js_value(std::int64_t{sqlite3_last_insert_rowid(connection_.get())}, json);
  json += R"(,"changed_db":)";
  json += changes > 0 || size_after != size_before ? "true" : "false";
  return json + R"(,"size_after":)" + std::to_string(size_after) + R"(,"rows_read":0)" +
         R"(,"rows_written":)" + written + "}";
}

// In bytes, as D1 counts them: pages in use.
std::int64_t D1Engine::size() {
  is_trusted_ = true;
  const std::int64_t bytes = d1_size(connection_.get());
  is_trusted_ = false;
  return bytes;
}

std::string D1Engine::value(const std::string& sql) {
  const std::lock_guard lock(mutex_);
  is_trusted_ = true;
  began_ = std::chrono::steady_clock::now();
  std::string text = first_value(connection_.get(), sql);
  is_trusted_ = false;
  return text;
}

}  // namespace spillway::testing
