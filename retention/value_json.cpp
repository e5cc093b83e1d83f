// SPDX-License-Identifier: MIT
#include "retention/value_json.h"

#include "base/utf8.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace spillway::retention {
namespace {

using ValueJson = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Bytes>
std::string as_hex(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const auto each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    hex += kDigits[byte / 16U];
    hex += kDigits[byte % 16U];
  }
  return hex;
}

// A std::string or a Blob. Empty: it is no hex.
template <typename Bytes>
std::optional<Value> from_hex(const std::string& hex) {
  Bytes bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, byte, 16).ptr != end) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<typename Bytes::value_type>(byte));
  }
  return hex.size() % 2 == 0 ? std::optional<Value>(std::move(bytes)) : std::nullopt;
}

void write_marked(JsonWriter& json, const char* mark, std::string_view text) {
  json.begin_object().key(mark).value(text).end_object();
}

struct ValueWriter {
  JsonWriter& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(std::int64_t integer) const { json.value(integer); }
  void operator()(double real) const {
    if (!std::isfinite(real)) {
      write_marked(json, "real", real > 0 ? "inf" : "-inf");
      return;
    }
    std::array<char, 32> buffer;
    std::string text(buffer.data(),
                     std::to_chars(buffer.data(), buffer.data() + buffer.size(), real).ptr);
    json.json(text.find_first_of(".e") == std::string::npos ? text + ".0" : text);
  }
  void operator()(const std::string& text) const {
    if (is_valid_utf8(text)) {
      json.value(text);
    } else {
      write_marked(json, "text_hex", as_hex(text));
    }
  }
  void operator()(const Blob& blob) const { write_marked(json, "blob_hex", as_hex(blob)); }
};

std::optional<Value> marked_value(const ValueJson& json) {
  if (json.size() != 1 || !json.begin()->is_string()) {
    return std::nullopt;
  }
  const std::string& mark = json.begin().key();
  const auto& text = json.begin()->get_ref<const std::string&>();
  if (mark == "text_hex") {
    return from_hex<std::string>(text);
  }
  if (mark == "blob_hex") {
    return from_hex<Blob>(text);
  }
  if (mark == "real" && (text == "inf" || text == "-inf")) {
    return text == "inf" ? kInfinity : -kInfinity;
  }
  return std::nullopt;
}

}  // namespace

void write_json_value(JsonWriter& json, const Value& value) {
  std::visit(ValueWriter{json}, value);
}

void write_json_row(JsonWriter& json, const Row& row) {
  json.begin_array();
  for (const Value& value : row) {
    write_json_value(json, value);
  }
  json.end_array();
}

std::optional<Value> value_of_json(const ValueJson& json) {
  switch (json.type()) {
    case ValueJson::value_t::null:
      return Value();
    case ValueJson::value_t::number_integer:
      return json.get<std::int64_t>();
    case ValueJson::value_t::number_unsigned:
      return std::in_range<std::int64_t>(json.get<std::uint64_t>())
                 ? std::optional<Value>(json.get<std::int64_t>())
                 : std::nullopt;
    case ValueJson::value_t::number_float:
      return json.get<double>();
    case ValueJson::value_t::string:
      return json.get<std::string>();
    case ValueJson::value_t::object:
      return marked_value(json);
    default:
      return std::nullopt;
  }
}

std::optional<Row> row_of_json(const ValueJson& json) {
  if (!json.is_array()) {
    return std::nullopt;
  }
  Row row;
  for (const ValueJson& each : json) {
    std::optional<Value> value = value_of_json(each);
    if (!value) {
      return std::nullopt;
    }
    row.push_back(*std::move(value));
  }
  return row;
}

}  // namespace spillway::retention
