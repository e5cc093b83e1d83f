// SPDX-License-Identifier: MIT
#include "base/time_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

namespace spillway {
namespace {

constexpr std::int64_t kMillisecondsPerDay = 86'400'000;
constexpr std::int64_t kDaysPer4Years = 4 * 365 + 1;
constexpr std::int64_t kDaysPerCentury = 25 * kDaysPer4Years - 1;     // 1900 has no 29 February,
constexpr std::int64_t kDaysPer4Centuries = 4 * kDaysPerCentury + 1;  // 2000 has.

// From 1 March of the year -400 to 1970-01-01. Years counted from March have their leap day at the
// end, and so early a start leaves no negative number after it.
constexpr std::int64_t kDaysBefore1970 = 719'468 + kDaysPer4Centuries;

constexpr std::int64_t kFirstMillisecond = -62'167'219'200'000;  // 0000-01-01T00:00:00.000Z
constexpr std::int64_t kLastMillisecond = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z

struct Date {
  std::int64_t year;
  std::int64_t month;  // 1 to 12.
  std::int64_t day;    // 1 to 31.
};

// Takes whole units out of `days`, at most `count_max` of them: the last unit of a larger one is a
// day longer where that one ends with a leap day.
std::int64_t take(std::int64_t& days, std::int64_t unit, std::int64_t count_max) noexcept {
  const std::int64_t count = std::min(days / unit, count_max);
  days -= count * unit;
  return count;
}

Date date_of(std::int64_t days_since_1970) noexcept {
  std::int64_t days = days_since_1970 + kDaysBefore1970;
  std::int64_t year = -400;
  year += 400 * (days / kDaysPer4Centuries);
  days %= kDaysPer4Centuries;
  year += 100 * take(days, kDaysPerCentury, 3);
  year += 4 * take(days, kDaysPer4Years, 24);
  year += take(days, 365, 3);
  // From March on, five months have 153 days (31 30 31 30 31), again and again.
  const std::int64_t month = (5 * days + 2) / 153;  // 0 is March, 11 is February.
  const std::int64_t day = days - (153 * month + 2) / 5 + 1;
  return month < 10 ? Date{year, month + 3, day} : Date{year + 1, month - 9, day};
}

void put(char* to, std::int64_t number, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i) {
    to[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// The number that begins there; what is none shows when the time is written again.
unsigned number_at(std::string_view text, std::size_t at, std::size_t digits) noexcept {
  unsigned number = 0;
  std::from_chars(text.data() + at, text.data() + at + digits, number);
  return number;
}

}  // namespace

std::array<char, kTimeTextBytes> time_text_chars(WallTime time) noexcept {
  const std::int64_t clamped = std::clamp<std::int64_t>(time.time_since_epoch().count(),
                                                        kFirstMillisecond, kLastMillisecond);
  // Counted from 0000-01-01, so that the division rounds down for times before 1970 too.
  const std::int64_t elapsed = clamped - kFirstMillisecond;
  const Date date =
      date_of(elapsed / kMillisecondsPerDay + kFirstMillisecond / kMillisecondsPerDay);
  const std::int64_t of_day = elapsed % kMillisecondsPerDay;

  std::array<char, kTimeTextBytes> text = {"0000-00-00T00:00:00.000"};
  put(&text[0], date.year, 4);
  put(&text[5], date.month, 2);
  put(&text[8], date.day, 2);
  put(&text[11], of_day / 3'600'000, 2);
  put(&text[14], of_day / 60'000 % 60, 2);
  put(&text[17], of_day / 1'000 % 60, 2);
  put(&text[20], of_day % 1'000, 3);
  text[23] = 'Z';
  return text;
}

std::string time_text(WallTime time) {
  const std::array<char, kTimeTextBytes> text = time_text_chars(time);
  return {text.data(), text.size()};
}

std::optional<WallTime> parse_time_text(std::string_view text) noexcept {
  if (text.size() != kTimeTextBytes) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number_at(text, 0, 4))),
                                         std::chrono::month(number_at(text, 5, 2)),
                                         std::chrono::day(number_at(text, 8, 2)));
  if (!date.ok()) {
    return std::nullopt;
  }
  const WallTime time = std::chrono::sys_days(date) + std::chrono::hours(number_at(text, 11, 2)) +
                        std::chrono::minutes(number_at(text, 14, 2)) +
                        std::chrono::seconds(number_at(text, 17, 2)) +
                        std::chrono::milliseconds(number_at(text, 20, 3));
  const auto written = time_text_chars(time);
  return std::equal(text.begin(), text.end(), written.begin()) ? std::optional(time) : std::nullopt;
}

}  // namespace spillway
