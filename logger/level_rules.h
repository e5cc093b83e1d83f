// SPDX-License-Identifier: MIT
//
// LevelRules: levels by the names of loggers, as the environment gives them. Pure.
#pragma once

#include <spillway/record.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// The lowest level that is logged, as a number; above all levels when nothing is.
inline constexpr std::uint8_t kThresholdOff = kLevelCount;

struct LevelRule {
  std::string name;  ///< Empty: for all.
  std::uint8_t threshold = 0;
};

class LevelRules {
 public:
  /// `info,payments=debug`, see LoggerOptions::level_variable. Blanks around words do not count; of
  /// two rules for one name the last one does.
  explicit LevelRules(std::string_view text);

  /// The rule for a logger of this name; null: there is none.
  [[nodiscard]] const LevelRule* rule_for(std::string_view name) const noexcept;
  /// What could not be read.
  [[nodiscard]] const std::vector<std::string>& unreadable() const noexcept { return unreadable_; }

 private:
  void read(std::string_view item);

  std::vector<LevelRule> rules_;
  std::vector<std::string> unreadable_;
};

}  // namespace spillway
