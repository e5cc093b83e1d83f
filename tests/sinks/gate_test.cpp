// SPDX-License-Identifier: MIT
#include "sinks/gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

const OverloadPolicy kPolicy{.write_pause = 31s, .error_interval = 5s};
constexpr SteadyTime kStart{1h};
const PauseRule kWithSlots{.reason = GapReason::kOverload, .pause = 30s, .has_slots = true};
const PauseRule kWithoutSlots{.reason = GapReason::kAuth, .pause = 60s};

struct RuleCase {
  StatusCode code;
  Remedy remedy;
  GapReason reason;
  milliseconds pause;
  bool has_slots = false;
  milliseconds quiet = 0ms;
};

TEST(PauseRule, IsTheTableOfErrorClasses) {
  const RuleCase cases[] = {
      {StatusCode::kOverload, Remedy::kPause, GapReason::kOverload, 31s, true},
      {StatusCode::kRateLimited, Remedy::kPause, GapReason::kRateLimited, 300s, false, 300s},
      {StatusCode::kTransient, Remedy::kResend, GapReason::kUnreachable, 31s, true},
      {StatusCode::kLost, Remedy::kResend, GapReason::kUnreachable, 31s, true},
      {StatusCode::kTooBig, Remedy::kSplit, GapReason::kRefused, 0s},
      {StatusCode::kConstraint, Remedy::kSplit, GapReason::kRefused, 0s},
      {StatusCode::kSchema, Remedy::kPause, GapReason::kSchema, 60s},
      {StatusCode::kStorageFull, Remedy::kPause, GapReason::kStorageFull, 60s},
      {StatusCode::kAuth, Remedy::kPause, GapReason::kAuth, 60s},
      {StatusCode::kConfig, Remedy::kPause, GapReason::kConfig, 60s},
      {StatusCode::kPermanent, Remedy::kPause, GapReason::kPermanent, 60s},
      {StatusCode::kQuota, Remedy::kPause, GapReason::kQuota, 15min},
      {StatusCode::kInvalidArgument, Remedy::kPause, GapReason::kPermanent, 60s},
      {StatusCode::kCancelled, Remedy::kResend, GapReason::kUnreachable, 31s, true},
      {StatusCode::kInternal, Remedy::kResend, GapReason::kUnreachable, 31s, true},
  };
  for (const RuleCase& each : cases) {
    const PauseRule rule = rule_for(Status(each.code, "why"), kPolicy);
    EXPECT_EQ(rule.remedy, each.remedy) << to_string(each.code);
    EXPECT_EQ(rule.reason, each.reason) << to_string(each.code);
    EXPECT_EQ(rule.pause, each.pause) << to_string(each.code);
    EXPECT_EQ(rule.has_slots, each.has_slots) << to_string(each.code);
    EXPECT_EQ(rule.quiet, each.quiet) << to_string(each.code);
  }
}

TEST(PauseRule, OfALastingFailureSendsNothingAgainSoon) {
  const Status lasting = Status(StatusCode::kTransient, "export").with_lasting();
  EXPECT_EQ(rule_for(lasting, kPolicy).remedy, Remedy::kPause);
  const Status refused = Status(StatusCode::kConstraint, "row").with_lasting();
  EXPECT_EQ(rule_for(refused, kPolicy).remedy, Remedy::kSplit);
}

TEST(PauseRule, TakesARetryAfterFromASecondToAQuarterOfAnHour) {
  const struct {
    StatusCode code;
    milliseconds asked;
    milliseconds pause;
    milliseconds quiet;
  } cases[] = {
      {StatusCode::kOverload, 2s, 31s, 2s},         {StatusCode::kOverload, 40s, 40s, 40s},
      {StatusCode::kOverload, 999ms, 31s, 1s},      {StatusCode::kRateLimited, 2s, 2s, 2s},
      {StatusCode::kRateLimited, 999ms, 1s, 1s},    {StatusCode::kRateLimited, -5s, 1s, 1s},
      {StatusCode::kRateLimited, 899s, 899s, 899s}, {StatusCode::kRateLimited, 901s, 900s, 900s},
  };
  for (const auto& each : cases) {
    const PauseRule rule =
        rule_for(Status(each.code, "wait").with_retry_after(each.asked), kPolicy);
    EXPECT_EQ(rule.pause, each.pause) << to_string(each.code) << each.asked.count();
    EXPECT_EQ(rule.quiet, each.quiet) << to_string(each.code) << each.asked.count();
  }
}

TEST(PauseRule, IsThePublishedOneUnlessToldOtherwise) {
  for (const OverloadPolicy& policy : {OverloadPolicy(), OverloadPolicy::reference()}) {
    EXPECT_EQ(policy.write_pause, 30s);
    EXPECT_EQ(policy.error_interval, 5s);
  }
  const PauseRule rule;
  EXPECT_EQ(rule.remedy, Remedy::kPause);
  EXPECT_EQ(rule.reason, GapReason::kOverload);
  EXPECT_EQ(rule.pause, 0s);
  EXPECT_EQ(rule.quiet, 0s);
  EXPECT_FALSE(rule.has_slots);
}

