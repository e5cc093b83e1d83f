// SPDX-License-Identifier: MIT
#include "sinks/inbox.h"

#include <gtest/gtest.h>

#include "spillway/testing/fake_clock.h"

#include <chrono>
#include <string>

namespace spillway {
namespace {

TEST(Inbox, CountsWhatItShedsByLevelWithTheTimesOfFirstAndLast) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 4}}, clock);
  const auto offer = [&inbox](int at, Level level) {
    return inbox.accept({.time = WallTime(std::chrono::milliseconds(at)), .level = level});
  };
  EXPECT_TRUE(offer(1, Level::kInfo));
  EXPECT_TRUE(offer(2, Level::kInfo));
  EXPECT_FALSE(offer(5, Level::kInfo));
  EXPECT_FALSE(offer(3, Level::kDebug));
  EXPECT_TRUE(offer(6, Level::kError));
  const Mail mail = inbox.wait(std::nullopt);
  EXPECT_EQ(mail.records.records(), 3U);
  EXPECT_EQ(sum(mail.shed.by_level), 2U);
  EXPECT_EQ(mail.shed.from, WallTime(std::chrono::milliseconds(3)));
  EXPECT_EQ(mail.shed.to, WallTime(std::chrono::milliseconds(5)));
}

TEST(Inbox, WhatTheIntakeThreadKeepsStillCountsAgainstTheLimit) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 4}}, clock);
  EXPECT_TRUE(inbox.accept({}));
  EXPECT_TRUE(inbox.accept({}));
  EXPECT_EQ(inbox.wait(std::nullopt).records.records(), 2U);
  EXPECT_FALSE(inbox.accept({})) << "taken, but still in memory";
  inbox.set_downstream({}, clock.steady_now());
  EXPECT_TRUE(inbox.accept({}));
}

TEST(Inbox, DoesNotCopyMoreOfAMessageThanARowCanHold) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000'000, .records = 100}}, clock);
  const std::string large(3'000'000, 'x');
  EXPECT_TRUE(inbox.accept({.message = large}));
  const Mail mail = inbox.wait(std::nullopt);
  EXPECT_EQ(mail.records.front().message.size(), 2'000'000U);
  EXPECT_EQ(mail.records.front().message_bytes, 3'000'000U);
}

TEST(Inbox, DoesNotWaitForRoomWhenWaitingIsOfNoUse) {
  testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 2}}, clock);
  EXPECT_TRUE(inbox.accept({}));
  clock.advance(std::chrono::seconds(1));  // The grace of the start is over.
  inbox.wait_for_room(Level::kInfo, 0);    // Returns, or the test does not end.
  inbox.set_downstream({}, SteadyTime::min());
  inbox.wait_for_room(Level::kInfo, 0);
}

TEST(Inbox, AcceptsNothingAfterCloseAndCountsTheCalls) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 1'000, .records = 100}}, clock);
  inbox.request_close(clock.steady_now());
  EXPECT_FALSE(inbox.accept({}));
  EXPECT_FALSE(inbox.accept({}));
  EXPECT_EQ(inbox.calls_after_close(), 2U);
  EXPECT_TRUE(inbox.wait(std::nullopt).records.is_empty());
}

}  // namespace
}  // namespace spillway
