// SPDX-License-Identifier: MIT
//
// What bounds retries beside their policy: the time that they may take together, and the load that
// they may add.
//
// RetryBudget is a window of time, 6 s by default. The first failure that is worth another attempt
// opens it, and no retry sleeps past its end. RetryScope shares one window among all that a thread
// does, for example while it answers one request:
//
//     void handle(const Request& request) {
//       const spillway::RetryScope scope;  // However many calls fail, they wait 6 s in all.
//       …
//     }
//
// A scope's window opens once and never again: a scope is for one request, not for the life of a
// worker. Without a scope each operation has a window of its own. RetryTokens is for the other
// side: when much fails, it lets few retries through. All are told the time, and none of them
// waits.
#pragma once

#include <spillway/clock.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace spillway {

inline constexpr std::chrono::milliseconds kRetryWindow = std::chrono::seconds(6);

/// Thread-safe.
class RetryBudget {
 public:
  /// Either is opened by the first failure inside. That of an operation which is retried closes
  /// again when what failed inside it has passed: that was no failure of the operation.
  enum class Kind : std::uint8_t { kScope, kOperation };

  /// `window`: from 0 (nothing is tried again) to 24 h. With `outer`, it ends no later than that.
  explicit RetryBudget(std::chrono::milliseconds window = kRetryWindow,
                       std::shared_ptr<RetryBudget> outer = nullptr,
                       Kind kind = Kind::kScope) noexcept;

  /// Opens the window at `now`, if it is not open yet, and gives what is left of it, at least 0.
  [[nodiscard]] std::chrono::milliseconds left_after_failure(SteadyTime now) noexcept;
  /// The operation that it was made for has succeeded.
  void on_success() noexcept;
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  [[nodiscard]] SteadyTime end_after_failure(SteadyTime now, bool is_own) noexcept;
  void close_unless_own() noexcept;

  const std::chrono::milliseconds window_;
  const std::shared_ptr<RetryBudget> outer_;
  const Kind kind_;
  std::mutex mutex_;
  SteadyTime end_ = SteadyTime::max();  ///< max: not open.
  bool is_own_ = false;                 ///< Opened by more than what failed inside.
};

/// From its construction to its destruction, retries of this thread share a budget. A local
/// variable: scopes of a thread end in the opposite order of their beginning.
class [[nodiscard]] RetryScope {
 public:
  /// With a window of its own, which ends no later than that of a scope around it: who opens a
  /// scope need not know whether the caller has.
  explicit RetryScope(std::chrono::milliseconds window = kRetryWindow);
  /// With the budget of another thread's scope, as its `current()` gave it there, in the place of
  /// any scope around. Null: none.
  explicit RetryScope(std::shared_ptr<RetryBudget> budget) noexcept;
  explicit RetryScope(int) = delete;  ///< 0 is no duration, and no null pointer is meant.
  RetryScope(const RetryScope&) = delete;
  RetryScope& operator=(const RetryScope&) = delete;
  ~RetryScope();
  static void* operator new(std::size_t) = delete;

  /// The budget of this thread's innermost scope or retried operation; null outside of any.
  [[nodiscard]] static std::shared_ptr<RetryBudget> current() noexcept;

 private:
  std::shared_ptr<RetryBudget> before_;
};

/// A bound on the load that retries add, to be shared by all who use the same database. It starts
/// with 10 tokens and never holds more. A retry takes one, or does not happen; each success adds a
/// tenth, and every 30 s one more, so that retries come back also where nothing succeeds. While
/// all goes wrong, there is about one retry for ten successes. Thread-safe.
class RetryTokens {
 public:
  [[nodiscard]] bool take(SteadyTime now) noexcept;
  void on_success(SteadyTime now) noexcept;

 private:
  // In thousandths of a token, so that the sums are exact.
  void add(std::int64_t thousandths) noexcept;
  void refill(SteadyTime now) noexcept;

  std::mutex mutex_;
  std::int64_t thousandths_ = 10'000;
  std::optional<SteadyTime> refilled_until_;
};

}  // namespace spillway
