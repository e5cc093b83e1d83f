// SPDX-License-Identifier: MIT
//
// Texts of others (a database's message, a path, an exception's what()) in lines of ours.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

/// `text` with a space for each character that ends a line or steers a terminal (steering.h), and
/// U+FFFD for what is no UTF-8: it stays one line, and nobody can forge a second one.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace spillway
