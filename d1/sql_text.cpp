// SPDX-License-Identifier: MIT
#include "d1/sql_text.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "d1/invalid_argument.h"
#include "d1/sql_token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

namespace spillway {
namespace {

// SQLite's own; what a database takes is less. Source: sqlite.org/limits.html.
constexpr std::size_t kParameterNumberMax = 32'766;

// Where a statement ends.

// Tells which ";" ends a statement. Within a trigger it is the one after "; END", as
// sqlite3_complete has it: the body's statements end with ";" too.
class EndFinder {
 public:
  [[nodiscard]] bool ends_with(const SqlToken& token) {
    const bool is_semicolon = token.kind == SqlTokenKind::kSemicolon;
    const bool is_end = is_semicolon && (state_ != State::kTrigger || is_after_end_);
    is_after_end_ = is_after_semicolon_ && is_word(token, "END");
    is_after_semicolon_ = is_semicolon;
    advance(token);
    if (is_end) {
      *this = EndFinder();
    }
    return is_end;
  }

 private:
  enum class State { kStart, kExplain, kCreate, kTrigger, kOther };

  void advance(const SqlToken& token) {
    if (state_ == State::kStart && token.kind != SqlTokenKind::kSemicolon) {
      state_ = is_word(token, "EXPLAIN") ? State::kExplain : after_explain(token);
    } else if (state_ == State::kExplain && !is_word(token, "QUERY") && !is_word(token, "PLAN")) {
      state_ = after_explain(token);
    } else if (state_ == State::kCreate && !is_word(token, "TEMP") &&
               !is_word(token, "TEMPORARY")) {
      state_ = is_word(token, "TRIGGER") ? State::kTrigger : State::kOther;
    }
  }
  static State after_explain(const SqlToken& token) {
    return is_word(token, "CREATE") ? State::kCreate : State::kOther;
  }

