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
// names are lost in it; the same statement with LIMIT 0 tells them. docs/facts.md, "Values from
// D1", says what was measured.
#pragma once

#include <spillway/database.h>

#include "d1/d1_encoding.h"
#include "d1/sql_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace spillway {

/// How the values of a result are written.
enum class CellForm : std::uint8_t {
  kPlain,  ///< As D1 writes them: whole numbers below 2^53 are taken for integers.
  /// Exact, but for texts that are not UTF-8: they come with U+FFFD in them.
  kTagged,
  /// Exact for texts of any bytes; four times as long.
  kTaggedBytes,
};

/// True if the statement can be put inside another one: a SELECT, a VALUES or either with a WITH.
[[nodiscard]] bool is_wrappable(const SqlStatement& statement);

/// The number of columns as far as the text tells it. It may be wrong where a keyword is used for a
/// name; then the wrapped statement is refused, see is_wrong_column_count.
[[nodiscard]] std::optional<std::size_t> columns_by_text(const SqlStatement& statement);

/// `sql`, a wrappable statement of `columns` columns, so that the values come in `form`.
[[nodiscard]] std::string wrapped(const std::string& sql, std::size_t columns, CellForm form);

/// True if a wrapped statement was refused because it has another number of columns.
[[nodiscard]] bool is_wrong_column_count(const Status& status);

/// A query that gives no rows, but the columns of the statement under their own names. It reads
/// next to nothing.
[[nodiscard]] D1Query names_query(const SqlStatement& statement, const Row& row);

}  // namespace spillway
