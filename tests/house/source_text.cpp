// SPDX-License-Identifier: MIT
#include "tests/house/source_text.h"

#include <algorithm>

namespace spillway::house {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_identifier_part(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// Behind the next `mark` from `from` on, or the end.
std::size_t behind(std::string_view text, std::string_view mark, std::size_t from) {
  const std::size_t found = text.find(mark, from);
  return found == kNone ? text.size() : found + mark.size();
}

// Behind the literal whose opening quote is at `at`.
std::size_t behind_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

std::size_t behind_raw_string(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == kNone) {
    return text.size();
  }
  const std::string_view delimiter = text.substr(at + 2, open - at - 2);
  return behind(text, ")" + std::string(delimiter) + "\"", open);
}

// Behind the comment or literal that begins at `at`; `at` itself if none does.
std::size_t behind_no_code(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const bool continues_word = at > 0 && is_identifier_part(text[at - 1]);
  if (rest.starts_with("//")) {
    return std::min(text.find('\n', at), text.size());
  }
  if (rest.starts_with("/*")) {
    return behind(text, "*/", at + 2);
  }
  if (rest.starts_with("R\"") && !continues_word) {
    return behind_raw_string(text, at);
  }
  // In 1'000 the quote is no literal.
  const bool is_literal = rest.front() == '"' || (rest.front() == '\'' && !continues_word);
  return is_literal ? behind_literal(text, at) : at;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string code_of(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = behind_no_code(text, at);
    for (std::size_t i = at; i < end; ++i) {
      code[i] = text[i] == '\n' ? '\n' : ' ';
    }
    at = std::max(end, at + 1);
  }
  return code;
}

std::vector<Include> includes_of(std::string_view text) {
  constexpr std::string_view kDirective = "#include ";
  const std::string code = code_of(text);
  std::vector<Include> includes;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const auto offset = static_cast<std::size_t>(line.data() - text.data());
    if (!line.starts_with(kDirective) || code[offset] != '#') {
      continue;
    }
    const std::string_view name = line.substr(kDirective.size());
    const bool is_quoted = name.starts_with('"');
    const std::size_t end = name.find(is_quoted ? '"' : '>', 1);
    includes.push_back({number, std::string(name.substr(1, end - 1)), is_quoted});
  }
  return includes;
}

std::vector<std::size_t> lines_with(std::string_view code, std::string_view word) {
  std::vector<std::size_t> found;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    for (std::size_t at = line.find(word); at != kNone; at = line.find(word, at + 1)) {
      if (at == 0 || !is_identifier_part(line[at - 1])) {
        found.push_back(number);
        break;
      }
    }
  }
  return found;
}

std::size_t width_of(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;  // Not a continuation byte.
  }));
}

}  // namespace spillway::house
