// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace spillway {
namespace {

constexpr std::string_view kSymbolForNull = "\xE2\x90\x80";  // U+2400

std::uint8_t byte_at(std::string_view bytes, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(bytes[index]);
}

bool is_within(std::uint8_t byte, std::uint8_t first, std::uint8_t last) noexcept {
  return byte >= first && byte <= last;
}

bool is_continuation(std::uint8_t byte) noexcept { return is_within(byte, 0x80, 0xBF); }

// Bytes of the sequence that `lead` announces; 0 for a byte that begins none.
std::size_t announced_bytes(std::uint8_t lead) noexcept {
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xC2) {  // A continuation, or C0 and C1: overlong forms of ASCII.
    return 0;
  }
  if (lead < 0xE0) {
    return 2;
  }
  if (lead < 0xF0) {
    return 3;
  }
  return lead < 0xF5 ? 4 : 0;  // F5 and above would pass U+10FFFF.
}

// The second byte alone rules out overlong forms, surrogates and what is past U+10FFFF.
bool is_second(std::uint8_t lead, std::uint8_t byte) noexcept {
  switch (lead) {
    case 0xE0:
      return is_within(byte, 0xA0, 0xBF);
    case 0xED:
      return is_within(byte, 0x80, 0x9F);
    case 0xF0:
      return is_within(byte, 0x90, 0xBF);
    case 0xF4:
      return is_within(byte, 0x80, 0x8F);
    default:
      return is_continuation(byte);
  }
}

// Eight bytes at once: true if each is ASCII and none is NUL.
bool are_plain(const char* eight) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  std::uint64_t word;
  std::memcpy(&word, eight, sizeof word);
  // Where no high bit is set, taking one from each byte sets a high bit exactly if there is a NUL.
  return ((word | (word - kOnes)) & kHighs) == 0;
}

std::size_t storable_prefix_bytes(std::string_view bytes) noexcept {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at >= 8 && are_plain(bytes.data() + at)) {
      at += 8;
      continue;
    }
    const Utf8Part part = first_utf8_part(bytes.substr(at));
    if (!part.is_well_formed || bytes[at] == '\0') {
      break;
    }
    at += part.bytes;
  }
  return at;
}

std::string_view storable_form(std::string_view bytes, Utf8Part part) noexcept {
  if (!part.is_well_formed) {
    return kReplacementCharacter;
  }
  return bytes.front() == '\0' ? kSymbolForNull : bytes.substr(0, part.bytes);
}

}  // namespace

Utf8Part first_utf8_part(std::string_view bytes) noexcept {
  const std::uint8_t lead = byte_at(bytes, 0);
  const std::size_t announced = announced_bytes(lead);
  if (announced <= 1) {
    return {1, announced == 1};
  }
  if (bytes.size() < 2 || !is_second(lead, byte_at(bytes, 1))) {
    return {1, false};
  }
  std::size_t length = 2;
  while (length < announced && length < bytes.size() && is_continuation(byte_at(bytes, length))) {
    ++length;
  }
  return {length, length == announced};
}

bool is_valid_utf8(std::string_view bytes) noexcept {
  bytes.remove_prefix(storable_prefix_bytes(bytes));
  while (!bytes.empty() && bytes.front() == '\0') {
    bytes.remove_prefix(1);
    bytes.remove_prefix(storable_prefix_bytes(bytes));
  }
  return bytes.empty();
}

bool is_storable_text(std::string_view bytes) noexcept {
  return storable_prefix_bytes(bytes) == bytes.size();
}

bool append_storable_text(std::string_view bytes, std::size_t bytes_max, std::string& out) {
  std::size_t room = bytes_max;
  while (!bytes.empty()) {
    const std::size_t kept = storable_prefix_bytes(bytes.substr(0, room));
    out.append(bytes.substr(0, kept));
    bytes.remove_prefix(kept);
    room -= kept;
    if (bytes.empty()) {
      break;
    }
    // A part to replace, or a code point that the room cuts: then it does not fit.
    const Utf8Part part = first_utf8_part(bytes);
    const std::string_view form = storable_form(bytes, part);
    if (form.size() > room) {
      return false;
    }
    out.append(form);
    bytes.remove_prefix(part.bytes);
    room -= form.size();
  }
  return true;
}

}  // namespace spillway
