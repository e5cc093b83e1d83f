// SPDX-License-Identifier: MIT
//
// retry: runs an operation again when its failure is likely to pass and doing it twice is safe.
//
//     const auto user = spillway::retry([&] { return fetch_user(id); },  // A Result or a Status.
//                                       {.policy = spillway::RetryPolicy::session_read(),
//                                        .operation = "fetch user",
//                                        .is_read_only = true});
//
// For a Database there is <spillway/retrying_database.h>, which knows its statements.
//
// What comes back is what the last attempt returned: its value, or its error as it is, in no
// wrapping. Only execution() of an error speaks for all attempts: kMaybe if any of them may have
// been executed; and an attempt that the deadline or `cancel` cut short has the failure before it
// as its cause. How many there were, how long it took and why it ended is in the RetryReport.
#pragma once

#include <spillway/clock.h>
#include <spillway/retry_budget.h>
#include <spillway/retry_policy.h>
#include <spillway/sleeper.h>
#include <spillway/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace spillway {

/// An attempt has failed, and another one follows after `delay`.
struct RetryEvent {
  std::string operation;
  bool is_read_only = false;
  int attempt = 1;  ///< The one that failed, from 1.
  int attempts_max = 1;
  StatusCode failure_class = StatusCode::kOk;
  Status failure = {};
  std::chrono::milliseconds delay{0};
};

/// Called before each wait, on the thread that waits. What it throws is dropped. It should not
/// write to the database that has just failed: see <spillway/retry_log.h>.
using RetryObserver = std::function<void(const RetryEvent&)>;

/// True for a failure that is likely to pass within seconds: kTransient, kLost and kOverload, where
/// the database does not say that what stands in the way takes its time. That, and kRateLimited,
/// only if it comes with a Retry-After.
[[nodiscard]] bool is_passing(const Status& failure) noexcept;

/// True for any 5xx, which services other than D1 mean so: http_status() decides.
[[nodiscard]] bool is_server_error(const Status& failure) noexcept;

struct RetryOptions {
  RetryPolicy policy = RetryPolicy::executor();

  std::string operation = {};  ///< A name for the observer.
  /// It changes nothing, so that it may be done again after any failure.
  bool is_read_only = false;
  /// It changes something, but doing it twice does no harm: as if it were read-only.
  bool is_idempotent = false;

  /// No wait reaches this time. The first attempt is made all the same, and none is cut short: an
  /// operation that may take long has to look at it too.
  std::optional<SteadyTime> deadline = {};
  /// Ends the wait at once, and with it the retries.
  std::stop_token cancel = {};

  /// Whether a failure may be tried again, whatever the operation does: it replaces the rule above,
  /// which is is_passing() for what is read-only or idempotent, or was not executed. Beyond D1:
  /// [](const Status& failure) { return is_passing(failure) || is_server_error(failure); }
  std::function<bool(const Status&)> predicate = {};

  RetryObserver on_retry = {};
  std::shared_ptr<RetryTokens> tokens = {};  ///< Empty: no bound on the load that retries add.

  /// Gives numbers in [0, 1), for the jitter. Empty: the system's randomness.
  std::function<double()> random = {};
  /// Both must outlive the call. Not null.
  const Clock* clock = &Clock::system();
  Sleeper* sleeper = &Sleeper::system();
};

/// Why there was no further attempt.
enum class RetryEnd : std::uint8_t {
  kSucceeded,
  kRefused,       ///< The failure, or the operation, is none to try again.
  kAttemptsUsed,  ///< RetryPolicy::attempts_max.
  kOutOfTime,     ///< The next wait, or Retry-After, ends after the window or the deadline.
  kNoTokens,
  kCancelled,  ///< While it waited, or in an attempt.
  kThrew,      ///< The operation or the predicate did.
};

struct RetryReport {
  int attempts = 0;  ///< That came to an end.
  /// From the beginning of the first attempt to the end of the last, waits included.
  std::chrono::milliseconds elapsed{0};
  RetryEnd end = RetryEnd::kSucceeded;
};

namespace internal {

/// All of `retry` that does not depend on what the operation returns.
class RetryLoop {
 public:
  /// `options`, and `report` if there is one, must outlive the loop.
  RetryLoop(const RetryOptions& options, RetryReport* report);

  /// Tells the outcome of an attempt. True, after the wait: make another one.
  [[nodiscard]] bool goes_on_after(const Status& outcome);
  /// What to return for the last outcome.
  [[nodiscard]] Status final_status(const Status& outcome) const;

 private:
  [[nodiscard]] bool may_repeat(const Status& failure) const;
  [[nodiscard]] RetryEnd why_refused(const Status& failure) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> delay_after(const Status& failure,
                                                                     SteadyTime now);
  [[nodiscard]] std::chrono::milliseconds time_left(SteadyTime now) const;
  [[nodiscard]] double random() const;
  void tell(const Status& failure, std::chrono::milliseconds delay) const;

  const RetryOptions& options_;
  std::optional<RetryScope> own_scope_;
  std::shared_ptr<RetryBudget> budget_;
  const SteadyTime began_;
  bool is_in_doubt_ = false;
  Status failure_;  ///< The last one that another attempt followed.
  RetryReport own_report_;
  RetryReport& report_;
};

inline const Status& status_of(const Status& outcome) { return outcome; }
template <typename T>
Status status_of(const Result<T>& outcome) {
  return outcome.status();
}

}  // namespace internal

/// Calls `operation` until it succeeds or nothing more is to be done, and returns what it returned:
/// a Status or a Result<T>. Blocks for the attempts and the waits between them: outside of a
/// RetryScope these are at most kRetryWindow, and what they are is told to `report`. What
/// the operation or the predicate throws passes through at once, and so does std::bad_alloc.
/// Thread-safe as far as the operation is.
template <typename Operation>
[[nodiscard]] auto retry(Operation&& operation, const RetryOptions& options = {},
                         RetryReport* report = nullptr) {
  internal::RetryLoop loop(options, report);
  while (true) {
    auto outcome = operation();
    const Status status = internal::status_of(outcome);
    if (loop.goes_on_after(status)) {
      continue;
    }
    return status.is_ok() ? std::move(outcome) : decltype(outcome)(loop.final_status(status));
  }
}

}  // namespace spillway
