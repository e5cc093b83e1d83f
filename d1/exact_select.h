// SPDX-License-Identifier: MIT
//
// How a statement that reads gets exact answers.
//
// D1 answers every number as a double and every text as if it were UTF-8. So such a statement is
// put inside another one that says of each value what it is:
//
//     WITH q(c0) AS (SELECT id FROM t) SELECT CASE typeof(c0) WHEN 'integer' THEN 'i'||c0 …
//
// For that the number of columns must be known, which the text tells unless it holds a `*`. Their
// names are lost in it; a query beside it tells them. docs/facts.md, "Values from
// D1", says what was measured.
#pragma once

#include <spillway/database.h>

#include "d1/d1_encoding.h"
#include "d1/sql_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway {

/// How the values of a column are written when the statement is wrapped.
enum class CellForm : std::uint8_t {
  /// Exact, but for texts that are not UTF-8: they come with U+FFFD in them.
  kTagged,
  /// Exact for texts of any bytes, which come in hex; very long ones as an array of their bytes.
  kTaggedHex,
};

/// One for each column of a wrapped statement. Empty: the statement is asked as it is, and its
/// values come as D1 writes them: whole numbers below 2^53 are taken for integers.
using CellForms = std::vector<CellForm>;

/// More columns than this no result has. Source: sqlite.org/limits.html.
inline constexpr std::size_t kResultColumnsMax = 2'000;

/// True if the statement can be put inside another one: a SELECT, a VALUES or either with a WITH.
[[nodiscard]] bool is_wrappable(const SqlStatement& statement);

/// The number of columns as far as the text tells it. It may be wrong where a keyword is used for a
/// name; then the wrapped statement is refused, see wrong_column_count.
[[nodiscard]] std::optional<std::size_t> columns_by_text(const SqlStatement& statement);

/// `sql`, a wrappable statement, so that the values of its columns come in `forms`. `number` is
/// what a refusal for a wrong number of columns will name.
[[nodiscard]] std::string wrapped(const std::string& sql, const CellForms& forms,
                                  std::size_t number = 0);

/// What the database says when a wrapped statement has another number of columns.
struct WrongColumnCount {
  std::size_t number;   ///< Of the statement.
  std::size_t columns;  ///< That it really has.
};

/// Empty: refused for something else.
[[nodiscard]] std::optional<WrongColumnCount> wrong_column_count(const Status& status);

/// A query that gives no rows, but the columns of the statement under their own names, of at most
/// `bytes_max` bytes if that can be done. It reads nothing, unless the statement is over half as
/// long as that and materializes a subquery.
[[nodiscard]] D1Query names_query(const SqlStatement& statement, const Row& row,
                                  std::size_t bytes_max);

}  // namespace spillway
