// SPDX-License-Identifier: MIT
#include "d1/answer_value.h"

#include "d1/exact_integer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

namespace spillway {
namespace {

using Kind = JsonToken::Kind;

// D1 writes a whole real and an integer alike.
Value plain_number(const JsonToken& token) {
  return token.kind == Kind::kWhole && std::abs(token.number) < kTwoTo53
             ? Value(static_cast<std::int64_t>(token.number))
             : Value(token.number);
}

std::optional<Value> integer_of(std::string_view digits) {
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const std::from_chars_result parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional<Value>(number)
                                                       : std::nullopt;
}

std::optional<std::uint8_t> nibble_of(char digit) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t value = kDigits.find(digit);
  return value == std::string_view::npos ? std::nullopt
                                         : std::optional(static_cast<std::uint8_t>(value));
}

std::optional<Value> text_of_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string text(hex.size() / 2, '\0');
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const auto high = nibble_of(hex[at]);
    const auto low = nibble_of(hex[at + 1]);
    if (!high || !low) {
      return std::nullopt;
    }
    text[at / 2] = static_cast<char>(*high << 4 | *low);
  }
  return text;
}

std::optional<Value> tagged_text(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string_view rest = text.substr(std::min<std::size_t>(text.size(), 1));
  if (text.starts_with('t')) {
    return std::string(rest);
  }
  if (text.starts_with('x')) {
    return text_of_hex(rest);
  }
  if (text.starts_with('i')) {
    return integer_of(rest);
  }
  if (text == "z") {
    return -0.0;
  }
  if (text == "+" || text == "-") {
    return text == "+" ? kInfinity : -kInfinity;
  }
  return std::nullopt;
}

std::optional<Value> tagged_bytes(const Blob& bytes) {
  if (bytes.empty()) {
    return std::nullopt;
  }
  const auto tag = static_cast<char>(bytes.front());
  if (tag == 'b') {
    return Blob(bytes.begin() + 1, bytes.end());
  }
  if (tag != 't') {
    return std::nullopt;
  }
  std::string text(bytes.size() - 1, '\0');
  std::transform(bytes.begin() + 1, bytes.end(), text.begin(),
                 [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

}  // namespace

std::optional<Value> value_of(const JsonToken& token, std::optional<CellForm> form) {
  switch (token.kind) {
    case Kind::kNull:
      return Value();
    case Kind::kWhole:
    case Kind::kReal:
      return form ? Value(token.number) : plain_number(token);
    case Kind::kText:
      return form ? tagged_text(token.text) : Value(std::string(token.text));
    default:
      return std::nullopt;
  }
}

std::optional<Value> value_of(const Blob& bytes, std::optional<CellForm> form) {
  // A copy, which takes no more memory than its bytes need.
  return form == CellForm::kTaggedHex ? tagged_bytes(bytes) : Value(bytes);
}

std::optional<std::byte> byte_of(const JsonToken& token) {
  constexpr double kMax = 0xFF;
  const bool is_byte = token.kind == Kind::kWhole && token.number >= 0 && token.number <= kMax;
  return is_byte ? std::optional(static_cast<std::byte>(token.number)) : std::nullopt;
}

}  // namespace spillway
