// SPDX-License-Identifier: MIT
#include "d1/exact_select.h"

#include "base/ascii.h"
#include "d1/sql_token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace spillway {
namespace {

constexpr std::string_view kTableName = "spillway_q";

bool is_top_level_word(const SqlScanner& tokens, const SqlToken& token, std::string_view word) {
  return tokens.depth() == 0 && is_word(token, word);
}

// The number of columns.

template <std::size_t Count>
bool is_one_of(const SqlToken& token, const std::array<std::string_view, Count>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&token](std::string_view word) { return is_word(token, word); });
}

// Of a SELECT or VALUES, alone or in a compound.
bool ends_term(const SqlToken& token) {
  constexpr std::array<std::string_view, 5> kEnds = {"UNION", "INTERSECT", "EXCEPT", "ORDER",
                                                     "LIMIT"};
  return is_one_of(token, kEnds);
}

bool ends_columns(const SqlToken& token, const SqlToken& previous) {
  constexpr std::array<std::string_view, 4> kClauses = {"WHERE", "GROUP", "HAVING", "WINDOW"};
  if (is_word(token, "FROM")) {
    return !is_word(previous, "DISTINCT");  // a IS DISTINCT FROM b
  }
  return is_one_of(token, kClauses) || ends_term(token);
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

// The wrapped form.

// A name that does not occur in `sql`, so that no table of the user's is hidden by it.
std::string table_name_for(const std::string& sql, std::size_t number) {
  const std::string lower = lower_case(sql);
  std::string name = std::string(kTableName) + std::to_string(number);
  while (lower.find(name) != std::string::npos) {
    name += '_';
  }
  return name;
}

// Of a real only what JSON has no number for needs a sign.
std::string real_cell(const std::string& column) {
  return "CASE WHEN " + column + "=0 AND atan2(" + column + ",-1)<0 THEN 'z' WHEN " + column +
         "=9e999 THEN '+' WHEN " + column + "=-9e999 THEN '-' ELSE " + column + " END";
}

// Hex is twice as long as the text, and a text is limited: a very long one comes as a blob, which
// D1 writes with four characters a byte.
std::string hex_cell(const std::string& column) {
  return "CASE WHEN length(CAST(" + column + " AS BLOB))>900000 THEN CAST('t'||" + column +
         " AS BLOB) ELSE 'x'||hex(" + column + ") END";
}

// NULL stays what it is, and a blob comes as an array of bytes, as nothing else does; where texts
// do too, it has a tag.
std::string cell(const std::string& column, CellForm form) {
  const bool is_hex = form == CellForm::kTaggedHex;
  const std::string text = is_hex ? hex_cell(column) : "'t'||" + column;
  const std::string blob =
      is_hex ? " WHEN 'blob' THEN CAST('b'||" + column + " AS BLOB)" : std::string();
  return "CASE typeof(" + column + ") WHEN 'integer' THEN 'i'||" + column + " WHEN 'text' THEN " +
         text + " WHEN 'real' THEN " + real_cell(column) + blob + " ELSE " + column + " END";
}

std::optional<std::size_t> leading_number(std::string_view text) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// The query for the names.

// The first SELECT or VALUES of a statement, which gives its columns their names.
struct FirstTerm {
  std::size_t begin = 0;  // Behind WITH and its tables.
  std::size_t end = 0;    // Where UNION, ORDER or the like begins, or the statement ends.
  bool is_values = false;
};

FirstTerm first_term_of(const std::string& text) {
  SqlScanner tokens(text);
  FirstTerm term{.end = text.size()};
  bool has_begun = false;
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (tokens.depth() != 0) {
      continue;
    }
    if (has_begun && ends_term(*token)) {
      term.end = tokens.position_of(*token);
      break;
    }
    if (!has_begun && (is_word(*token, "SELECT") || is_word(*token, "VALUES"))) {
      has_begun = true;
      term.begin = tokens.position_of(*token);
      term.is_values = is_word(*token, "VALUES");
    }
  }
  return term;
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

std::string wrapped(const std::string& sql, const CellForms& forms, std::size_t number) {
  const std::string table = table_name_for(sql, number);
  std::string names;
  std::string cells;
  for (std::size_t index = 0; index < forms.size(); ++index) {
    const std::string column = "c" + std::to_string(index);
    names += (index == 0 ? "" : ",") + column;
    cells += (index == 0 ? "" : ",") + cell(column, forms[index]);
  }
  // A subquery with a LIMIT is not merged into a query that has one too, even if neither limits
  // anything. Merged, an expression would be computed several times: what is an integer for typeof
  // may then be a text for the answer.
  return "WITH " + table + "(" + names + ") AS (" + sql + ") SELECT " + cells +
         " FROM (SELECT * FROM " + table + " LIMIT -1) LIMIT -1";
}

std::optional<WrongColumnCount> wrong_column_count(const Status& status) {
  constexpr std::string_view kHas = " has ";
  const std::string_view message = status.message();
  const std::string begin = "table " + std::string(kTableName);
  const std::size_t has = message.find(kHas);
  if (!message.starts_with(begin) || has == std::string_view::npos ||
      message.find(" values for ") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = leading_number(message.substr(begin.size()));
  const auto columns = leading_number(message.substr(has + kHas.size()));
  return number && columns ? std::optional(WrongColumnCount{*number, *columns}) : std::nullopt;
}

// LIMIT 0 alone would not keep SQLite from materializing what stands behind FROM: views, tables of
// WITH that are used twice. The terms of a compound with ORDER BY are coroutines, which it does not
// begin.
D1Query names_query(const SqlStatement& statement, const Row& row, std::size_t bytes_max) {
  constexpr std::string_view kNoRows = " ORDER BY 1 LIMIT 0";
  const FirstTerm term = first_term_of(statement.text);
  D1Query query = encode_roughly(statement, row, {0, term.end}, ParameterForm::kAsItStands);
  if (term.is_values) {  // After which no LIMIT may stand.
    query.sql = "SELECT * FROM (" + query.sql + ") LIMIT 0";
    return query;
  }
  const TextRange second = {term.begin, term.end};
  const std::string again =
      " UNION ALL " + encode_roughly(statement, row, second, ParameterForm::kNumbered).sql;
  const bool does_fit = query.sql.size() + again.size() + kNoRows.size() <= bytes_max;
  query.sql += does_fit ? again + std::string(kNoRows) : " LIMIT 0";
  return query;
}

}  // namespace spillway
