// SPDX-License-Identifier: MIT
#include "base/one_line.h"

#include "base/steering.h"
#include "base/utf8.h"

namespace spillway {

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const Utf8Part part = first_utf8_part(text);
    const std::string_view bytes = text.substr(0, part.bytes);
    text.remove_prefix(part.bytes);
    if (!part.is_well_formed) {
      line += kReplacementCharacter;
    } else {
      line += is_control(bytes.front()) || steering_point(bytes) != 0 ? " " : bytes;
    }
  }
  return line;
}

}  // namespace spillway
