// SPDX-License-Identifier: MIT
//
// The texts of --help. Written by hand, because a list of options explains nothing; a test checks
// that they leave no option out.
#pragma once

#include <string>

namespace spillway {

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string log_help();
[[nodiscard]] std::string tail_help();
[[nodiscard]] std::string query_help();

}  // namespace spillway