  State state_ = State::kStart;
  bool is_after_semicolon_ = false;
  bool is_after_end_ = false;
};

// What it does.

bool is_any_word(const SqlToken& token, auto words) {
  return std::any_of(words.begin(), words.end(),
                     [&token](std::string_view word) { return is_word(token, word); });
}

// The word after the tables of a WITH clause. They may be called anything that is not reserved,
// REPLACE for instance.
std::string verb_after_with(SqlScanner& tokens) {
  constexpr std::array<std::string_view, 5> kReserved = {"SELECT", "VALUES", "INSERT", "UPDATE",
                                                         "DELETE"};
  std::optional<SqlToken> previous;
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (tokens.depth() == 0 && is_any_word(*token, kReserved)) {
      return upper_case(token->text);
    }
    if (previous && is_word(*token, "INTO") && is_word(*previous, "REPLACE")) {
      return "REPLACE";
    }
    previous = token;
  }
  return "WITH";
}

// Without a value these only ask. Others may act (optimize, journal_mode, those of an encryption
// extension). Source: sqlite.org/pragma.html.
constexpr std::array<std::string_view, 40> kAskingPragmas = {
    "ANALYSIS_LIMIT",       "APPLICATION_ID",     "AUTO_VACUUM",        "AUTOMATIC_INDEX",
    "BUSY_TIMEOUT",         "CACHE_SIZE",         "CACHE_SPILL",        "CELL_SIZE_CHECK",
    "CHECKPOINT_FULLFSYNC", "COLLATION_LIST",     "COMPILE_OPTIONS",    "DATA_VERSION",
    "DATABASE_LIST",        "DEFER_FOREIGN_KEYS", "ENCODING",           "FOREIGN_KEYS",
    "FREELIST_COUNT",       "FULLFSYNC",          "HARD_HEAP_LIMIT",    "JOURNAL_SIZE_LIMIT",
    "LEGACY_ALTER_TABLE",   "LOCKING_MODE",       "MAX_PAGE_COUNT",     "MMAP_SIZE",
    "MODULE_LIST",          "PAGE_COUNT",         "PAGE_SIZE",          "PRAGMA_LIST",
    "QUERY_ONLY",           "READ_UNCOMMITTED",   "RECURSIVE_TRIGGERS", "REVERSE_UNORDERED_SELECTS",
    "SCHEMA_VERSION",       "SECURE_DELETE",      "SOFT_HEAP_LIMIT",    "SYNCHRONOUS",
    "TEMP_STORE",           "TRUSTED_SCHEMA",     "USER_VERSION",       "WAL_AUTOCHECKPOINT"};

// These only ask with a value in parentheses as well, and say by it about what.
constexpr std::array<std::string_view, 11> kAskingAboutPragmas = {
    "TABLE_INFO",  "TABLE_XINFO",     "TABLE_LIST",       "INDEX_LIST",
    "INDEX_INFO",  "INDEX_XINFO",     "FOREIGN_KEY_LIST", "FOREIGN_KEY_CHECK",
    "QUICK_CHECK", "INTEGRITY_CHECK", "FUNCTION_LIST"};

// PRAGMA name, PRAGMA name = value, PRAGMA name(value), with a schema before the name or not. In
// quotes it is the same name to SQLite, but not to us.
bool is_asking_pragma(SqlScanner& tokens) {
  std::optional<SqlToken> name = tokens.next();
  std::optional<SqlToken> after = tokens.next();
  if (after && after->text == ".") {
    name = tokens.next();
    after = tokens.next();
  }
  if (!name || name->kind != SqlTokenKind::kWord) {
    return false;
  }
  const bool is_about = is_any_word(*name, kAskingAboutPragmas);
  return after ? is_about && after->kind == SqlTokenKind::kOpen
               : is_about || is_any_word(*name, kAskingPragmas);
}

// EXPLAIN runs nothing, but a PRAGMA may act when it is prepared.
bool is_explain_harmless(SqlScanner& tokens) {
  std::optional<SqlToken> token = tokens.next();
  while (token && (is_word(*token, "QUERY") || is_word(*token, "PLAN"))) {
    token = tokens.next();
  }
  return token && (!is_word(*token, "PRAGMA") || is_asking_pragma(tokens));
}

// `SELECT * FROM pragma_optimize` does what the PRAGMA does, and no other such table acts. As a
// word, or in any kind of quotes, the name is spelt out.
bool may_optimize(const SqlStatement& statement) {
  return upper_case(statement.text).find("PRAGMA_OPTIMIZE") != std::string::npos;
}

bool is_transaction_verb(std::string_view verb) {
  constexpr std::array<std::string_view, 6> kVerbs = {"BEGIN",    "COMMIT",    "END",
                                                      "ROLLBACK", "SAVEPOINT", "RELEASE"};
  return std::find(kVerbs.begin(), kVerbs.end(), verb) != kVerbs.end();
}

void find_what_it_does(SqlStatement& statement) {
  SqlScanner tokens(statement.text);
  const std::optional<SqlToken> first = tokens.next();
  if (!first || first->kind != SqlTokenKind::kWord) {
    return;
  }
  const std::string word = upper_case(first->text);
  statement.verb = word == "WITH" ? verb_after_with(tokens) : word;
  statement.controls_transaction = is_transaction_verb(word);
  const bool is_query = statement.verb == "SELECT" || statement.verb == "VALUES";
  const bool does_only_read = (is_query && !may_optimize(statement)) ||
                              (word == "PRAGMA" && is_asking_pragma(tokens)) ||
                              (word == "EXPLAIN" && is_explain_harmless(tokens));
  // Where something is left open, databases may differ in what they make of the text.
  statement.does_read_only = does_only_read && statement.is_closed;
}

void find_whether_closed(SqlStatement& statement) {
  SqlScanner tokens(statement.text);
  bool is_sound = true;
  while (const std::optional<SqlToken> token = tokens.next()) {
    is_sound = is_sound && token->kind != SqlTokenKind::kIllegal && tokens.depth() >= 0;
  }
  statement.is_closed = is_sound && tokens.depth() == 0;
}

// Parameters.

class ParameterNumbers {
 public:
  /// 0: not possible.
  [[nodiscard]] std::size_t number_of(std::string_view text) {
    const std::size_t number = text == "?" ? highest_ + 1 : given(text);
    if (number > kParameterNumberMax) {
      return 0;
    }
    highest_ = std::max(highest_, number);
    return number;
  }
  [[nodiscard]] std::size_t highest() const { return highest_; }

