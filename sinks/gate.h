// SPDX-License-Identifier: MIT
//
// OverloadGate: when may something be written? Open, or paused until a time. Pure: it is told the
// time.
#pragma once

#include <spillway/clock.h>
#include <spillway/overload_policy.h>
#include <spillway/status.h>

#include "sinks/gap.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace spillway {

/// What the pipeline does about a failed attempt.
enum class Remedy : std::uint8_t {
  kPause,   ///< Stop writing for a while.
  kResend,  ///< Send again soon, a few times, then pause.
  kSplit,   ///< The request was refused for what is in it: divide it until what is refused stands
            ///< alone.
};

/// How a class of failure is answered.
struct PauseRule {
  Remedy remedy = Remedy::kPause;
  GapReason reason = GapReason::kOverload;
  std::chrono::milliseconds pause{0};
  bool has_slots = false;              ///< ERROR gets through, one record per interval.
  std::chrono::milliseconds quiet{0};  ///< Nothing at all is sent: the other side asked for it.
};

[[nodiscard]] PauseRule rule_for(const Status& failure, const OverloadPolicy& policy) noexcept;

class OverloadGate {
 public:
  explicit OverloadGate(OverloadPolicy policy) noexcept : policy_(policy) {}

  [[nodiscard]] bool is_paused(SteadyTime now) const noexcept { return now < paused_until_; }
  [[nodiscard]] SteadyTime paused_until() const noexcept { return paused_until_; }
  /// Why writes are paused; of the last pause when they are not.
  [[nodiscard]] GapReason reason() const noexcept { return reason_; }

  /// Until then nothing may be sent, whatever it is.
  [[nodiscard]] SteadyTime quiet_until() const noexcept { return quiet_until_; }
  /// When one attempt may be made in spite of the pause; empty: not in this pause.
  [[nodiscard]] std::optional<SteadyTime> slot_at() const noexcept;
  [[nodiscard]] bool has_slot(SteadyTime now) const noexcept;

  /// An attempt begins. `uses_slot`: it carries a record of level ERROR or a held batch.
  void on_attempt(SteadyTime start, bool uses_slot) noexcept;
  /// The attempt came to nothing through no fault of the database: it may be made again at once.
  void give_back_slot(SteadyTime now) noexcept { next_slot_ = std::min(next_slot_, now); }
  /// Whatever becomes of the attempt: the other side asked not to be spoken to for so long.
  void be_quiet(std::chrono::milliseconds duration, SteadyTime now) noexcept;
  /// The attempt that began last ended at `now` with a failure that this rule answers. `is_held`:
  /// something of it is kept to be sent again. True if a pause began, false if one went on.
  bool pause(const PauseRule& rule, bool is_held, SteadyTime now) noexcept;

 private:
  OverloadPolicy policy_;
  SteadyTime paused_until_ = SteadyTime::min();
  SteadyTime quiet_until_ = SteadyTime::min();
  GapReason reason_ = GapReason::kOverload;
  bool has_slots_ = false;
  SteadyTime attempt_start_;  ///< Of the last one.
  SteadyTime next_slot_;      ///< Set when a pause begins.
};

}  // namespace spillway
