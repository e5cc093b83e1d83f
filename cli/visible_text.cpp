// SPDX-License-Identifier: MIT
#include "cli/visible_text.h"

#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace spillway {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_hex_byte(unsigned char byte, std::string& out) {
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 0xFU];
}

void append_byte(char c, Tabs tabs, std::string& out) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += tabs == Tabs::kShow ? "\\t" : "\t";
      break;
    default:
      out += "\\x";
      append_hex_byte(static_cast<unsigned char>(c), out);
  }
}

// Of a well-formed sequence of two or three bytes; those of four hold nothing that steers.
char32_t code_point(std::string_view part) noexcept {
  const auto bits = [part](std::size_t i) { return static_cast<unsigned char>(part[i]) & 0x3FU; };
  if (part.size() == 2) {
    return (static_cast<unsigned char>(part[0]) & 0x1FU) << 6U | bits(1);
  }
  return part.size() == 3
             ? (static_cast<unsigned char>(part[0]) & 0xFU) << 12U | bits(1) << 6U | bits(2)
             : U'\0';
}

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15: the C1 controls, and the characters of the properties Bidi_Control, line and
// paragraph separator.
constexpr std::array<Range, 5> kSteering = {Range{0x80, 0x9F}, Range{0x061C, 0x061C},
                                            Range{0x200E, 0x200F}, Range{0x2028, 0x202E},
                                            Range{0x2066, 0x2069}};

bool is_steering(char32_t point) noexcept {
  return std::any_of(kSteering.begin(), kSteering.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

void append_point(char32_t point, std::string& out) {
  out += "\\u";
  append_hex_byte(static_cast<unsigned char>(point >> 8U), out);
  append_hex_byte(static_cast<unsigned char>(point & 0xFFU), out);
}

bool is_plain(char c) noexcept { return c >= ' ' && c <= '~'; }

bool is_control(char c) noexcept { return (c >= 0 && c < ' ') || c == 0x7F; }

}  // namespace

void append_visible(std::string_view text, Tabs tabs, std::string& out) {
  while (!text.empty()) {
    const auto* const other = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), other);
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    if (text.empty()) {
      return;
    }
    const Utf8Part part = first_utf8_part(text);
    const std::string_view bytes = text.substr(0, part.bytes);
    if (!part.is_well_formed || is_control(bytes.front())) {
      for (const char byte : bytes) {
        append_byte(byte, tabs, out);
      }
    } else if (const char32_t point = code_point(bytes); is_steering(point)) {
      append_point(point, out);
    } else {
      out += bytes;
    }
    text.remove_prefix(part.bytes);
  }
}

std::string visible(std::string_view text) {
  std::string out;
  append_visible(text, Tabs::kShow, out);
  return out;
}

std::string visible_json(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const Utf8Part part = first_utf8_part(json);
    const std::string_view bytes = json.substr(0, part.bytes);
    const char32_t point = bytes.front() == '\x7F' ? 0x7F : code_point(bytes);
    if (point == 0x7F || is_steering(point)) {
      append_point(point, out);
    } else {
      out += bytes;
    }
    json.remove_prefix(part.bytes);
  }
  return out;
}

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace spillway
