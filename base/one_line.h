// SPDX-License-Identifier: MIT
//
// Texts of others (a database's message, a path, an exception's what()) in lines of ours.
#pragma once

#include <algorithm>
#include <string>

namespace spillway {

/// `text` with each control character, line ends and terminal escapes among them, as a space: it
/// stays one line, and nobody can forge a second one.
[[nodiscard]] inline std::string one_line(std::string text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

}  // namespace spillway
