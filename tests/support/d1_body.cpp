// SPDX-License-Identifier: MIT
#include "tests/support/d1_body.h"

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "base/utf8.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <variant>

namespace spillway::testing {
namespace {

using Json = nlohmann::json;

constexpr int kMalformed = 7400;
constexpr int kSqlError = 7500;

std::string valid_utf8(std::string_view bytes) {
  if (is_storable_text(bytes)) {  // Much the quicker way.
    return std::string(bytes);
  }
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Part part = first_utf8_part(bytes);
    text += part.is_well_formed ? bytes.substr(0, part.bytes) : kReplacementCharacter;
    bytes.remove_prefix(part.bytes);
  }
  return text;
}

std::string type_error(const std::string& value) {
  return "D1_TYPE_ERROR: Type 'object' not supported for value '" + value + "'";
}

// As a JavaScript string, for the message.
std::string js_string(const Json& value) {
  if (value.is_number()) {
    std::string text;
    append_js_number(value.get<double>(), text);
    return text;
  }
  return value.is_string() ? value.get<std::string>() : "[object Object]";
}

bool is_byte(const Json& item) {
  if (!item.is_number()) {
    return false;
  }
  const double number = item.get<double>();
  return number >= 0 && number <= 255 && number == std::floor(number);
}

// A blob, or in `error` why not.
Value blob_of(const Json& items, std::string& error) {
  Blob blob;
  for (const Json& item : items) {
    if (!is_byte(item)) {
      error = type_error(js_string(item));
      return {};
    }
    blob.push_back(static_cast<std::byte>(item.get<unsigned>()));
  }
  return blob;
}

Value value_of(const Json& param, std::string& error) {
  switch (param.type()) {
    case Json::value_t::null:
      return std::monostate();
    case Json::value_t::boolean:
      return param.get<bool>() ? 1.0 : 0.0;
    case Json::value_t::string:
      return param.get<std::string>();
    case Json::value_t::array:
      return blob_of(param, error);
    case Json::value_t::object:
      error = type_error("[object Object]");
      return {};
    default:
      return param.get<double>();
  }
}

// Sets the body's error if the statement cannot be read.
void add_statement(const Json& query, D1Body& body) {
  const auto sql = query.is_object() ? query.find("sql") : query.end();
  if (!query.is_object() || sql == query.end() || !sql->is_string()) {
    body.code = kMalformed;
    body.error = "The request is malformed: sql must be a string";
    return;
  }
  D1Statement statement{sql->get<std::string>()};
  if (const auto params = query.find("params"); params != query.end() && params->is_array()) {
    for (const Json& param : *params) {
      statement.params.push_back(value_of(param, body.error));
    }
  }
  body.code = body.error.empty() ? body.code : kSqlError;
  body.statements.push_back(std::move(statement));
}

const std::string& decimal_of(std::byte byte) {
  static const std::array<std::string, 256> decimals = [] {
    std::array<std::string, 256> all;
    for (std::size_t number = 0; number < all.size(); ++number) {
      all[number] = std::to_string(number) + ',';
    }
    return all;
  }();
  return decimals[std::to_integer<std::size_t>(byte)];
}

void append_bytes(const Blob& blob, std::string& out) {
  out += '[';
  for (const std::byte byte : blob) {
    out += decimal_of(byte);
  }
  if (blob.empty()) {
    out += ']';
  } else {
    out.back() = ']';  // In place of the last comma.
  }
}

// A finite number that is not 0: sign, digits without a point, and where the point stands in them.
struct Decimal {
  std::string sign;
  std::string digits;
  int point = 0;
};

Decimal shortest_decimal(double number) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(number),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal{number < 0 ? "-" : "", std::string(text.substr(0, 1))};
  decimal.digits += e > 1 ? text.substr(2, e - 2) : "";
  const std::size_t exponent = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + exponent, text.data() + text.size(), decimal.point);
  ++decimal.point;
  return decimal;
}

}  // namespace

D1Body parse_d1_body(std::string_view text) {
  const Json json = Json::parse(valid_utf8(text), nullptr, false);
  if (json.is_discarded()) {
    return {{}, kMalformed, "The request is malformed: not JSON"};
  }
  const auto batch = json.is_object() ? json.find("batch") : json.end();
  D1Body body;
  if (batch == json.end() || !batch->is_array()) {
    add_statement(json, body);
    return body;
  }
  for (const Json& query : *batch) {
    if (body.code == 0) {
      add_statement(query, body);
    }
  }
  return body;
}

// Source: ECMA-262, Number::toString.
void append_js_number(double number, std::string& out) {
  constexpr int kPointMax = 21;
  constexpr int kPointMin = -6;
  if (!std::isfinite(number) || number == 0) {
    out += std::isfinite(number) ? "0" : "null";
    return;
  }
  const auto [sign, digits, point] = shortest_decimal(number);
  const auto count = static_cast<int>(digits.size());
  out += sign;
  if (point > kPointMax || point <= kPointMin) {
    out += digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "");
    out += (point > 0 ? "e+" : "e") + std::to_string(point - 1);
  } else if (point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else if (point < count) {
    out.append(digits).insert(out.size() - static_cast<std::size_t>(count - point), 1, '.');
  } else {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  }
}

void append_js_text(std::string_view text, std::string& out) { JsonWriter(out).value(text); }

void append_js_value(const Value& value, std::string& out) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    append_js_number(static_cast<double>(*integer), out);
  } else if (const auto* number = std::get_if<double>(&value)) {
    append_js_number(*number, out);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    append_js_text(*text, out);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    append_bytes(*blob, out);
  } else {
    out += "null";
  }
}

}  // namespace spillway::testing
