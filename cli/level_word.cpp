// SPDX-License-Identifier: MIT
#include "cli/level_word.h"

#include <algorithm>
#include <cstddef>

namespace spillway {
namespace {

// Date, time, zone, host and program come before the level in the formats in use; Apache's has it
// sixth.
constexpr int kTokensMax = 6;

constexpr std::string_view kBefore = "([{<\"'`*|=-!>";
constexpr std::string_view kAfter = ")]}>\"'`*|=-!?.,;:";
// After these, other text may follow without a space: `WARNING:root:text`, `INFO/main`, `INFO|x`.
constexpr std::string_view kSeparators = ":/|";

bool is_one_of(char c, std::string_view set) noexcept {
  return set.find(c) != std::string_view::npos;
}

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

std::string_view take_token(std::string_view& line) noexcept {
  const auto* const begin = std::find_if_not(line.begin(), line.end(), is_space);
  const auto* const end = std::find_if(begin, line.end(), is_space);
  const std::string_view token(begin, static_cast<std::size_t>(end - begin));
  line.remove_prefix(static_cast<std::size_t>(end - line.begin()));
  return token;
}

std::optional<Level> word_before_colon(std::string_view token) noexcept {
  return token.ends_with(':') ? parse_level(token.substr(0, token.size() - 1)) : std::nullopt;
}

// `[word]`, also behind other brackets as in `[12:30:01][app][warning]`.
std::optional<Level> bracketed_word(std::string_view token) noexcept {
  while (token.starts_with('[')) {
    const std::size_t end = token.find(']');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    if (const auto level = parse_level(token.substr(1, end - 1))) {
      return level;
    }
    token.remove_prefix(end + 1);
  }
  return std::nullopt;
}

bool can_follow_a_word(std::string_view rest) noexcept {
  return rest.empty() || is_one_of(rest.front(), kSeparators) ||
         rest.find_first_not_of(kAfter) == std::string_view::npos;
}

std::optional<Level> upper_case_word(std::string_view token) noexcept {
  const std::size_t begin = std::min(token.find_first_not_of(kBefore), token.size());
  token.remove_prefix(begin);
  const auto end = std::find_if_not(token.begin(), token.end(), is_upper);
  const auto length = static_cast<std::size_t>(end - token.begin());
  if (length == 0 || !can_follow_a_word(token.substr(length))) {
    return std::nullopt;
  }
  return parse_level(token.substr(0, length));
}

bool is_lower_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::optional<Level> level_of_token(std::string_view token) noexcept {
  if (is_lower_or_digit(token.front())) {  // Most are, and can be a level in one form only.
    return word_before_colon(token);
  }
  if (const auto level = bracketed_word(token)) {
    return level;
  }
  if (const auto level = word_before_colon(token)) {
    return level;
  }
  return upper_case_word(token);
}

}  // namespace

std::optional<Level> level_word(std::string_view line) noexcept {
  for (int tokens = 0; tokens < kTokensMax; ++tokens) {
    const std::string_view token = take_token(line);
    if (token.empty()) {
      break;
    }
    if (const auto level = level_of_token(token)) {
      return level;
    }
  }
  return std::nullopt;
}

}  // namespace spillway
