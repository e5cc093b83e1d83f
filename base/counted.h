// SPDX-License-Identifier: MIT
//
// counted: "1 row", "2 rows".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace spillway {

/// `noun` makes its plural with an s.
template <std::integral Number>
[[nodiscard]] std::string counted(Number number, std::string_view noun) {
  return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace spillway
