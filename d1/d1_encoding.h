// SPDX-License-Identifier: MIT
//
// Statements and values as D1's REST API takes them.
//
// D1 binds every JSON number as a REAL and knows neither blobs nor texts that are not UTF-8. So a
// value that would not arrive as it is goes as a text, and its place in the SQL says what to make
// of it. docs/facts.md, "Values to D1", says what was measured.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/sql_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

/// One member of a batch.
struct D1Query {
  std::string sql;
  std::string params = {};  ///< A JSON array, or empty if there are none.
};

/// The statement with the values of one row, which arrive unchanged.
///
/// kInvalidArgument: the number of values is not that of the parameters, or a number is not finite.
/// kTooBig: over one of the limits; the message names it. The text is measured as it is sent.
[[nodiscard]] Result<D1Query> encode(const SqlStatement& statement, const Row& row,
                                     const DatabaseLimits& limits);

/// A part of a statement's text.
struct TextRange {
  std::size_t begin;
  std::size_t end;
};

/// How parameters are written: `?` as it stands, which shows in the names of columns, or all by
/// number, so that the text can stand behind another one.
enum class ParameterForm : std::uint8_t { kAsItStands, kNumbered };

/// A part of the statement with values that are only roughly those of the row: for a statement
/// whose result does not matter. There are values up to the highest number before its end; those of
/// more than a kilobyte go as NULL. Named parameters go by number.
[[nodiscard]] D1Query encode_roughly(const SqlStatement& statement, const Row& row, TextRange part,
                                     ParameterForm form);

/// Source: developers.cloudflare.com/workers/platform/limits, "Request body size". What D1 itself
/// takes is not documented.
inline constexpr std::size_t kBodyBytesMax = 100'000'000;

/// The body of a request that runs queries in one transaction.
class BatchBody {
 public:
  void add(std::string_view sql, std::string_view params);
  [[nodiscard]] std::string json() &&;

 private:
  std::string json_ = R"({"batch":[)";
};

}  // namespace spillway
