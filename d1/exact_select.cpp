// SPDX-License-Identifier: MIT
#include "d1/exact_select.h"

#include "d1/ascii.h"
#include "d1/sql_token.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace spillway {
namespace {

constexpr std::string_view kTableName = "spillway_q";

bool is_top_level_word(const SqlScanner& tokens, const SqlToken& token, std::string_view word) {
  return tokens.depth() == 0 && is_word(token, word);
}

// --- the number of columns
// ------------------------------------------------------------------------

bool ends_columns(const SqlToken& token, const SqlToken& previous) {
  constexpr std::array<std::string_view, 9> kEnds = {
      "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT"};
  if (is_word(token, "FROM")) {
    return !is_word(previous, "DISTINCT");  // a IS DISTINCT FROM b
  }
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&token](std::string_view word) { return is_word(token, word); });
}

// `*` and `t.*`, not a product.
bool is_star(const SqlToken& token, const SqlToken& previous) {
  return token.text == "*" &&
         (previous.kind == SqlTokenKind::kComma || previous.text == "." ||
          is_word(previous, "SELECT") || is_word(previous, "DISTINCT") || is_word(previous, "ALL"));
}

std::optional<std::size_t> columns_of_select(SqlScanner& tokens, SqlToken previous) {
  std::size_t columns = 1;
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (tokens.depth() == 0) {
      if (is_star(*token, previous)) {
        return std::nullopt;
      }
      if (ends_columns(*token, previous)) {
        break;
      }
      columns += token->kind == SqlTokenKind::kComma ? 1U : 0U;
    }
    previous = *token;
  }
  return columns;
}

std::size_t columns_of_values(SqlScanner& tokens) {
  std::size_t columns = 1;
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (tokens.depth() == 0) {  // Closes the first row.
      break;
    }
    const bool is_between = tokens.depth() == 1 && token->kind == SqlTokenKind::kComma;
    columns += is_between ? 1U : 0U;
  }
  return columns;
}

// --- the wrapped form
// -----------------------------------------------------------------------------

// A name that does not occur in `sql`, so that no table of the user's is hidden by it.
std::string table_name_for(const std::string& sql) {
  const std::string lower = lower_case(sql);
  std::string name(kTableName);
  for (std::size_t number = 1; lower.find(name) != std::string::npos; ++number) {
    name = std::string(kTableName) + std::to_string(number);
  }
  return name;
}

// NULL stays what it is, and a blob comes as an array of bytes, as nothing else does. Of a real
// only what JSON has no number for needs a sign.
std::string cell(const std::string& column, CellForm form) {
  const std::string real = "CASE WHEN " + column + "=0 AND atan2(" + column +
                           ",-1)<0 THEN 'z' WHEN " + column + "=9e999 THEN '+' WHEN " + column +
                           "=-9e999 THEN '-' ELSE " + column + " END";
  const bool is_bytes = form == CellForm::kTaggedBytes;
  const std::string text = is_bytes ? "CAST('t'||" + column + " AS BLOB)" : "'t'||" + column;
  const std::string blob =
      is_bytes ? " WHEN 'blob' THEN CAST('b'||" + column + " AS BLOB)" : std::string();
  return "CASE typeof(" + column + ") WHEN 'integer' THEN 'i'||" + column + " WHEN 'text' THEN " +
         text + " WHEN 'real' THEN " + real + blob + " ELSE " + column + " END";
}

// --- the query for the names
// ----------------------------------------------------------------------

struct SelectEnd {
  std::size_t limit;       // Where the statement's own LIMIT begins, or its end.
  bool is_values = false;  // Its last part is VALUES, after which no LIMIT may stand.
};

SelectEnd end_of(const std::string& text) {
  SqlScanner tokens(text);
  SelectEnd end{text.size()};
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (is_top_level_word(tokens, *token, "LIMIT")) {
      end.limit = tokens.position_of(*token);
      break;
    }
    if (is_top_level_word(tokens, *token, "SELECT")) {
      end.is_values = false;
    } else if (is_top_level_word(tokens, *token, "VALUES")) {
      end.is_values = true;
    }
  }
  return end;
}

}  // namespace

bool is_wrappable(const SqlStatement& statement) {
  return statement.is_closed && (statement.verb == "SELECT" || statement.verb == "VALUES");
}

std::optional<std::size_t> columns_by_text(const SqlStatement& statement) {
  SqlScanner tokens(statement.text);
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (is_top_level_word(tokens, *token, "SELECT")) {
      return columns_of_select(tokens, *token);
    }
    if (is_top_level_word(tokens, *token, "VALUES")) {
      return columns_of_values(tokens);
    }
  }
  return std::nullopt;
}

std::string wrapped(const std::string& sql, std::size_t columns, CellForm form) {
  const std::string table = table_name_for(sql);
  std::string names;
  std::string cells;
  for (std::size_t index = 0; index < columns; ++index) {
    const std::string column = "c" + std::to_string(index);
    names += (index == 0 ? "" : ",") + column;
    cells += (index == 0 ? "" : ",") + cell(column, form);
  }
  // A subquery with a LIMIT is not merged into a query that has one too, even if neither limits
  // anything. Merged, an expression would be computed several times: what is an integer for typeof
  // may then be a text for the answer.
  return "WITH " + table + "(" + names + ") AS (" + sql + ") SELECT " + cells +
         " FROM (SELECT * FROM " + table + " LIMIT -1) LIMIT -1";
}

bool is_wrong_column_count(const Status& status) {
  const std::string_view message = status.message();
  return message.starts_with("table " + std::string(kTableName)) &&
         message.find(" values for ") != std::string_view::npos && message.ends_with(" columns");
}

D1Query names_query(const SqlStatement& statement, const Row& row) {
  const SelectEnd end = end_of(statement.text);
  D1Query query = encode_roughly(statement, row, end.limit);
  if (end.is_values) {
    query.sql = "SELECT * FROM (" + query.sql + ")";
  }
  query.sql += " LIMIT 0";
  return query;
}

}  // namespace spillway