TEST(OverloadGate, IsOpenAtFirst) {
  OverloadGate gate(kPolicy);
  EXPECT_FALSE(gate.is_paused(kStart));
  EXPECT_LT(gate.paused_until(), kStart);
  EXPECT_LT(gate.quiet_until(), kStart);
  EXPECT_EQ(gate.reason(), GapReason::kOverload);
  EXPECT_FALSE(gate.slot_at().has_value());
  EXPECT_FALSE(gate.has_slot(kStart));
}

TEST(OverloadGate, PausesUpToTheEndAndNotAtIt) {
  OverloadGate gate(kPolicy);
  EXPECT_TRUE(gate.pause(kWithoutSlots, false, kStart));
  EXPECT_EQ(gate.paused_until(), kStart + 60s);
  EXPECT_EQ(gate.reason(), GapReason::kAuth);
  EXPECT_TRUE(gate.is_paused(kStart + 60s - 1ns));
  EXPECT_FALSE(gate.is_paused(kStart + 60s));
}

TEST(OverloadGate, APauseThatGoesOnIsNeverShortened) {
  OverloadGate gate(kPolicy);
  EXPECT_TRUE(gate.pause(kWithoutSlots, false, kStart));
  EXPECT_FALSE(gate.pause(kWithSlots, false, kStart + 10s));
  EXPECT_EQ(gate.paused_until(), kStart + 60s);
  EXPECT_EQ(gate.reason(), GapReason::kOverload);
  EXPECT_FALSE(gate.pause(kWithSlots, false, kStart + 59s));
  EXPECT_EQ(gate.paused_until(), kStart + 89s);
  EXPECT_TRUE(gate.pause(kWithSlots, false, kStart + 89s)) << "the one before has ended";
}

TEST(OverloadGate, HasASlotAtOnceAndThenOneForEachInterval) {
  OverloadGate gate(kPolicy);
  gate.on_attempt(kStart, false);
  gate.pause(kWithSlots, false, kStart + 1s);
  EXPECT_EQ(gate.slot_at(), kStart + 1s);
  EXPECT_FALSE(gate.has_slot(kStart + 1s - 1ns));
  EXPECT_TRUE(gate.has_slot(kStart + 1s));
  gate.on_attempt(kStart + 2s, true);
  EXPECT_EQ(gate.slot_at(), kStart + 7s);
  gate.pause(kWithSlots, false, kStart + 3s);
  EXPECT_EQ(gate.slot_at(), kStart + 7s) << "a pause that goes on gives none";
  gate.on_attempt(kStart + 4s, false);
  EXPECT_EQ(gate.slot_at(), kStart + 7s) << "only what uses the slot takes it";
}

TEST(OverloadGate, CountsAHeldBatchAsTheFirstUseOfASlot) {
  OverloadGate gate(kPolicy);
  gate.on_attempt(kStart, true);
  gate.pause(kWithSlots, true, kStart + 1s);
  EXPECT_EQ(gate.slot_at(), kStart + 5s) << "from the beginning of the attempt";
}

TEST(OverloadGate, AnAttemptOutsideOfAPauseTakesNoSlot) {
  OverloadGate gate(kPolicy);
  gate.pause(kWithSlots, false, kStart);
  gate.on_attempt(kStart + 30s, true);
  EXPECT_EQ(gate.slot_at(), kStart);
}

TEST(OverloadGate, HasNoSlotsWhereAPersonHasToAct) {
  OverloadGate gate(kPolicy);
  gate.pause(kWithSlots, false, kStart);
  gate.pause(kWithoutSlots, false, kStart + 1s);
  EXPECT_FALSE(gate.slot_at().has_value());
  EXPECT_FALSE(gate.has_slot(kStart + 10s));
}

TEST(OverloadGate, ASlotThatCameToNothingIsGivenBack) {
  OverloadGate gate(kPolicy);
  gate.pause(kWithSlots, false, kStart);
  gate.on_attempt(kStart, true);
  EXPECT_EQ(gate.slot_at(), kStart + 5s);
  gate.give_back_slot(kStart + 1s);
  EXPECT_EQ(gate.slot_at(), kStart + 1s);
  gate.give_back_slot(kStart + 2s);
  EXPECT_EQ(gate.slot_at(), kStart + 1s) << "never later than it was";
}

TEST(OverloadGate, HasNoSlotWhileItIsToBeQuiet) {
  OverloadGate gate(kPolicy);
  gate.pause(kWithSlots, false, kStart);
  gate.be_quiet(10s, kStart);
  EXPECT_EQ(gate.quiet_until(), kStart + 10s);
  EXPECT_EQ(gate.slot_at(), kStart + 10s);
  gate.be_quiet(2s, kStart);
  EXPECT_EQ(gate.quiet_until(), kStart + 10s) << "a shorter word does not undo a longer one";
}

}  // namespace
}  // namespace spillway
