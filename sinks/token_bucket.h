// SPDX-License-Identifier: MIT
//
// TokenBucket: how soon the next request may go, so that a database gets no more of them than it
// takes. Pure: it is told the time.
//
// It holds one number, the time at which the bucket is full again: each request moves it by what
// one token takes. In whole nanoseconds this is exact, so a wake-up at the time that it names is
// never too early.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>

#include <algorithm>
#include <chrono>

namespace spillway {

class TokenBucket {
 public:
  enum class Share : std::uint8_t {
    kAll,         ///< The last token too: what ERROR may take.
    kAllButLast,  ///< Of a bucket that holds a single one, that one.
  };

  /// From now on. What was taken from the bucket stays taken.
  void set_rate(RequestRate rate) noexcept {
    using Seconds = std::chrono::duration<double>;
    // Slower is no rate but an outage, and longer times would overflow.
    constexpr Seconds kSlowest = std::chrono::hours(1);
    const bool is_limited = rate.per_second > 0;
    const Seconds each = is_limited ? std::min(Seconds(1 / rate.per_second), kSlowest) : Seconds(0);
    per_token_ = std::chrono::ceil<std::chrono::nanoseconds>(each);
    burst_ = std::clamp(rate.burst, 1, kBurstMax);
  }

  /// When there is a token, a time in the past if there is one already.
  [[nodiscard]] SteadyTime available_at(Share share) const noexcept {
    const bool keeps_one = share == Share::kAllButLast && burst_ > 1;
    return full_at_ - (burst_ - (keeps_one ? 2 : 1)) * per_token_;
  }

  /// More than there are may be taken: later ones make up for it.
  void take(int tokens, SteadyTime now) noexcept {
    full_at_ = std::max(full_at_, now) + tokens * per_token_;
  }

 private:
  static constexpr int kBurstMax = 100'000;

  std::chrono::nanoseconds per_token_{0};
  int burst_ = 1;
  SteadyTime full_at_{};
};

}  // namespace spillway
