// SPDX-License-Identifier: MIT
//
// What tests of retries share: a clock that moves only by their sleeps, randomness that is always
// the middle, and the events.
#pragma once

#include <spillway/retry.h>
#include <spillway/testing/fake_clock.h>
#include <spillway/testing/recording_sleeper.h>

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <vector>

namespace spillway::testing {

/// D1's words for what was certainly not executed, and for what may have been.
inline Status too_many_requests() {
  return {StatusCode::kOverload, "D1 DB is overloaded. Too many requests queued."};
}
inline Status internal_error() { return {StatusCode::kLost, "internal error; reference = x"}; }

class RetryFixture : public ::testing::Test {
 protected:
  [[nodiscard]] RetryOptions options(RetryPolicy policy = RetryPolicy::executor()) {
    return {.policy = std::move(policy),
            .on_retry = [this](const RetryEvent& event) { events.push_back(event); },
            .random = [] { return 0.5; },
            .clock = &clock,
            .sleeper = &sleeper};
  }
  [[nodiscard]] std::vector<std::chrono::milliseconds::rep> slept() const {
    std::vector<std::chrono::milliseconds::rep> all;
    for (const std::chrono::milliseconds each : sleeper.slept()) {
      all.push_back(each.count());
    }
    return all;
  }
  [[nodiscard]] std::chrono::milliseconds::rep slept_in_all() const {
    const auto all = slept();
    return std::accumulate(all.begin(), all.end(), std::chrono::milliseconds::rep(0));
  }

  FakeClock clock;
  RecordingSleeper sleeper{clock};
  std::vector<RetryEvent> events;
};

}  // namespace spillway::testing
