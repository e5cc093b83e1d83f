// SPDX-License-Identifier: MIT
#include "cli/logged_time.h"

#include "base/ascii.h"
#include "base/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace spillway {
namespace {

constexpr std::size_t kWholeSecondsBytes = 19;  // 2026-08-28T06:35:12

std::string_view take_digits(std::string_view& text) noexcept {
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_ascii_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// The milliseconds of `digits` behind the point.
int thousandths(std::string_view digits) noexcept {
  int number = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    number = number * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return number;
}

// Takes `.345678`, if it is there; empty if no digit follows the point.
std::optional<int> take_fraction(std::string_view& text, std::string_view points) noexcept {
  if (text.empty() || points.find(text.front()) == std::string_view::npos) {
    return 0;
  }
  text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  return digits.empty() ? std::nullopt : std::optional(thousandths(digits));
}

std::optional<std::chrono::minutes> two_digits_times(std::string_view text, int unit,
                                                     int end) noexcept {
  if (text.size() != 2 || !is_ascii_digit(text[0]) || !is_ascii_digit(text[1])) {
    return std::nullopt;
  }
  const int number = (text[0] - '0') * 10 + (text[1] - '0');
  return number < end ? std::optional(std::chrono::minutes(number * unit)) : std::nullopt;
}

// `Z`, `+02:00` or `+0200`: what the clock there is ahead of UTC.
std::optional<std::chrono::minutes> offset_of(std::string_view text) noexcept {
  if (text == "Z" || text == "z") {
    return std::chrono::minutes(0);
  }
  const bool has_colon = text.size() == 6 && text[3] == ':';
  if ((!has_colon && text.size() != 5) || (text[0] != '+' && text[0] != '-')) {
    return std::nullopt;
  }
  const auto hours = two_digits_times(text.substr(1, 2), 60, 24);
  const auto minutes = two_digits_times(text.substr(has_colon ? 4 : 3), 1, 60);
  if (!hours || !minutes) {
    return std::nullopt;
  }
  return text[0] == '-' ? -(*hours + *minutes) : *hours + *minutes;
}

}  // namespace

std::optional<WallTime> logged_time_of_text(std::string_view text) noexcept {
  if (text.size() <= kWholeSecondsBytes) {
    return std::nullopt;
  }
  std::array<char, kTimeTextBytes> usual = {"0000-00-00T00:00:00.000"};
  usual.back() = 'Z';
  std::copy_n(text.begin(), kWholeSecondsBytes, usual.begin());
  if (usual[10] == ' ' || usual[10] == 't') {
    usual[10] = 'T';
  }
  // A leap second is the one that follows, as in every count from 1970.
  const bool is_leap_second = usual[17] == '6' && usual[18] == '0';
  if (is_leap_second) {
    usual[17] = '5';
    usual[18] = '9';
  }
  const auto time = parse_time_text({usual.data(), usual.size()});
  text.remove_prefix(kWholeSecondsBytes);
  const auto fraction = take_fraction(text, ".,");
  const auto offset = offset_of(text);
  if (!time || !fraction || !offset) {
    return std::nullopt;
  }
  return *time + std::chrono::seconds(is_leap_second ? 1 : 0) +
         std::chrono::milliseconds(*fraction) - *offset;
}

std::optional<WallTime> logged_time_of_number(std::string_view number) noexcept {
  constexpr std::size_t kDigitsOfSeconds = 9;
  constexpr std::size_t kDigitsMax = 20;
  const std::string_view whole = take_digits(number);
  const auto fraction = take_fraction(number, ".");
  if (!fraction || !number.empty() || whole.size() < kDigitsOfSeconds ||
      whole.size() > kDigitsMax) {
    return std::nullopt;
  }
  // The unit does not matter where only the digits of milliseconds are read.
  const std::size_t unit = (whole.size() - kDigitsOfSeconds) / 3;
  const std::size_t digits = unit == 0 ? whole.size() : whole.size() - (unit - 1) * 3;
  std::int64_t count = 0;
  std::from_chars(whole.data(), whole.data() + digits, count);
  return WallTime(std::chrono::milliseconds(unit == 0 ? count * 1'000 + *fraction : count));
}

}  // namespace spillway
