// SPDX-License-Identifier: MIT
#include <spillway/retry_policy.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spillway {
namespace {

using std::chrono::milliseconds;

constexpr double kDelayMin = 1;
constexpr double kDelayMax = milliseconds(std::chrono::hours(24)).count();

// Not a number counts as `low`.
double within(double low, double value, double high) noexcept {
  return value > low ? std::min(value, high) : low;
}

double in_ms(milliseconds delay) noexcept { return static_cast<double>(delay.count()); }

double listed(const std::vector<milliseconds>& delays, int attempt) noexcept {
  return in_ms(delays[std::min(static_cast<std::size_t>(attempt), delays.size()) - 1]);
}

// Infinite after many attempts, which the cap takes care of.
double grown(const RetryPolicy& policy, int attempt) noexcept {
  return in_ms(policy.initial) * std::pow(within(1, policy.factor, kDelayMax), attempt - 1);
}

}  // namespace

RetryPolicy RetryPolicy::panel() {
  return {.delays = {milliseconds(200), milliseconds(600), milliseconds(1500), milliseconds(3000)},
          .jitter_min = 0.5,
          .jitter_max = 1.5,
          .writes = RetryWrites::kNever};
}

RetryPolicy RetryPolicy::executor() { return {}; }

RetryPolicy RetryPolicy::session_read() {
  return {.delays = {milliseconds(150), milliseconds(500), milliseconds(1500), milliseconds(3000)},
          .jitter_min = 1,
          .jitter_max = 1,
          .writes = RetryWrites::kNever};
}

RetryPolicy RetryPolicy::none() { return {.attempts_max = 1, .writes = RetryWrites::kNever}; }

milliseconds RetryPolicy::delay_after(int attempt, double random) const noexcept {
  const int failed = std::max(attempt, 1);
  const double most = delays.empty() ? within(kDelayMin, in_ms(cap), kDelayMax) : kDelayMax;
  const double plain = delays.empty() ? grown(*this, failed) : listed(delays, failed);
  const double drawn = jitter_min + within(0, random, 1) * (jitter_max - jitter_min);
  const double jitter = std::isfinite(drawn) ? drawn : 1;
  const double delay = within(kDelayMin, within(kDelayMin, plain, most) * jitter, most);
  return milliseconds(std::llround(delay));
}

}  // namespace spillway
