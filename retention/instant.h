// SPDX-License-Identifier: MIT
//
// The forms in which tables that others made hold a point in time, as SQL that gives its
// milliseconds since 1970. Pure.
//
// Read are texts `YYYY-MM-DD`, `YYYY-MM-DD HH:MM[:SS[.fraction]]` with a space or T, in upper or
// lower case, with Z, an offset or none (UTC), and integers of seconds or milliseconds, told apart
// by their size. Everything else has no instant, and a row without an instant is never deleted:
// NULL, the empty text, what is no date (a February 30th, an offset that is none), reals, blobs,
// integers of another unit, and what lies before 1990, which is hardly ever meant.
#pragma once

#include <string>
#include <string_view>

namespace spillway::retention {

/// An expression: an integer, or NULL where the value has no instant. `column` is a quoted name. It
/// holds whatever type the column is declared as.
[[nodiscard]] std::string instant_sql(std::string_view column);

/// An expression, for counting: the class of the value, one of 'null', 'empty', 'unit' (an integer
/// that is neither seconds nor milliseconds from 1990 to 2100), 'unreadable' (all else without an
/// instant), 'future' (later than the parameter ?, in milliseconds), or 'aged'. It has exactly one
/// parameter.
[[nodiscard]] std::string class_sql(std::string_view column);

}  // namespace spillway::retention
