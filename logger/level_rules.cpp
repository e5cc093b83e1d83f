// SPDX-License-Identifier: MIT
#include "logger/level_rules.h"

#include "base/ascii.h"

#include <optional>

namespace spillway {
namespace {

std::optional<std::uint8_t> threshold_of(std::string_view word) {
  if (is_same_ignoring_case(word, "off")) {
    return kThresholdOff;
  }
  const std::optional<Level> level = parse_level(word);
  return level ? std::optional(static_cast<std::uint8_t>(*level)) : std::nullopt;
}

/// `payments` means payments and payments.refunds, and not paymentsystem.
bool is_meant(std::string_view rule, std::string_view name) noexcept {
  return rule.empty() ||
         (name.starts_with(rule) && (name.size() == rule.size() || name[rule.size()] == '.'));
}

}  // namespace

LevelRules::LevelRules(std::string_view text) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    if (!trimmed(item).empty()) {
      read(trimmed(item));
    }
  }
}

void LevelRules::read(std::string_view item) {
  const std::size_t equals = item.rfind('=');
  const bool has_name = equals != std::string_view::npos;
  const std::string_view name = has_name ? trimmed(item.substr(0, equals)) : std::string_view();
  const auto threshold = threshold_of(trimmed(has_name ? item.substr(equals + 1) : item));
  if (threshold && (!has_name || !name.empty())) {
    rules_.push_back({std::string(name), *threshold});
  } else {
    unreadable_.emplace_back(item);
  }
}

const LevelRule* LevelRules::rule_for(std::string_view name) const noexcept {
  const LevelRule* found = nullptr;
  for (const LevelRule& rule : rules_) {
    if (is_meant(rule.name, name) && (found == nullptr || rule.name.size() >= found->name.size())) {
      found = &rule;
    }
  }
  return found;
}

}  // namespace spillway
