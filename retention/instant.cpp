// SPDX-License-Identifier: MIT
#include "retention/instant.h"

namespace spillway::retention {
namespace {

// `$` stands for the column. It is never compared as it is, but through a function, `||` or unary
// plus: so neither its declared type nor its collation has a say.
//
// SQLite's date functions read far more than is meant ("now", plain numbers, several blanks, hour
// 24), see nothing after a NUL, and keep a February 30th as it is unless something is added. So the
// shape is tested here, they say whether what is left is a time, and give its whole seconds. The
// fraction is cut off after the milliseconds and never rounded up: a row is older than a cut-off in
// whole milliseconds exactly when what is left of it is.
constexpr std::string_view kInstant =
    "CASE typeof($) WHEN 'integer' THEN CASE"
    " WHEN +$ BETWEEN 631152000 AND 4102444800 THEN +$ * 1000"
    " WHEN +$ BETWEEN 631152000000 AND 4102444800000 THEN +$ END"
    " WHEN 'text' THEN CASE WHEN substr($, 1, 40) = $ || ''"
    " AND date(substr($, 1, 10), '+0 days') = substr($, 1, 10)"
    " AND (length($) = 10 OR substr($, 11, 1) IN (' ', 'T', 't')"
    " AND substr($, 12) BETWEEN '00' AND '23:9' AND substr($, 12) NOT GLOB '*[^-0-9:.+Zz]*')"
    " AND julianday(substr($, 1, 10) || ' ' || substr($, 12)) >= 2447892.5"
    " THEN strftime('%s', substr($, 1, 10) || ' ' || substr($, 12, 8)"
    " || ltrim(substr($, 20), '.0123456789')) * 1000"
    " + CAST(round(CAST('0' || substr($, 20, 4) AS REAL) * 1000) AS INTEGER) END END";

std::string for_column(std::string_view expression, std::string_view column) {
  std::string sql;
  for (const char letter : expression) {
    if (letter == '$') {
      sql += column;
    } else {
      sql += letter;
    }
  }
  return sql;
}

}  // namespace

std::string instant_sql(std::string_view column) { return for_column(kInstant, column); }

std::string class_sql(std::string_view column) {
  return "CASE " + instant_sql(column) + " > ? WHEN 1 THEN 'future' WHEN 0 THEN 'aged' ELSE " +
         for_column(
             "CASE typeof($) WHEN 'null' THEN 'null' WHEN 'integer' THEN 'unit'"
             " WHEN 'text' THEN CASE $ || '' WHEN '' THEN 'empty' ELSE 'unreadable' END"
             " ELSE 'unreadable' END END",
             column);
}

}  // namespace spillway::retention
