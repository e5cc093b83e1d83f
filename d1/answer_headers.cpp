// SPDX-License-Identifier: MIT
#include "d1/answer_headers.h"

#include <curl/curl.h>

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <system_error>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 7> kHeadersOfInterest = {
    "location",          "ratelimit",         "ratelimit-policy",      "retry-after",
    "x-ratelimit-limit", "x-ratelimit-reset", "x-ratelimit-remaining",
};

// Longer than anybody will wait (31 years), and far from the end of what milliseconds can count.
constexpr std::int64_t kSecondsMax = 1'000'000'000;

/// A whole number of decimal digits and nothing else, at most kSecondsMax.
std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_ascii_digit)) {
    return std::nullopt;
  }
  std::int64_t number = kSecondsMax;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::min(number, kSecondsMax) : kSecondsMax;
}

/// How long until an HTTP date; 0 if it has passed.
std::optional<milliseconds> time_until(std::string_view date, WallTime now) {
  // curl_getdate is generous: it takes a lone "10" or "-5" for a time too.
  if (date.find(':') == std::string_view::npos) {
    return std::nullopt;
  }
  const time_t time = curl_getdate(std::string(date).c_str(), nullptr);
  if (time == -1) {
    return std::nullopt;
  }
  const auto delay = WallTime(seconds(time)) - now;
  return std::clamp<milliseconds>(delay, milliseconds(0), seconds(kSecondsMax));
}

std::optional<milliseconds> delay_of(std::string_view text, WallTime now) {
  if (const auto number = whole_number(text)) {
    return seconds(*number);
  }
  return time_until(text, now);
}

// One item of a list like `"default";r=50;t=30, "burst";r=9;t=1` (RFC 9651).
struct ListItem {
  std::string_view name;
  std::string_view parameters;

  [[nodiscard]] std::optional<std::int64_t> number(char key) const {
    for (std::size_t at = 0; at < parameters.size();) {
      const std::size_t end = std::min(parameters.find(';', at), parameters.size());
      const std::string_view parameter = trimmed(parameters.substr(at, end - at));
      if (parameter.size() > 2 && parameter[0] == key && parameter[1] == '=') {
        return whole_number(parameter.substr(2));
      }
      at = end + 1;
    }
    return std::nullopt;
  }
};

void for_each_item(std::string_view list, const std::function<void(const ListItem&)>& visit) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view item = list.substr(at, end - at);
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    visit({trimmed(item.substr(0, semicolon)), item.substr(semicolon)});
    at = end + 1;
  }
}

std::optional<std::int64_t> limit_named(std::string_view policies, std::string_view name) {
  std::optional<std::int64_t> limit;
  for_each_item(policies, [&](const ListItem& policy) {
    if (policy.name == name) {
      limit = policy.number('q');
    }
  });
  return limit;
}

}  // namespace

void AnswerHeaders::take(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) {
    values_.clear();
    are_whole_ = false;
    return;
  }
  if (colon == std::string_view::npos) {
    are_whole_ = are_whole_ || line == "\r\n" || line == "\n";
    return;
  }
  std::string name = lower_case(trimmed(line.substr(0, colon)));
  if (std::find(kHeadersOfInterest.begin(), kHeadersOfInterest.end(), name) !=
      kHeadersOfInterest.end()) {
    values_.insert_or_assign(std::move(name), std::string(trimmed(line.substr(colon + 1))));
  }
}

std::string AnswerHeaders::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second;
}

std::optional<milliseconds> AnswerHeaders::retry_after(WallTime now) const {
  return delay_of(value("retry-after"), now);
}

std::optional<D1RateLimit> AnswerHeaders::rate_limit(WallTime now) const {
  const std::string limits = value("ratelimit");
  const std::string policies = value("ratelimit-policy");
  std::optional<D1RateLimit> tightest;
  for_each_item(limits, [&](const ListItem& item) {
    D1RateLimit rate;
    rate.limit = limit_named(policies, item.name);
    rate.remaining = item.number('r');
    if (const auto reset = item.number('t')) {
      rate.reset_after = seconds(*reset);
    }
    if (rate.remaining && (!tightest || *rate.remaining < *tightest->remaining)) {
      tightest = rate;
    }
  });
  return tightest ? tightest : older_rate_limit(now);
}

std::optional<D1RateLimit> AnswerHeaders::older_rate_limit(WallTime now) const {
  D1RateLimit rate;
  rate.limit = whole_number(value("x-ratelimit-limit"));
  rate.remaining = whole_number(value("x-ratelimit-remaining"));
  rate.reset_after = delay_of(value("x-ratelimit-reset"), now);
  if (!rate.limit && !rate.remaining && !rate.reset_after) {
    return std::nullopt;
  }
  return rate;
}

}  // namespace spillway
