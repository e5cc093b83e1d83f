// SPDX-License-Identifier: MIT
#include "base/json_writer.h"

#include "base/utf8.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace spillway {
namespace {

[[maybe_unused]] constexpr int kDepthMax = 64;  // The bits of JsonWriter's objects_.

bool needs_no_escape(char letter) noexcept {
  const auto byte = static_cast<std::uint8_t>(letter);
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

void append_escape(char letter, std::string& out) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kShort = "\"\\bfnrt";
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  if (const std::size_t index = kSpecial.find(letter); index != std::string_view::npos) {
    out += '\\';
    out += kShort[index];
    return;
  }
  const auto byte = static_cast<std::uint8_t>(letter);
  out += "\\u00";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 0xF];
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  std::size_t kept = 0;  // From here to `at` goes out unchanged.
  std::size_t at = 0;
  while (at < text.size()) {
    if (needs_no_escape(text[at])) {
      ++at;
      continue;
    }
    const Utf8Part part = first_utf8_part(text.substr(at));
    const std::size_t after = at + part.bytes;
    if (!part.is_well_formed) {
      out.append(text.substr(kept, at - kept)).append(kReplacementCharacter);
      kept = after;
    } else if (part.bytes == 1) {
      append_escape(text[at], out.append(text.substr(kept, at - kept)));
      kept = after;
    }
    at = after;
  }
  out += text.substr(kept);
  out += '"';
}

template <typename Number>
std::string_view decimal(Number number, std::array<char, 24>& buffer) noexcept {
  char* const begin = buffer.data();
  const std::to_chars_result result = std::to_chars(begin, begin + buffer.size(), number);
  return {begin, static_cast<std::size_t>(result.ptr - begin)};
}

}  // namespace

JsonWriter& JsonWriter::begin_object() { return begin(Bracket::kObject, '{'); }

JsonWriter& JsonWriter::end_object() { return end(Bracket::kObject, '}'); }

JsonWriter& JsonWriter::begin_array() { return begin(Bracket::kArray, '['); }

JsonWriter& JsonWriter::end_array() { return end(Bracket::kArray, ']'); }

JsonWriter& JsonWriter::key(std::string_view name) {
  assert(is_in_object() && !has_key_);
  separate();
  append_quoted(name, out_);
  out_ += ':';
  has_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  begin_value();
  append_quoted(text, out_);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  std::array<char, 24> buffer;
  return append_value(decimal(number, buffer));
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  std::array<char, 24> buffer;
  return append_value(decimal(number, buffer));
}

JsonWriter& JsonWriter::value(double number) {
  assert(std::isfinite(number));
  std::array<char, 24> buffer;
  return append_value(decimal(number, buffer));
}

JsonWriter& JsonWriter::value(bool truth) { return append_value(truth ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return append_value("null"); }

JsonWriter& JsonWriter::begin(Bracket bracket, char opening) {
  begin_value();
  assert(depth_ < kDepthMax);
  objects_ = objects_ << 1 | (bracket == Bracket::kObject ? 1U : 0U);
  ++depth_;
  needs_comma_ = false;
  out_ += opening;
  return *this;
}

JsonWriter& JsonWriter::end([[maybe_unused]] Bracket bracket, char closing) {
  assert(depth_ > 0 && is_in_object() == (bracket == Bracket::kObject) && !has_key_);
  objects_ >>= 1;
  --depth_;
  needs_comma_ = true;
  out_ += closing;
  return *this;
}

JsonWriter& JsonWriter::append_value(std::string_view json) {
  begin_value();
  out_ += json;
  return *this;
}

void JsonWriter::begin_value() {
  assert(is_in_object() == has_key_);
  if (!has_key_) {
    separate();
  }
  has_key_ = false;
}

void JsonWriter::separate() {
  if (needs_comma_) {
    out_ += ',';
  }
  needs_comma_ = true;
}

bool JsonWriter::is_in_object() const noexcept { return (objects_ & 1) != 0; }

}  // namespace spillway
