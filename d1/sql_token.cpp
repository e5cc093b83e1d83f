// SPDX-License-Identifier: MIT
#include "d1/sql_token.h"

#include "base/ascii.h"

#include <algorithm>
#include <cstddef>

namespace spillway {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\f\r";
// Only behind other white space: at the beginning of a token it is illegal to SQLite.
constexpr std::string_view kMoreWhiteSpace = " \t\n\f\r\v";
// Which editors put before a text.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// All bytes above ASCII belong to names.
bool is_name_start(char c) noexcept {
  return is_ascii_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_name_part(char c) noexcept { return is_name_start(c) || is_ascii_digit(c) || c == '$'; }

bool is_white_space(char c) noexcept { return kMoreWhiteSpace.find(c) != std::string_view::npos; }

char at(std::string_view sql, std::size_t index) noexcept {
  return index < sql.size() ? sql[index] : '\0';
}

// The end of what begins at `from` and consists of bytes for which `is_part` holds.
template <typename Check>
std::size_t run_end(std::string_view sql, std::size_t from, Check&& is_part) noexcept {
  while (from < sql.size() && is_part(sql[from])) {
    ++from;
  }
  return from;
}

SqlToken token(SqlTokenKind kind, std::string_view sql, std::size_t bytes) noexcept {
  return {kind, sql.substr(0, bytes)};
}

SqlToken white_space(std::string_view sql) noexcept {
  return token(SqlTokenKind::kBlank, sql,
               std::min(sql.find_first_not_of(kMoreWhiteSpace), sql.size()));
}

// One that is never closed ends with the text.
SqlToken block_comment(std::string_view sql) noexcept {
  const std::size_t end = sql.find("*/", 2);
  return token(SqlTokenKind::kBlank, sql, end == std::string_view::npos ? sql.size() : end + 2);
}

SqlToken line_comment(std::string_view sql) noexcept {
  const std::size_t end = sql.find('\n');
  return token(SqlTokenKind::kBlank, sql, end == std::string_view::npos ? sql.size() : end + 1);
}

// The text from the quote at `open` on; a doubled quote stands for itself.
SqlToken quoted(SqlTokenKind kind, std::string_view sql, std::size_t open = 0) noexcept {
  const char quote = sql[open];
  for (std::size_t end = sql.find(quote, open + 1); end != std::string_view::npos;
       end = sql.find(quote, end + 2)) {
    if (at(sql, end + 1) != quote) {
      return token(kind, sql, end + 1);
    }
  }
  return token(SqlTokenKind::kIllegal, sql, sql.size());
}

SqlToken bracketed(std::string_view sql) noexcept {
  const std::size_t end = sql.find(']');
  return end == std::string_view::npos ? token(SqlTokenKind::kIllegal, sql, sql.size())
                                       : token(SqlTokenKind::kName, sql, end + 1);
}

// Whatever looks like a number: SQLite says which are none.
SqlToken number(std::string_view sql) noexcept {
  std::size_t end = 1;
  while (end < sql.size()) {
    const bool is_hex = ascii_lower(at(sql, 1)) == 'x';
    const bool is_sign = (sql[end] == '+' || sql[end] == '-') && !is_hex &&
                         ascii_lower(sql[end - 1]) == 'e' && is_ascii_digit(at(sql, end + 1));
    if (!is_name_part(sql[end]) && sql[end] != '.' && !is_sign) {
      break;
    }
    ++end;
  }
  return token(SqlTokenKind::kNumber, sql, end);
}

SqlToken numbered_parameter(std::string_view sql) noexcept {
  return token(SqlTokenKind::kParameter, sql, run_end(sql, 1, is_ascii_digit));
}

// The "(…)" that may end a name in the manner of Tcl, from its bracket on: no blank in it.
SqlToken tcl_parameter(std::string_view sql, std::size_t open) noexcept {
  const std::size_t end =
      run_end(sql, open + 1, [](char c) { return c != ')' && !is_white_space(c); });
  return at(sql, end) == ')' ? token(SqlTokenKind::kParameter, sql, end + 1)
                             : token(SqlTokenKind::kIllegal, sql, end);
}

// :name, @name, #name and $name, with "::" in it or not. #1 is for SQLite's own use.
SqlToken named_parameter(std::string_view sql) noexcept {
  bool has_name = false;
  std::size_t end = 1;
  for (; end < sql.size(); ++end) {
    if (is_name_part(sql[end])) {
      has_name = true;
    } else if (sql[end] == '(' && has_name) {
      return tcl_parameter(sql, end);
    } else if (sql[end] == ':' && at(sql, end + 1) == ':') {
      ++end;
    } else {
      break;
    }
  }
  const bool is_register = sql[0] == '#' && is_ascii_digit(at(sql, 1));
  return token(has_name && !is_register ? SqlTokenKind::kParameter : SqlTokenKind::kIllegal, sql,
               end);
}

SqlToken word(std::string_view sql) noexcept {
  if (ascii_lower(sql[0]) == 'x' && at(sql, 1) == '\'') {
    return quoted(SqlTokenKind::kString, sql, 1);
  }
  return token(SqlTokenKind::kWord, sql, run_end(sql, 1, is_name_part));
}

SqlToken operator_token(std::string_view sql) noexcept {
  constexpr std::string_view kOperators = "-+*/%=<>!|&~.,";
  const bool is_alone = sql[0] == '!' && at(sql, 1) != '=';
  const bool is_known = kOperators.find(sql[0]) != std::string_view::npos && !is_alone;
  return token(is_known ? SqlTokenKind::kOther : SqlTokenKind::kIllegal, sql, 1);
}

}  // namespace

SqlToken first_sql_token(std::string_view sql) noexcept {
  const char first = sql[0];
  if (kWhiteSpace.find(first) != std::string_view::npos) {
    return white_space(sql);
  }
  if (sql.starts_with(kByteOrderMark)) {
    return token(SqlTokenKind::kBlank, sql, kByteOrderMark.size());
  }
  if (is_name_start(first)) {
    return word(sql);
  }
  if (is_ascii_digit(first) || (first == '.' && is_ascii_digit(at(sql, 1)))) {
    return number(sql);
  }
  switch (first) {
    case '-':
      return at(sql, 1) == '-' ? line_comment(sql) : operator_token(sql);
    case '/':
      return at(sql, 1) == '*' ? block_comment(sql) : operator_token(sql);
    case '\'':
      return quoted(SqlTokenKind::kString, sql);
    case '"':
    case '`':
      return quoted(SqlTokenKind::kName, sql);
    case '[':
      return bracketed(sql);
    case '?':
      return numbered_parameter(sql);
    case ':':
    case '@':
    case '#':
    case '$':
      return named_parameter(sql);
    case ';':
      return token(SqlTokenKind::kSemicolon, sql, 1);
    case '(':
      return token(SqlTokenKind::kOpen, sql, 1);
    case ')':
      return token(SqlTokenKind::kClose, sql, 1);
    case ',':
      return token(SqlTokenKind::kComma, sql, 1);
    default:
      return operator_token(sql);
  }
}

std::optional<SqlToken> SqlScanner::next() noexcept {
  while (!rest_.empty()) {
    const SqlToken found = first_sql_token(rest_);
    rest_.remove_prefix(found.text.size());
    if (found.kind == SqlTokenKind::kOpen) {
      ++depth_;
    }
    if (found.kind == SqlTokenKind::kClose) {
      --depth_;
    }
    if (found.kind != SqlTokenKind::kBlank) {
      return found;
    }
  }
  return std::nullopt;
}

bool is_word(const SqlToken& token, std::string_view upper) noexcept {
  return token.kind == SqlTokenKind::kWord && token.text.size() == upper.size() &&
         std::equal(upper.begin(), upper.end(), token.text.begin(),
                    [](char a, char b) { return a == ascii_upper(b); });
}

}  // namespace spillway
