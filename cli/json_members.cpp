// SPDX-License-Identifier: MIT
#include "cli/json_members.h"

#include <algorithm>
#include <cstddef>

namespace spillway {
namespace {

constexpr std::string_view kSpace = " \t\n\r";

std::size_t after_space(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// Behind the closing quote of the string that begins at `at`; npos if it does not end.
std::size_t after_string(std::string_view text, std::size_t at) noexcept {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      return i + 1;
    }
    i += text[i] == '\\' ? 1U : 0U;
  }
  return std::string_view::npos;
}

// The next `,` or closing bracket that does not belong to the value begun at `at`; npos if there is
// none.
std::size_t after_value(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_string(text, at);
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ',')) {
      return at;
    }
    depth += c == '{' || c == '[' ? 1U : 0U;
    depth -= closes ? 1U : 0U;
    ++at;
  }
  return std::string_view::npos;
}

std::string_view without_space_behind(std::string_view text) noexcept {
  const std::size_t last = text.find_last_not_of(kSpace);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Takes the member that begins at `at` and gives where it ends; npos if there is none.
std::size_t take_member(std::string_view text, std::size_t at, JsonMember& member) {
  const std::size_t key_end =
      at < text.size() && text[at] == '"' ? after_string(text, at) : std::string_view::npos;
  if (key_end == std::string_view::npos) {
    return key_end;
  }
  member.key = text.substr(at + 1, key_end - at - 2);
  const std::size_t colon = after_space(text, key_end);
  if (colon == text.size() || text[colon] != ':') {
    return std::string_view::npos;
  }
  const std::size_t begin = after_space(text, colon + 1);
  const std::size_t end = after_value(text, begin);
  if (end == std::string_view::npos) {
    return end;
  }
  member.value = without_space_behind(text.substr(begin, end - begin));
  return member.value.empty() ? std::string_view::npos : end;
}

bool is_only_space(std::string_view text) noexcept {
  return text.find_first_not_of(kSpace) == std::string_view::npos;
}

}  // namespace

std::optional<std::vector<JsonMember>> json_members(std::string_view text) {
  std::vector<JsonMember> members;
  std::size_t at = after_space(text, 0);
  if (at == text.size() || text[at] != '{') {
    return std::nullopt;
  }
  at = after_space(text, at + 1);
  if (at < text.size() && text[at] == '}' && is_only_space(text.substr(at + 1))) {
    return members;
  }
  while (true) {
    const std::size_t end = take_member(text, at, members.emplace_back());
    if (end == std::string_view::npos || text[end] == ']') {
      return std::nullopt;
    }
    if (text[end] == '}') {
      return is_only_space(text.substr(end + 1)) ? std::optional(std::move(members)) : std::nullopt;
    }
    at = after_space(text, end + 1);
  }
}

std::optional<std::string_view> plain_string(std::string_view value) {
  const bool is_string = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  if (!is_string || value.find('\\') != std::string_view::npos) {
    return std::nullopt;
  }
  return value.substr(1, value.size() - 2);
}

}  // namespace spillway
