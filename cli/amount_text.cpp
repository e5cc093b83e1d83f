// SPDX-License-Identifier: MIT
#include "cli/amount_text.h"

#include "base/counted.h"

#include <array>
#include <charconv>
#include <system_error>

namespace spillway {

std::string decimal_text(double number, int digits) {
  std::array<char, 400> text{};  // The largest double has 309 digits before the point.
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number,
                                          std::chars_format::fixed, digits);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

std::string length_text(std::chrono::milliseconds length) {
  const std::int64_t seconds = std::chrono::round<std::chrono::seconds>(length).count();
  if (length < std::chrono::seconds(10)) {
    return decimal_text(std::chrono::duration<double>(length).count(), 1) + " s";
  }
  if (seconds < 100) {
    return std::to_string(seconds) + " s";
  }
  const std::int64_t minutes = (seconds + 30) / 60;
  return (minutes < 60 ? std::string() : std::to_string(minutes / 60) + " h ") +
         std::to_string(minutes % 60) + " min";
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t kMiB = 1'048'576;
  return bytes < kMiB / 10
             ? counted(bytes, "byte")
             : decimal_text(static_cast<double>(bytes) / static_cast<double>(kMiB), 1) + " MiB";
}

}  // namespace spillway
