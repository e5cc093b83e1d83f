// SPDX-License-Identifier: MIT
//
// What D1 reads and writes as JSON, in the way of its JavaScript: every number is a double, and
// text that is not UTF-8 becomes U+FFFD.
#pragma once

#include <spillway/database.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::testing {

/// A statement as D1 sees it: its numbers are doubles already, true is 1.0.
struct D1Statement {
  std::string sql;
  Row params = {};
};

/// How much of a request is carried out.
struct D1Extent {
  /// False: each statement commits by itself, and what was done before a failure stays.
  bool is_atomic = true;
  std::size_t statements_max = std::numeric_limits<std::size_t>::max();
};

/// The body of a request to /query or /raw.
struct D1Body {
  std::vector<D1Statement> statements = {};
  /// 0, or D1's code for what is wrong with the body, and its text.
  int code = 0;
  std::string error = {};
};

[[nodiscard]] D1Body parse_d1_body(std::string_view body);

/// As JavaScript prints it: 3.0 is 3, -0.0 is 0, 1e20 has no exponent; what is not finite is null.
void append_js_number(double number, std::string& out);

/// One result value. Integers go through a double, blobs become arrays of their bytes.
void append_js_value(const Value& value, std::string& out);

void append_js_text(std::string_view text, std::string& out);

}  // namespace spillway::testing
