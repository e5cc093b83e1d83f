// SPDX-License-Identifier: MIT
//
// The tokens of an SQL text, cut where SQLite cuts them. Source: sqlite.org/lang_expr.html,
// sqlite.org/lang_keywords.html and sqlite.org/lang_comment.html.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

enum class SqlTokenKind : std::uint8_t {
  kBlank,   ///< White space or a comment.
  kWord,    ///< A keyword or an unquoted name.
  kName,    ///< "name", `name` or [name].
  kString,  ///< 'text' or x'00ff'.
  kNumber,
  kParameter,  ///< ?, ?3, :name, @name, #name or $name.
  kSemicolon,
  kOpen,   ///< (
  kClose,  ///< )
  kComma,
  kOther,  ///< Any other operator.
  /// What SQLite does not take for a token: a quote that is never closed, NUL, a lone ":".
  kIllegal,
};

struct SqlToken {
  SqlTokenKind kind;
  std::string_view text;
};

/// What `sql`, which must not be empty, begins with.
[[nodiscard]] SqlToken first_sql_token(std::string_view sql) noexcept;

/// True for the keyword `upper`, in any case of letters.
[[nodiscard]] bool is_word(const SqlToken& token, std::string_view upper) noexcept;

/// Gives the tokens of a text one by one, without the blanks.
class SqlScanner {
 public:
  /// `sql` must outlive the scanner and its tokens.
  explicit SqlScanner(std::string_view sql) noexcept : sql_(sql), rest_(sql) {}

  [[nodiscard]] std::optional<SqlToken> next() noexcept;
  /// How many parentheses are open after the last token; negative after one too many was closed.
  [[nodiscard]] int depth() const noexcept { return depth_; }
  [[nodiscard]] std::size_t position_of(const SqlToken& token) const noexcept {
    return static_cast<std::size_t>(token.text.data() - sql_.data());
  }

 private:
  std::string_view sql_;
  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace spillway
