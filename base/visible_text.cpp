// SPDX-License-Identifier: MIT
#include "base/visible_text.h"

#include "base/steering.h"
#include "base/utf8.h"

#include <algorithm>
#include <cstddef>

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

void append_point(char32_t point, std::string& out) {
  out += "\\u";
  append_hex_byte(static_cast<unsigned char>(point >> 8U), out);
  append_hex_byte(static_cast<unsigned char>(point & 0xFFU), out);
}

bool is_plain(char c) noexcept { return c >= ' ' && c <= '~'; }

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
    } else if (const char32_t point = steering_point(bytes); point != 0) {
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
    const char32_t point = bytes.front() == '\x7F' ? 0x7F : steering_point(bytes);
    if (point != 0) {
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
