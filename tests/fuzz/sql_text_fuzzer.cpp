// SPDX-License-Identifier: MIT
//
// Any bytes as SQL: what is said of a text holds, and SQLite agrees wherever it takes the text.
#include "d1/d1_encoding.h"
#include "d1/exact_select.h"
#include "d1/sql_text.h"
#include "d1/sql_token.h"
#include "tests/fuzz/invariant.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::fuzz {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Close>;

sqlite3* memory_database() {
  static const std::unique_ptr<sqlite3, Close> database = [] {
    sqlite3* opened = nullptr;
    require(sqlite3_open(":memory:", &opened) == SQLITE_OK, "SQLite opens");
    sqlite3_exec(opened, "CREATE TABLE t(a, b REAL, c TEXT)", nullptr, nullptr, nullptr);
    return std::unique_ptr<sqlite3, Close>(opened);
  }();
  return database.get();
}

// Only prepared, never run: the texts may say anything.
Prepared prepare(const std::string& sql, std::string_view* rest = nullptr) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  sqlite3_prepare_v2(memory_database(), sql.c_str(), static_cast<int>(sql.size()) + 1, &statement,
                     &tail);
  if (rest != nullptr && statement != nullptr) {
    *rest = tail;
  }
  return Prepared(statement);
}

bool is_blank(std::string_view sql) {
  while (!sql.empty()) {
    const SqlToken token = first_sql_token(sql);
    require(!token.text.empty(), "each token takes something of the text");
    if (token.kind != SqlTokenKind::kBlank && token.kind != SqlTokenKind::kSemicolon) {
      return false;
    }
    sql.remove_prefix(token.text.size());
  }
  return true;
}

// The pieces lie in the text in order, with nothing but blanks and semicolons around them.
void run_split(std::string_view text) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (const std::string_view piece : split_statements(text)) {
    require(piece.data() >= at && piece.data() + piece.size() <= end, "pieces lie in order");
    require(is_blank({at, static_cast<std::size_t>(piece.data() - at)}),
            "nothing is lost between pieces");
    at = piece.data() + piece.size();
  }
  require(is_blank({at, static_cast<std::size_t>(end - at)}), "nothing is lost at the end");
}

void run_parameters(const SqlStatement& statement) {
  std::size_t at = 0;
  for (const SqlParameter& parameter : statement.parameters) {
    require(parameter.begin >= at && parameter.bytes > 0, "parameters lie in order");
    at = parameter.begin + parameter.bytes;
    require(at <= statement.text.size(), "parameters lie in the text");
    require(parameter.number >= 1 && parameter.number <= statement.parameter_count,
            "each parameter has a value");
  }
}

Row row_of(std::size_t values) {
  static const std::vector<Value> given = {
      Value(),          std::int64_t{-7},    1.5,     -0.0,
      std::string("a"), std::string("\xFF"), Blob(3), std::numeric_limits<std::int64_t>::max()};
  Row row;
  row.reserve(values);
  for (std::size_t index = 0; index < values; ++index) {
    row.push_back(given[index % given.size()]);
  }
  return row;
}

std::size_t columns_of(const Prepared& prepared) {
  return static_cast<std::size_t>(sqlite3_column_count(prepared.get()));
}

// The limit on parameters leaves none for pieces; the values are small.
void run_encoded(const SqlStatement& statement) {
  const Result<D1Query> query = encode(statement, row_of(statement.parameter_count), {});
  if (!query) {
    require(query.status().code() == StatusCode::kTooBig, "values that fit are sent");
    return;
  }
  const Result<SqlStatement> again = parse_statement(query->sql);
  require(again && again->parameter_count <= statement.parameter_count,
          "what is sent takes no other values");
  require(statement.verb.empty() || again->verb == statement.verb, "what is sent is the statement");
  for (const SqlParameter& parameter : again->parameters) {
    require(query->sql[parameter.begin] == '?' && parameter.bytes > 1,
            "what is sent names its parameters by number");
  }
}

void run_wrapped(const SqlStatement& statement, const Prepared& plain) {
  const std::string outer =
      wrapped(statement.text, CellForms(columns_of(plain), CellForm::kTaggedHex));
  // A few texts are too deep or too long for SQLite once they are inside another one.
  if (const Prepared inside = prepare(outer)) {
    require(columns_of(inside) == columns_of(plain), "a wrapped statement has as many columns");
    require(sqlite3_stmt_readonly(inside.get()) != 0, "a wrapped statement reads");
  }
  const D1Query names = names_query(statement, row_of(statement.parameter_count), 100'000);
  const Prepared named = prepare(names.sql);
  require(named != nullptr, "the query for the names is SQL");
  require(columns_of(named) == columns_of(plain), "the query for the names gives each of them");
}

void run_beside_sqlite(const SqlStatement& statement) {
  if (statement.verb == "PRAGMA" || statement.verb == "EXPLAIN") {
    return;  // They may act when they are prepared, or count as what they explain.
  }
  std::string_view rest;
  const Prepared prepared = prepare(statement.text, &rest);
  if (!prepared) {
    return;
  }
  require(is_blank(rest), "SQLite sees one statement too");
  require(static_cast<std::size_t>(sqlite3_bind_parameter_count(prepared.get())) ==
              statement.parameter_count,
          "SQLite counts as many parameters");
  require(!statement.does_read_only || sqlite3_stmt_readonly(prepared.get()) != 0,
          "SQLite agrees that it only reads");
  if (is_wrappable(statement)) {
    run_wrapped(statement, prepared);
  }
}

void run(std::string_view text) {
  run_split(text);
  const Result<SqlStatement> statement = parse_statement(text);
  if (!statement) {
    require(statement.status().code() == StatusCode::kInvalidArgument,
            "a text that is refused is the caller's error");
    return;
  }
  const Result<SqlStatement> again = parse_statement(statement->text);
  require(again && again->text == statement->text, "a statement stays what it is");
  run_parameters(*statement);
  run_encoded(*statement);
  run_beside_sqlite(*statement);
}

}  // namespace
}  // namespace spillway::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  const std::string text(data, data + size);
  spillway::fuzz::run(text);
  return 0;
}
