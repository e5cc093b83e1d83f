// SPDX-License-Identifier: MIT
#include "d1/d1_encoding.h"

#include "base/ascii.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "d1/statement_refusal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace spillway {
namespace {

// The largest text that encode_roughly passes on.
constexpr std::size_t kRoughBytesMax = 1'000;

Status too_big(const std::string& what, std::size_t count, const char* unit, std::size_t limit) {
  return {StatusCode::kTooBig,
          what + std::to_string(count) + unit + ", and the limit is " + std::to_string(limit)};
}

std::string_view bytes_of(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};  // NOLINT: bytes are bytes
}

std::size_t size_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return text->size();
  }
  const auto* blob = std::get_if<Blob>(&value);
  return blob == nullptr ? 0 : blob->size();
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 0xF];
  }
  return hex;
}

Status check_value(const Value& value, std::size_t number, const DatabaseLimits& limits) {
  const double* real = std::get_if<double>(&value);
  if (real != nullptr && !std::isfinite(*real)) {
    return not_finite(number);
  }
  return size_of(value) <= limits.value_bytes_max
             ? Status()
             : too_big("value " + std::to_string(number) + " has ", size_of(value), " bytes",
                       limits.value_bytes_max);
}

// Only a row of a table is limited as a whole, and what becomes of the values the database knows.
Status check_row(const Row& row, const DatabaseLimits& limits) {
  for (std::size_t index = 0; index < row.size(); ++index) {
    if (Status status = check_value(row[index], index + 1, limits); !status.is_ok()) {
      return status;
    }
  }
  return {};
}

Status check_sql(const D1Query& query, const SqlStatement& statement,
                 const DatabaseLimits& limits) {
  const bool is_rewritten = query.sql.size() != statement.text.size();
  return query.sql.size() <= limits.sql_bytes_max
             ? Status()
             : too_big("the SQL text has ", query.sql.size(),
                       is_rewritten ? " bytes with the casts of its parameters" : " bytes",
                       limits.sql_bytes_max);
}

// Turns the values of a row into JSON and into what stands for them in the SQL.
class RowEncoder {
 public:
  RowEncoder(const Row& row, const DatabaseLimits& limits)
      : limits_(limits), next_number_(row.size() + 1) {
    writer_.begin_array();
    places_.reserve(row.size());
    for (const Value& value : row) {
      number_ = places_.size() + 1;
      places_.push_back(std::visit([this](const auto& each) { return place(each); }, value));
    }
    for (const std::string& more : pieces_) {
      writer_.value(more);
    }
    writer_.end_array();
  }

  /// What stands for parameter `number`.
  [[nodiscard]] const std::string& place_of(std::size_t number) const {
    return places_[number - 1];
  }
  [[nodiscard]] std::size_t parameters() const { return next_number_ - 1; }
  [[nodiscard]] std::string params() && { return std::move(json_); }

 private:
  [[nodiscard]] static std::string reference(std::size_t number) {
    return "?" + std::to_string(number);
  }

  [[nodiscard]] std::string place(std::monostate) {
    writer_.null();
    return reference(number_);
  }
  // The plus takes away the affinity that CAST gives and a parameter has not: else a comparison
  // with a text would turn the text into a number.
  [[nodiscard]] std::string place(std::int64_t integer) {
    writer_.value(std::to_string(integer));
    return "(+CAST(" + reference(number_) + " AS INTEGER))";
  }
  [[nodiscard]] std::string place(double real) {
    const bool loses_sign = real == 0 && std::signbit(real);
    writer_.value(loses_sign ? 0.0 : real);
    return loses_sign ? "(" + reference(number_) + "*-1.0)" : reference(number_);
  }
  [[nodiscard]] std::string place(const std::string& text) {
    if (!is_valid_utf8(text)) {
      return "(+CAST(" + unhexed(text) + " AS TEXT))";
    }
    writer_.value(text);
    return reference(number_);
  }
  [[nodiscard]] std::string place(const Blob& blob) {
    const std::string_view bytes = bytes_of(blob);
    const std::string binary = unhexed(bytes);
    return bytes.size() <= piece_bytes() ? binary : "(+CAST(" + binary + " AS BLOB))";
  }

  // A text is limited like a blob, and in hex it is twice as long: a large one comes in pieces.
  [[nodiscard]] std::size_t piece_bytes() const {
    return std::max<std::size_t>(limits_.value_bytes_max / 2, 1);
  }
  [[nodiscard]] std::string unhexed(std::string_view bytes) {
    writer_.value(hex_of(bytes.substr(0, piece_bytes())));
    std::string place = "unhex(" + reference(number_) + ")";
    while (bytes.size() > piece_bytes()) {
      bytes.remove_prefix(piece_bytes());
      pieces_.push_back(hex_of(bytes.substr(0, piece_bytes())));
      place += "||unhex(" + reference(next_number_++) + ")";
    }
    return place;
  }

