// SPDX-License-Identifier: MIT
#include "sinks/gate.h"

#include "sinks/wait_bounds.h"

#include <algorithm>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Each from the table of error classes in docs/failure-modes.md.
constexpr milliseconds kRefusedPause = seconds(60);  // A person has to act; look once a minute.
constexpr milliseconds kQuotaPause = minutes(15);    // Quotas end at 00:00 UTC.

PauseRule with_slots(Remedy remedy, GapReason reason, milliseconds pause) noexcept {
  return {.remedy = remedy, .reason = reason, .pause = pause, .has_slots = true};
}

PauseRule without_slots(GapReason reason, milliseconds pause) noexcept {
  return {.remedy = Remedy::kPause, .reason = reason, .pause = pause, .has_slots = false};
}

PauseRule rule_for_class(StatusCode code, const OverloadPolicy& policy) noexcept {
  switch (code) {
    case StatusCode::kOverload:
      return with_slots(Remedy::kPause, GapReason::kOverload, policy.write_pause);
    case StatusCode::kRateLimited:
      return without_slots(GapReason::kRateLimited, kRateLimitPause);
    case StatusCode::kTooBig:
    case StatusCode::kConstraint:
      return {.remedy = Remedy::kSplit, .reason = GapReason::kRefused};
    case StatusCode::kSchema:
      return without_slots(GapReason::kSchema, kRefusedPause);
    case StatusCode::kStorageFull:
      return without_slots(GapReason::kStorageFull, kRefusedPause);
    case StatusCode::kAuth:
      return without_slots(GapReason::kAuth, kRefusedPause);
    case StatusCode::kConfig:
      return without_slots(GapReason::kConfig, kRefusedPause);
    case StatusCode::kPermanent:
    case StatusCode::kInvalidArgument:
      return without_slots(GapReason::kPermanent, kRefusedPause);
    case StatusCode::kQuota:
      return without_slots(GapReason::kQuota, kQuotaPause);
    case StatusCode::kOk:
    case StatusCode::kTransient:
    case StatusCode::kLost:
    case StatusCode::kCancelled:
    case StatusCode::kInternal:
      break;
  }
  return with_slots(Remedy::kResend, GapReason::kUnreachable, policy.write_pause);
}

}  // namespace

PauseRule rule_for(const Status& failure, const OverloadPolicy& policy) noexcept {
  PauseRule rule = rule_for_class(failure.code(), policy);
  if (rule.remedy == Remedy::kResend && failure.is_lasting()) {  // Four more in 3 s are of no use.
    rule.remedy = Remedy::kPause;
  }
  const bool is_rate_limited = failure.code() == StatusCode::kRateLimited;
  if (failure.retry_after()) {
    const milliseconds asked = std::clamp(*failure.retry_after(), kRetryAfterMin, kRetryAfterMax);
    rule.pause = is_rate_limited ? asked : std::max(rule.pause, asked);
    rule.quiet = asked;
  } else if (is_rate_limited) {  // At close neither: each call counts against the whole account.
    rule.quiet = rule.pause;
  }
  return rule;
}

std::optional<SteadyTime> OverloadGate::slot_at() const noexcept {
  if (!has_slots_) {
    return std::nullopt;
  }
  return std::max(next_slot_, quiet_until_);
}

bool OverloadGate::has_slot(SteadyTime now) const noexcept {
  const std::optional<SteadyTime> at = slot_at();
  return at && *at <= now;
}

void OverloadGate::on_attempt(SteadyTime start, bool uses_slot) noexcept {
  attempt_start_ = start;
  if (is_paused(start) && uses_slot) {
    next_slot_ = start + policy_.error_interval;
  }
}

void OverloadGate::be_quiet(std::chrono::milliseconds duration, SteadyTime now) noexcept {
  quiet_until_ = std::max(quiet_until_, now + duration);
}

bool OverloadGate::pause(const PauseRule& rule, bool is_held, SteadyTime now) noexcept {
  const bool begins = !is_paused(now);
  paused_until_ = std::max(paused_until_, now + rule.pause);
  reason_ = rule.reason;
  has_slots_ = rule.has_slots;
  if (begins) {  // The first ERROR goes at once, unless this attempt carried what is sent again.
    next_slot_ = is_held ? attempt_start_ + policy_.error_interval : now;
  }
  return begins;
}

}  // namespace spillway