 private:
  [[nodiscard]] std::size_t given(std::string_view text) {
    return text[0] == '?' ? written(text.substr(1)) : named(text);
  }
  static std::size_t written(std::string_view digits) {
    std::size_t number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return parsed.ec == std::errc() ? number : kParameterNumberMax + 1;
  }
  [[nodiscard]] std::size_t named(std::string_view name) {
    return names_.try_emplace(name, highest_ + 1).first->second;
  }

  std::size_t highest_ = 0;
  std::unordered_map<std::string_view, std::size_t> names_;
};

Status find_parameters(SqlStatement& statement) {
  SqlScanner tokens(statement.text);
  ParameterNumbers numbers;
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (token->kind != SqlTokenKind::kParameter) {
      continue;
    }
    const std::size_t number = numbers.number_of(token->text);
    if (number == 0) {
      return invalid_argument("parameter " + std::string(token->text.substr(0, 20)) +
                              " is not between ?1 and ?" + std::to_string(kParameterNumberMax));
    }
    statement.parameters.push_back({tokens.position_of(*token), token->text.size(), number});
  }
  statement.parameter_count = numbers.highest();
  return {};
}

// The text.

// Any number of CR before LF: what is left must not hold CR LF again.
void append_with_lf(std::string_view blank, std::string& out) {
  std::size_t returns = 0;
  for (const char c : blank) {
    if (c == '\r') {
      ++returns;
      continue;
    }
    out.append(c == '\n' ? 0 : returns, '\r');
    out += c;
    returns = 0;
  }
  out.append(returns, '\r');
}

std::string with_lf(std::string_view sql) {
  std::string text;
  text.reserve(sql.size());
  while (!sql.empty()) {
    const SqlToken token = first_sql_token(sql);
    if (token.kind == SqlTokenKind::kBlank) {
      append_with_lf(token.text, text);
    } else {
      text += token.text;
    }
    sql.remove_prefix(token.text.size());
  }
  return text;
}

}  // namespace

std::vector<std::string_view> split_statements(std::string_view text) {
  std::vector<std::string_view> statements;
  SqlScanner tokens(text);
  EndFinder ends;
  std::string_view statement;
  const auto keep = [&] {
    if (!statement.empty()) {
      statements.push_back(std::exchange(statement, {}));
    }
  };
  while (const std::optional<SqlToken> token = tokens.next()) {
    if (ends.ends_with(*token)) {
      keep();
      continue;
    }
    const char* const begin = statement.empty() ? token->text.data() : statement.data();
    const char* const end = token->text.data() + token->text.size();
    statement = {begin, static_cast<std::size_t>(end - begin)};
  }
  keep();
  return statements;
}

Result<SqlStatement> parse_statement(std::string_view sql) {
  if (sql.find('\0') != std::string_view::npos) {
    return invalid_argument("the SQL text holds NUL");
  }
  if (!is_valid_utf8(sql)) {
    return invalid_argument("the SQL text is not UTF-8");
  }
  const std::vector<std::string_view> statements = split_statements(sql);
  if (statements.size() != 1) {
    return invalid_argument(statements.empty() ? "no SQL statement in the text"
                                               : "more than one SQL statement in one text");
  }
  SqlStatement statement{.text = with_lf(statements.front()), .verb = {}};
  find_whether_closed(statement);
  find_what_it_does(statement);
  if (Status status = find_parameters(statement); !status.is_ok()) {
    return status;
  }
  return statement;
}

}  // namespace spillway
