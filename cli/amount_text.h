// SPDX-License-Identifier: MIT
//
// Amounts as people read them. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace spillway {

/// "3.14": so many digits behind the point.
[[nodiscard]] std::string decimal_text(double number, int digits);
/// "0.4 s", "12 s", "3 min", "2 h 5 min".
[[nodiscard]] std::string length_text(std::chrono::milliseconds length);
/// "512 bytes", "1.5 MiB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

}  // namespace spillway
