// SPDX-License-Identifier: MIT
#include "retention/policy.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace spillway::retention {
namespace {

constexpr std::string_view kForever = "forever";
constexpr std::chrono::milliseconds kKeepMax = std::chrono::hours(24 * 365 * 100);

struct KeepUnit {
  std::string_view name;
  std::chrono::minutes length;
};

constexpr std::array<KeepUnit, 4> kKeepUnits{
    KeepUnit{"min", std::chrono::minutes(1)}, KeepUnit{"h", std::chrono::hours(1)},
    KeepUnit{"d", std::chrono::hours(24)}, KeepUnit{"w", std::chrono::hours(24 * 7)}};

const KeepUnit* keep_unit(std::string_view name) noexcept {
  const auto* const unit =
      std::find_if(kKeepUnits.begin(), kKeepUnits.end(),
                   [name](const KeepUnit& known) { return known.name == name; });
  return unit == kKeepUnits.end() ? nullptr : unit;
}

Status refused_policy(std::string_view text, std::string_view why) {
  return {StatusCode::kInvalidArgument, '\'' + std::string(text) + "' " + std::string(why)};
}

// What is wrong with digits and a unit, neither of them as they should be.
Status refused_keep(std::string_view text, std::string_view digits, std::string_view unit) {
  if (!digits.empty() && unit == "m") {
    return refused_policy(text, "could be minutes or months; for minutes write " +
                                    std::string(digits) + "min, for a month 30d");
  }
  if (!digits.empty() && unit.empty()) {
    return refused_policy(text, "has no unit; for days write " + std::string(digits) + "d");
  }
  return refused_policy(text,
                        "is no time to keep rows for; write a whole number and its unit, min, h, d "
                        "or w, for example 30d, or forever");
}

bool is_level_character(char c) noexcept {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '-' || c == '.';
}

void add_rule(std::vector<Rule>& rules, std::string name, Levels levels, const Keep& keep,
              WallTime now) {
  if (keep) {
    rules.push_back({std::move(name), std::move(levels), *keep, now - *keep});
  }
}

}  // namespace

bool Policy::keeps_all() const noexcept {
  return !keep && !max_rows &&
         std::none_of(levels.begin(), levels.end(),
                      [](const LevelPolicy& level) { return level.keep.has_value(); });
}

Result<Keep> parse_keep(std::string_view text) {
  if (text == kForever) {
    return Keep();
  }
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  const std::string_view name = text.substr(digits.size());
  const KeepUnit* const unit = keep_unit(name);
  if (digits.empty() || unit == nullptr) {
    return refused_keep(text, digits, name);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number > kKeepMax / unit->length) {
    return refused_policy(text, "is more than 100 years; to keep rows always write forever");
  }
  if (number == 0) {
    return refused_policy(text, "would keep nothing; write at least 1min");
  }
  return Keep(unit->length * number);
}

Result<LevelPolicy> parse_level_keep(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view level = text.substr(0, equals);
  if (level.empty() || equals == text.size()) {
    return refused_policy(text, "is no level and its time; write for example DEBUG=2d");
  }
  if (!std::all_of(level.begin(), level.end(), is_level_character)) {
    return refused_policy(
        text, "names a level with something else than letters, digits, '_', '-' and '.' in it");
  }
  const Result<Keep> keep = parse_keep(text.substr(equals + 1));
  if (!keep) {
    return keep.error();
  }
  return LevelPolicy{upper_case(level), *keep};
}

std::string to_string(const Keep& keep) {
  if (!keep) {
    return std::string(kForever);
  }
  // Days at most: people say 30d and 14d, not 2w.
  for (const char* const name : {"d", "h"}) {
    const std::chrono::milliseconds length = keep_unit(name)->length;
    if (*keep % length == std::chrono::milliseconds::zero()) {
      return std::to_string(*keep / length) + name;
    }
  }
  return std::to_string(std::chrono::floor<std::chrono::minutes>(*keep).count()) + "min";
}

std::string to_string(const Policy& policy) {
  std::string text = "keep=" + to_string(policy.keep);
  for (const LevelPolicy& level : policy.levels) {
    text += ' ' + level.level + '=' + to_string(level.keep);
  }
  if (policy.max_rows) {
    text += " max-rows=" + std::to_string(*policy.max_rows);
  }
  return text;
}

std::vector<Rule> rules_of(const Policy& policy, WallTime now) {
  std::vector<Rule> rules;
  Levels others;
  others.is_all_but = true;
  for (const LevelPolicy& level : policy.levels) {
    add_rule(rules, level.level, {{level.level}, false}, level.keep, now);
    others.names.push_back(level.level);
  }
  add_rule(rules, "keep", std::move(others), policy.keep, now);
  std::stable_sort(rules.begin(), rules.end(),
                   [](const Rule& a, const Rule& b) { return a.cutoff < b.cutoff; });
  return rules;
}

}  // namespace spillway::retention
