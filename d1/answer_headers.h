// SPDX-License-Identifier: MIT
//
// AnswerHeaders: the few headers of an answer that the client looks at.
#pragma once

#include <spillway/clock.h>
#include <spillway/d1_database.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

class AnswerHeaders {
 public:
  /// A line as it came. A status line begins another answer: what came before was an interim one.
  void take(std::string_view line);
  /// The empty line after the last one has come.
  [[nodiscard]] bool are_whole() const noexcept { return are_whole_; }

  /// Of Retry-After, in seconds or as a date. Empty: absent, or not to be understood.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(WallTime now) const;
  /// Of Ratelimit and Ratelimit-Policy, else of X-Ratelimit-*. Of several limits the one that has
  /// fewest requests left. Empty: the answer names none.
  [[nodiscard]] std::optional<D1RateLimit> rate_limit(WallTime now) const;
  /// Where a redirect leads; empty if it does not say.
  [[nodiscard]] std::string location() const { return value("location"); }

 private:
  [[nodiscard]] std::string value(std::string_view name) const;
  [[nodiscard]] std::optional<D1RateLimit> older_rate_limit(WallTime now) const;

  std::map<std::string, std::string, std::less<>> values_;
  bool are_whole_ = false;
};

}  // namespace spillway
