// SPDX-License-Identifier: MIT
#include "d1/sql_fragments.h"

namespace spillway {

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char letter : name) {
    quoted.append(letter == '"' ? 2 : 1, letter);
  }
  return quoted + '"';
}

}  // namespace spillway
