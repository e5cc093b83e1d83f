// SPDX-License-Identifier: MIT
//
// RetryPolicy: how often, and after which waits, what failed is tried again. A value.
//
// The presets are those of two published systems that live with D1; docs/retries.md says which to
// take. What a policy allows may still not happen: see <spillway/retry_budget.h> for the time that
// all waits share, <spillway/retry.h> for the rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace spillway {

/// What becomes of an operation that may change something and was not marked as idempotent. After a
/// failure that leaves open whether it was executed it is never tried again.
enum class RetryWrites : std::uint8_t {
  kNever,            ///< One attempt.
  kWhenNotExecuted,  ///< Again after a failure that says that nothing was executed.
};

struct RetryPolicy {
  /// The first one included. 1 or less: nothing is tried again.
  int attempts_max = 5;

  /// The waits after the first failed attempt, the second, and so on; the last one holds for all
  /// that follow. Empty: `initial`, and after each further attempt `factor` times as long, at most
  /// `cap`.
  std::vector<std::chrono::milliseconds> delays = {};
  std::chrono::milliseconds initial{200};
  double factor = 2;  ///< Below 1 it counts as 1.
  std::chrono::milliseconds cap{2000};

  /// Each wait is multiplied by a random number between the two, so that those who failed together
  /// do not come back together. Without a finite number between them: by 1.
  double jitter_min = 0.8;
  double jitter_max = 1.2;

  RetryWrites writes = RetryWrites::kWhenNotExecuted;

  /// For what a person waits for: 200, 600, 1500 and 3000 ms, each ±50 %; writes never.
  [[nodiscard]] static RetryPolicy panel();
  /// For programs: 200, 400, 800 and 1600 ms, each ±20 %, 3.6 s at most together; a write when it
  /// was certainly not executed. What RetryPolicy{} is.
  [[nodiscard]] static RetryPolicy executor();
  /// For the few reads that everything else waits for, such as who is logged in: 150, 500, 1500 and
  /// 3000 ms, exactly; writes never. Beyond D1 it goes with is_server_error of <spillway/retry.h>.
  [[nodiscard]] static RetryPolicy session_read();
  /// One attempt.
  [[nodiscard]] static RetryPolicy none();

  /// The wait after `attempt` failed attempts, from 1 on; `random` is in [0, 1). From 1 ms to 24 h
  /// for any numbers here and there; where `delays` is empty never above `cap`, whatever the
  /// jitter.
  [[nodiscard]] std::chrono::milliseconds delay_after(int attempt, double random) const noexcept;
};

}  // namespace spillway
