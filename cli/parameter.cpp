// SPDX-License-Identifier: MIT
#include "cli/parameter.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace spillway {
namespace {

template <typename Number>
std::optional<Value> whole_number_text(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional<Value>(number) : std::nullopt;
}

std::optional<Value> integer(std::string_view text) {
  return whole_number_text<std::int64_t>(text);
}

std::optional<Value> real(std::string_view text) {
  const auto number = whole_number_text<double>(text);
  const bool is_finite = number && std::isfinite(std::get<double>(*number));
  return is_finite ? number : std::nullopt;
}

std::optional<Value> blob(std::string_view text) {
  Blob bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const std::string_view pair = text.substr(at, 2);
    unsigned byte = 0;
    const auto [rest, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (pair.size() != 2 || error != std::errc() || rest != pair.data() + pair.size()) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return Value(std::move(bytes));
}

std::optional<Value> null(std::string_view text) {
  return text.empty() ? std::optional<Value>(std::in_place) : std::nullopt;
}

std::optional<Value> text_value(std::string_view text) { return Value(std::string(text)); }

struct Type {
  std::string_view prefix;
  std::optional<Value> (*parse)(std::string_view);
  std::string_view wanted;
};

constexpr std::array kTypes = {
    Type{"int:", integer, "a whole number of 64 bits"},
    Type{"real:", real, "a finite number"},
    Type{"hex:", blob, "pairs of hexadecimal digits"},
    Type{"null:", null, "nothing behind the colon"},
    Type{"text:", text_value, "a text"},
};

}  // namespace

Result<Value> parse_parameter(std::string_view text) {
  for (const Type& type : kTypes) {
    if (!text.starts_with(type.prefix)) {
      continue;
    }
    std::optional<Value> value = type.parse(text.substr(type.prefix.size()));
    if (!value) {
      return Status(StatusCode::kInvalidArgument,
                    "parameter '" + std::string(text) + "' wants " + std::string(type.wanted) +
                        "; for a text that begins so write text:" + std::string(text));
    }
    return *std::move(value);
  }
  return Value(std::string(text));
}

}  // namespace spillway
