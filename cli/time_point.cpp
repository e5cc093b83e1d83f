// SPDX-License-Identifier: MIT
#include "cli/time_point.h"

#include "base/ascii.h"
#include "base/time_text.h"
#include "cli/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

namespace spillway {
namespace {

constexpr std::string_view kFirstMoment = "0000-01-01T00:00:00.000Z";
constexpr std::size_t kZoneAt = kFirstMoment.size() - 1;
// Where a time may end: after the year, month, day, hour, minute, second, and its fractions.
constexpr std::array<std::size_t, 9> kEnds = {4, 7, 10, 13, 16, 19, 21, 22, 23};

int number_at(std::string_view text, std::size_t at, std::size_t digits) noexcept {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + digits, number);
  return number;
}

int days_of_month(int year, int month) noexcept {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && is_leap_year ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

bool is_in_calendar(std::string_view time) noexcept {
  const int month = number_at(time, 5, 2);
  const int day = number_at(time, 8, 2);
  return month >= 1 && month <= 12 && day >= 1 &&
         day <= days_of_month(number_at(time, 0, 4), month) && number_at(time, 11, 2) < 24 &&
         number_at(time, 14, 2) < 60 && number_at(time, 17, 2) < 60;
}

bool has_form(std::string_view time) noexcept {
  for (std::size_t i = 0; i < time.size(); ++i) {
    const bool fits = is_ascii_digit(kFirstMoment[i])
                          ? is_ascii_digit(time[i])
                          : time[i] == kFirstMoment[i] || (i == 10 && time[i] == ' ');
    if (!fits) {
      return false;
    }
  }
  return std::find(kEnds.begin(), kEnds.end(), time.size()) != kEnds.end();
}

// The whole time that a beginning of one means; empty if it is none.
std::optional<std::string> completed(std::string_view text) {
  constexpr std::size_t kDate = 10;
  if (text.size() > kDate && text.back() == 'Z') {
    text.remove_suffix(1);
  }
  if (text.size() > kZoneAt || !has_form(text)) {
    return std::nullopt;
  }
  std::string time(text);
  time += kFirstMoment.substr(text.size());
  time[kDate] = 'T';
  return time;
}

// parse_duration, and days and weeks.
std::optional<std::chrono::milliseconds> parse_ago(std::string_view text) {
  constexpr std::int64_t kHoursMax = std::int64_t{24} * 365 * 10'000;
  const std::int64_t hours = text.ends_with('d') ? 24 : 168;
  if (!text.ends_with('d') && !text.ends_with('w')) {
    return parse_duration(text);
  }
  std::int64_t number = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), unit, number);
  const bool is_valid = error == std::errc() && end == unit && number > 0;
  return is_valid && number <= kHoursMax / hours
             ? std::optional<std::chrono::milliseconds>(std::chrono::hours(number * hours))
             : std::nullopt;
}

// The time that long ago, at the earliest the year 0.
std::string time_before(WallTime now, std::chrono::milliseconds ago) {
  constexpr WallTime kEarliest{std::chrono::hours(-24) * 366 * 1'970};
  return time_text(now - kEarliest > ago ? now - ago : kEarliest);
}

bool has_zone(std::string_view text) noexcept {
  const std::size_t time = text.find_first_of("T ");
  return time != std::string_view::npos && text.find_first_of("+-", time) != std::string_view::npos;
}

Status refused(std::string_view text, std::string_view why) {
  return {StatusCode::kInvalidArgument, '\'' + std::string(text) + "' " + std::string(why)};
}

Status explained(std::string_view text) {
  if (text.size() > 1 && text.ends_with('m') && is_ascii_digit(text[text.size() - 2])) {
    return refused(text, "could be minutes or months; for minutes write 15min");
  }
  if (has_zone(text)) {
    return refused(text, "has a time zone; write it in UTC, as 2026-08-28T06:35:12Z");
  }
  return refused(text,
                 "is no time; write 15min, 2h or 3d for that long ago, or UTC as "
                 "2026-08-28T06:35:12Z");
}

}  // namespace

Result<std::string> parse_time_point(std::string_view text, WallTime now) {
  if (const auto ago = parse_ago(text)) {
    return time_before(now, *ago);
  }
  std::optional<std::string> time = completed(text);
  if (!time) {
    return explained(text);
  }
  if (!is_in_calendar(*time)) {
    return refused(text, "is in no calendar");
  }
  return *std::move(time);
}

}  // namespace spillway
