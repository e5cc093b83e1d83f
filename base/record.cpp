// SPDX-License-Identifier: MIT
#include <spillway/record.h>

#include <algorithm>
#include <array>

namespace spillway {
namespace {

// In the order of Level.
constexpr std::array<std::string_view, kLevelCount> kLevelNames = {"TRACE", "DEBUG", "INFO",
                                                                   "WARN",  "ERROR", "CRITICAL"};

struct LevelWord {
  std::string_view word;  // In lower case.
  Level level;
};

constexpr std::array kLevelWords = {
    LevelWord{"trace", Level::kTrace},        LevelWord{"debug", Level::kDebug},
    LevelWord{"info", Level::kInfo},          LevelWord{"information", Level::kInfo},
    LevelWord{"notice", Level::kInfo},        LevelWord{"warn", Level::kWarn},
    LevelWord{"warning", Level::kWarn},       LevelWord{"error", Level::kError},
    LevelWord{"err", Level::kError},          LevelWord{"critical", Level::kCritical},
    LevelWord{"crit", Level::kCritical},      LevelWord{"fatal", Level::kCritical},
    LevelWord{"alert", Level::kCritical},     LevelWord{"emerg", Level::kCritical},
    LevelWord{"emergency", Level::kCritical}, LevelWord{"panic", Level::kCritical},
};

// Unlike std::tolower it does not depend on the locale.
char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_same_word(std::string_view word, std::string_view lower_case) noexcept {
  return std::equal(word.begin(), word.end(), lower_case.begin(), lower_case.end(),
                    [](char left, char right) { return lower(left) == right; });
}

}  // namespace

std::string_view to_string(Level level) noexcept {
  const auto index = static_cast<std::size_t>(level);
  // A number that is no level is shown as the gravest rather than hidden.
  return index < kLevelNames.size() ? kLevelNames[index] : kLevelNames.back();
}

std::optional<Level> parse_level(std::string_view word) noexcept {
  for (const LevelWord& known : kLevelWords) {
    if (is_same_word(word, known.word)) {
      return known.level;
    }
  }
  return std::nullopt;
}

}  // namespace spillway
