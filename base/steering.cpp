// SPDX-License-Identifier: MIT
#include "base/steering.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace spillway {
namespace {

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

}  // namespace

char32_t steering_point(std::string_view part) noexcept {
  const char32_t point = code_point(part);
  const bool does_steer = std::any_of(
      kSteering.begin(), kSteering.end(),
      [point](const Range& range) { return point >= range.first && point <= range.last; });
  return does_steer ? point : U'\0';
}

}  // namespace spillway
