// SPDX-License-Identifier: MIT
#include "cli/duration.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace spillway {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr std::array<Unit, 4> kUnits{Unit{"ms", 1}, Unit{"s", 1'000}, Unit{"min", 60'000},
                                     Unit{"h", 3'600'000}};

std::int64_t milliseconds_of(std::string_view unit) noexcept {
  for (const Unit& known : kUnits) {
    if (known.name == unit) {
      return known.milliseconds;
    }
  }
  return 0;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::int64_t factor = milliseconds_of({unit, static_cast<std::size_t>(end - unit)});
  const bool is_valid = error == std::errc() && number > 0 && factor > 0;
  if (!is_valid || number > std::numeric_limits<std::int64_t>::max() / factor) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(number * factor);
}

}  // namespace spillway