  const DatabaseLimits& limits_;
  std::string json_;
  JsonWriter writer_{json_};
  std::vector<std::string> places_;
  std::vector<std::string> pieces_;  // Further parameters, behind those of the row.
  std::size_t number_ = 0;           // Of the value at hand.
  std::size_t next_number_;
};

// "LIKE?" is two tokens, and "LIKEunhex(?1)" would be one.
void append_apart(std::string_view place, std::string& sql) {
  constexpr std::string_view kEndsToken = " \t\r\n\f(),;=<>+-*/%|&~";
  const bool is_apart =
      place.front() == '?' || sql.empty() || kEndsToken.find(sql.back()) != std::string_view::npos;
  sql += is_apart ? "" : " ";
  sql += place;
}

// A part of the text with each parameter replaced by what `place_of` says.
template <typename PlaceOf>
std::string with_places(const SqlStatement& statement, TextRange part, PlaceOf&& place_of) {
  std::string sql;
  std::size_t kept = part.begin;
  for (const SqlParameter& parameter : statement.parameters) {
    if (parameter.begin < part.begin || parameter.begin >= part.end) {
      continue;
    }
    sql.append(statement.text, kept, parameter.begin - kept);
    append_apart(place_of(parameter), sql);
    kept = parameter.begin + parameter.bytes;
    // $a(b)3 is two tokens, and ?13 would be one.
    sql += kept < part.end && is_ascii_digit(statement.text[kept]) ? " " : "";
  }
  return sql.append(statement.text, kept, part.end - kept);
}

std::size_t highest_number(const SqlStatement& statement, std::size_t end) {
  std::size_t highest = 0;
  for (const SqlParameter& parameter : statement.parameters) {
    highest = parameter.begin < end ? std::max(highest, parameter.number) : highest;
  }
  return highest;
}

void write_roughly(const Value& value, JsonWriter& writer) {
  const auto* text = std::get_if<std::string>(&value);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    writer.value(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    writer.value(*real);
  } else if (text != nullptr && text->size() <= kRoughBytesMax && is_valid_utf8(*text)) {
    writer.value(*text);
  } else {
    writer.null();
  }
}

}  // namespace

Result<D1Query> encode(const SqlStatement& statement, const Row& row,
                       const DatabaseLimits& limits) {
  if (statement.parameter_count != row.size()) {
    return wrong_value_count(statement.parameter_count, row.size());
  }
  if (Status status = check_row(row, limits); !status.is_ok()) {
    return status;
  }
  RowEncoder values(row, limits);
  if (values.parameters() > limits.parameters_max) {
    return too_big("the statement has ", values.parameters(), " parameters", limits.parameters_max);
  }
  D1Query query{with_places(
      statement, {0, statement.text.size()},
      [&](const SqlParameter& parameter) { return values.place_of(parameter.number); })};
  if (Status status = check_sql(query, statement, limits); !status.is_ok()) {
    return status;
  }
  if (!row.empty()) {
    query.params = std::move(values).params();
  }
  return query;
}

D1Query encode_roughly(const SqlStatement& statement, const Row& row, TextRange part,
                       ParameterForm form) {
  D1Query query{with_places(statement, part, [&](const SqlParameter& parameter) {
    const std::string written = statement.text.substr(parameter.begin, parameter.bytes);
    const bool is_kept = written[0] == '?' && form == ParameterForm::kAsItStands;
    return is_kept ? written : "?" + std::to_string(parameter.number);
  })};
  const std::size_t count = highest_number(statement, part.end);
  if (count > 0) {
    JsonWriter writer(query.params);
    writer.begin_array();
    for (std::size_t index = 0; index < count; ++index) {
      write_roughly(row[index], writer);
    }
    writer.end_array();
  }
  return query;
}

void BatchBody::add(std::string_view sql, std::string_view params) {
  json_ += json_.back() == '[' ? R"({"sql":)" : R"(,{"sql":)";
  JsonWriter(json_).value(sql);
  if (!params.empty()) {
    json_ += R"(,"params":)";
    json_ += params;
  }
  json_ += '}';
}

std::string BatchBody::json() && {
  json_ += "]}";
  return std::move(json_);
}

}  // namespace spillway
