// SPDX-License-Identifier: MIT
#include "tests/support/d1_sqlite.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace spillway::testing {
namespace {

constexpr int kPrimaryMask = 0xff;  // An extended code keeps its primary code in the low byte.

using CodeName = std::pair<int, std::string_view>;

constexpr CodeName kCodeNames[] = {
    {SQLITE_ERROR, "SQLITE_ERROR"},
    {SQLITE_INTERNAL, "SQLITE_INTERNAL"},
    {SQLITE_PERM, "SQLITE_PERM"},
    {SQLITE_ABORT, "SQLITE_ABORT"},
    {SQLITE_BUSY, "SQLITE_BUSY"},
    {SQLITE_LOCKED, "SQLITE_LOCKED"},
    {SQLITE_NOMEM, "SQLITE_NOMEM"},
    {SQLITE_READONLY, "SQLITE_READONLY"},
    {SQLITE_INTERRUPT, "SQLITE_INTERRUPT"},
    {SQLITE_IOERR, "SQLITE_IOERR"},
    {SQLITE_CORRUPT, "SQLITE_CORRUPT"},
    {SQLITE_FULL, "SQLITE_FULL"},
    {SQLITE_CANTOPEN, "SQLITE_CANTOPEN"},
    {SQLITE_SCHEMA, "SQLITE_SCHEMA"},
    {SQLITE_TOOBIG, "SQLITE_TOOBIG"},
    {SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"},
    {SQLITE_MISMATCH, "SQLITE_MISMATCH"},
    {SQLITE_MISUSE, "SQLITE_MISUSE"},
    {SQLITE_AUTH, "SQLITE_AUTH"},
    {SQLITE_RANGE, "SQLITE_RANGE"},
    {SQLITE_NOTADB, "SQLITE_NOTADB"},
    {SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"},
    {SQLITE_CONSTRAINT_DATATYPE, "SQLITE_CONSTRAINT_DATATYPE"},
    {SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY"},
    {SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"},
    {SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"},
    {SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID"},
    {SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER"},
    {SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"},
};

std::string name_of(int code) {
  const auto* const found =
      std::find_if(std::begin(kCodeNames), std::end(kCodeNames),
                   [code](const CodeName& name) { return name.first == code; });
  return found == std::end(kCodeNames) ? "SQLITE_" + std::to_string(code)
                                       : std::string(found->second);
}

constexpr std::string_view kPragmas[] = {
    "case_sensitive_like",
    "data_version",
    "defer_foreign_keys",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "index_info",
    "index_list",
    "index_xinfo",
    "legacy_alter_table",
    "optimize",
    "quick_check",
    "recursive_triggers",
    "table_info",
    "table_list",
    "table_xinfo",
    "ignore_check_constraints",
};

constexpr std::string_view kRefusedFunctions[] = {
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_source_id",
    "sqlite_version",
};

constexpr int kRefusedActions[] = {
    SQLITE_ATTACH,
    SQLITE_DETACH,
    SQLITE_CREATE_TEMP_INDEX,
    SQLITE_CREATE_TEMP_TABLE,
    SQLITE_CREATE_TEMP_TRIGGER,
    SQLITE_CREATE_TEMP_VIEW,
    SQLITE_DROP_TEMP_INDEX,
    SQLITE_DROP_TEMP_TABLE,
    SQLITE_DROP_TEMP_TRIGGER,
    SQLITE_DROP_TEMP_VIEW,
};

template <typename Items, typename Item>
bool is_among(const Items& items, const Item& item) {
  return std::find(std::begin(items), std::end(items), item) != std::end(items);
}

bool is_internal(const char* name) {
  return name != nullptr && std::string_view(name).starts_with("_cf_");
}

std::optional<unsigned> digit_of(unsigned char letter) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto lower = static_cast<char>(letter >= 'A' && letter <= 'F' ? letter + 32 : letter);
  const std::size_t at = kDigits.find(lower);
  return at == std::string_view::npos ? std::nullopt : std::optional(static_cast<unsigned>(at));
}

// NULL for what is not pairs of hexadecimal digits, as SQLite's own has it.
void unhex(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const auto* text = sqlite3_value_text(arguments[0]);
  const auto bytes = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
  if (text == nullptr || bytes % 2 != 0) {
    return;
  }
  std::string blob;
  for (std::size_t i = 0; i < bytes; i += 2) {
    const std::optional<unsigned> high = digit_of(text[i]);
    const std::optional<unsigned> low = digit_of(text[i + 1]);
    if (!high || !low) {
      return;
    }
    blob += static_cast<char>(*high * 16 + *low);
  }
  sqlite3_result_blob64(context, blob.data(), blob.size(), SQLITE_TRANSIENT);
}

struct Binder {
  sqlite3_stmt* statement;
  int parameter;

  int operator()(std::monostate) const { return sqlite3_bind_null(statement, parameter); }
  // D1 binds no integers: see D1Statement.
  int operator()(std::int64_t) const { std::abort(); }
  int operator()(double number) const { return sqlite3_bind_double(statement, parameter, number); }
  int operator()(const std::string& text) const {
    return sqlite3_bind_text64(statement, parameter, text.data(), text.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int operator()(const Blob& blob) const {
    // An empty vector may have no memory, and a null pointer would bind NULL.
    const void* data = blob.empty() ? "" : static_cast<const void*>(blob.data());
    return sqlite3_bind_blob64(statement, parameter, data, blob.size(), SQLITE_STATIC);
  }
};

int bind(sqlite3_stmt* prepared, const Row& params) {
  int parameter = 0;
  for (const Value& value : params) {
    const int code = std::visit(Binder{prepared, ++parameter}, value);
    if (code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

Value column_value(sqlite3_stmt* prepared, int column) {
  const int type = sqlite3_column_type(prepared, column);
  if (type == SQLITE_NULL) {
    return std::monostate();
  }
  if (type == SQLITE_INTEGER) {
    return std::int64_t{sqlite3_column_int64(prepared, column)};
  }
  if (type == SQLITE_FLOAT) {
    return sqlite3_column_double(prepared, column);
  }
  const auto* data = static_cast<const char*>(sqlite3_column_blob(prepared, column));
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(prepared, column));
  const std::string_view text(data == nullptr ? "" : data, bytes);
  if (type == SQLITE_TEXT) {
    return std::string(text);
  }
  Blob blob(bytes);
  std::transform(text.begin(), text.end(), blob.begin(),
                 [](char byte) { return static_cast<std::byte>(byte); });
  return blob;
}

Row row_of(sqlite3_stmt* prepared) {
  Row row;
  for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
    row.push_back(column_value(prepared, column));
  }
  return row;
}

int keep_first(void* text, int /*count*/, char** values, char** /*names*/) {
  *static_cast<std::string*>(text) = values[0] == nullptr ? "NULL" : values[0];
  return 1;  // Enough.
}

}  // namespace

void set_d1_limits(sqlite3* connection) {
  constexpr std::pair<int, int> kLimits[] = {
      {SQLITE_LIMIT_ATTACHED, 0},
      {SQLITE_LIMIT_COLUMN, 100},
      {SQLITE_LIMIT_COMPOUND_SELECT, 5},
      {SQLITE_LIMIT_EXPR_DEPTH, 100},
      {SQLITE_LIMIT_FUNCTION_ARG, 127},
      {SQLITE_LIMIT_LENGTH, 2'000'000},
      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
      {SQLITE_LIMIT_SQL_LENGTH, 100'000},
      {SQLITE_LIMIT_TRIGGER_DEPTH, 10},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
      {SQLITE_LIMIT_VDBE_OP, 25'000},
  };
  for (const auto& [limit, value] : kLimits) {
    sqlite3_limit(connection, limit, value);
  }
}

void add_d1_functions(sqlite3* connection) {
  sqlite3_create_function(connection, "unhex", 1,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr, &unhex,
                          nullptr, nullptr);
}

bool is_allowed_on_d1(int action, const char* first, const char* second) {
  switch (action) {
    case SQLITE_PRAGMA:
      return is_among(kPragmas, std::string_view(first));
    case SQLITE_FUNCTION:
      return !is_among(kRefusedFunctions, std::string_view(second));
    default:
      return !is_among(kRefusedActions, action) && !is_internal(first);
  }
}

D1Rows run_d1_statement(sqlite3_stmt* prepared, const Row& params) {
  D1Rows rows{.code = bind(prepared, params)};
  if (rows.code != SQLITE_OK) {
    return rows;
  }
  for (rows.code = sqlite3_step(prepared); rows.code == SQLITE_ROW;
       rows.code = sqlite3_step(prepared)) {
    rows.rows.push_back(row_of(prepared));
  }
  for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
    rows.columns.emplace_back(sqlite3_column_name(prepared, column));
  }
  return rows;
}

std::string d1_error_text(sqlite3* connection) {
  const int code = sqlite3_extended_errcode(connection);
  const int primary = code & kPrimaryMask;
  std::string text = primary == SQLITE_BUSY ? "NOSENTRY " : "";
  text += sqlite3_errmsg(connection);
  if (const int offset = sqlite3_error_offset(connection); offset >= 0) {
    text += " at offset " + std::to_string(offset);
  }
  text += ": " + name_of(primary);
  return code == primary ? text : text + " (extended: " + name_of(code) + ")";
}

std::int64_t d1_size(sqlite3* connection) {
  const std::string bytes =
      first_value(connection,
                  "SELECT (page_count - freelist_count) * page_size "
                  "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
  return std::strtoll(bytes.c_str(), nullptr, 10);
}

std::string first_value(sqlite3* connection, const std::string& sql) {
  std::string text = "none";
  const int code = sqlite3_exec(connection, sql.c_str(), &keep_first, &text, nullptr);
  return code == SQLITE_OK || code == SQLITE_ABORT ? text : sqlite3_errmsg(connection);
}

}  // namespace spillway::testing
