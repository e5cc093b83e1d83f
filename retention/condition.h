// SPDX-License-Identifier: MIT
//
// Condition: a piece of a WHERE clause with the values of its parameters, in order. Pure.
#pragma once

#include <spillway/database.h>

#include <string>
#include <utility>

namespace spillway::retention {

struct Condition {
  std::string sql;
  Row values = {};

  /// Both must hold.
  [[nodiscard]] Condition and_also(const Condition& other) const {
    Condition both{"(" + sql + ") AND (" + other.sql + ")", values};
    both.values.insert(both.values.end(), other.values.begin(), other.values.end());
    return both;
  }
  /// One of both must hold. Nothing so far: the other.
  [[nodiscard]] Condition or_also(const Condition& other) const {
    if (sql.empty()) {
      return other;
    }
    Condition either{"(" + sql + ") OR (" + other.sql + ")", values};
    either.values.insert(either.values.end(), other.values.begin(), other.values.end());
    return either;
  }
};

/// A statement of one parameter row, none where there are no values.
[[nodiscard]] inline Statement statement_of(std::string sql, Row values) {
  Statement statement{std::move(sql)};
  if (!values.empty()) {
    statement.rows.push_back(std::move(values));
  }
  return statement;
}

}  // namespace spillway::retention
