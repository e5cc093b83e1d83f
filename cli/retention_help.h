// SPDX-License-Identifier: MIT
//
// The text of spillway-retention --help, one for all commands.
#pragma once

#include <string>

namespace spillway {

[[nodiscard]] std::string retention_help();

}  // namespace spillway
