// SPDX-License-Identifier: MIT
//
// ConnectionChoice: whether the next request may go over the connection that was kept. A server, or
// something on the way to it, may close each of them a moment after its answer; a request that is
// sent just then may have been executed, and nobody knows. Pure.
#pragma once

#include <spillway/clock.h>

#include <chrono>
#include <optional>

namespace spillway {

class ConnectionChoice {
 public:
  /// A new connection costs 50 to 100 ms; a request whose answer is lost costs its rows a second
  /// sending. So one of the latter in five minutes is what trying again may cost.
  static constexpr std::chrono::minutes kFreshFor{5};

  [[nodiscard]] bool must_be_fresh() const noexcept { return fresh_until_.has_value(); }

  /// A kept connection broke before a byte of the answer had come.
  void on_broken(SteadyTime now) noexcept { fresh_until_ = now + kFreshFor; }

  /// A whole answer came.
  void on_answer(SteadyTime now) noexcept {
    if (fresh_until_ && *fresh_until_ <= now) {
      fresh_until_.reset();
    }
  }

 private:
  std::optional<SteadyTime> fresh_until_;
};

}  // namespace spillway
