// SPDX-License-Identifier: MIT
//
// What can be said about an SQL text without a database: where statements end, what a statement
// does, where its parameters are. Only what the tokens say for certain; whether the text is SQL at
// all, the database tells. Pure.
#pragma once

#include <spillway/status.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// A place in the text where a value goes.
struct SqlParameter {
  std::size_t begin;
  std::size_t bytes;
  std::size_t number;  ///< Which value, from 1, by SQLite's rules: see sqlite.org/lang_expr.html.
};

struct SqlStatement {
  /// Exactly one statement: without what is blank, a comment or ";" at its ends, and with LF for
  /// CR LF outside of quotes, which D1 does not take everywhere.
  std::string text;
  /// What it does, in upper case: its first word, or the one that follows a WITH clause.
  std::string verb;
  /// True: it cannot change the database. Certain for SELECT, VALUES, WITH, EXPLAIN and the PRAGMAs
  /// that are known to only ask; all else counts as writing, and so does what is not closed.
  bool does_read_only = false;
  /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT or RELEASE.
  bool controls_transaction = false;
  /// No quote is left open and every parenthesis has its other one, so that the text can stand
  /// inside another one.
  bool is_closed = false;
  /// In the order of the text; a number may come more than once.
  std::vector<SqlParameter> parameters = {};
  /// How many values it takes: the highest number.
  std::size_t parameter_count = 0;
};

/// Values are given by number, named parameters too (the first new name takes the next number), as
/// SqliteDatabase does it.
///
/// kInvalidArgument: `sql` holds no statement, more than one, NUL, bytes that are not UTF-8, or a
/// parameter that has no possible number.
[[nodiscard]] Result<SqlStatement> parse_statement(std::string_view sql);

/// The statements of a text, each without blanks, comments and ";" at its ends; pieces that hold
/// nothing else are left out. CREATE TRIGGER … BEGIN … END is one. They point into `text`.
[[nodiscard]] std::vector<std::string_view> split_statements(std::string_view text);

}  // namespace spillway
