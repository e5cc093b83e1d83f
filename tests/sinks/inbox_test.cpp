// SPDX-License-Identifier: MIT
#include "sinks/inbox.h"

#include <spillway/testing/fake_clock.h>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

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

TEST(Inbox, CountsWhatWasLostInFrontOfItApartFromWhatItSheds) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 100}}, clock);
  const auto at = [](int ms) { return WallTime(std::chrono::milliseconds(ms)); };
  inbox.count_lost(3, at(5), at(6));
  inbox.count_lost(4, at(2), at(3));
  const Mail mail = inbox.wait(std::nullopt);
  EXPECT_EQ(mail.overrun.by_level[kUnknownLevel], 7U);
  EXPECT_EQ(mail.overrun.from, at(2));
  EXPECT_EQ(mail.overrun.to, at(6));
  EXPECT_EQ(sum(mail.shed.by_level), 0U);
  inbox.request_close(SteadyTime::min());
  inbox.count_lost(2, at(7), at(8));
  EXPECT_EQ(inbox.calls_after_close(), 2U);
}

TEST(Inbox, OfSeveralClosesTheEarliestDeadlineCounts) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 100}}, clock);
  const auto at = [](int seconds) { return SteadyTime(std::chrono::seconds(seconds)); };
  inbox.request_close(at(10));
  EXPECT_EQ(inbox.wait(std::nullopt).close_deadline, at(10));
  inbox.request_close(at(5));
  inbox.request_close(at(7));
  EXPECT_EQ(inbox.wait(std::nullopt).close_deadline, at(5));
}

TEST(Inbox, DoesNotTakeWhatThePipelinesOwnThreadsLog) {
  const testing::FakeClock clock;
  Inbox inbox({.limit = {.bytes = 100'000, .records = 100}}, clock);
  Inbox another({.limit = {.bytes = 100'000, .records = 100}}, clock);
  std::thread own([&] {
    inbox.own_this_thread();
    EXPECT_FALSE(inbox.accept({}));
    EXPECT_TRUE(another.accept({})) << "one pipeline may log into another";
    EXPECT_FALSE(inbox.accept({}));
  });
  own.join();
  EXPECT_EQ(inbox.reentrant_calls(), 2U);
  EXPECT_TRUE(inbox.accept({}));
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
  inbox.wait_for_room({});                 // Returns, or the test does not end.
  inbox.set_downstream({}, SteadyTime::min());
  inbox.wait_for_room({});
}

TEST(Inbox, DoesNotWaitForARecordThatTheQueueCanNeverHold) {
  const testing::FakeClock clock;  // Stands still, so that waiting would stay worth it.
  Inbox inbox({.limit = {.bytes = 64'000, .records = 100}}, clock);
  const std::string large(40'000, 'x');
  inbox.wait_for_room({.message = large});
  EXPECT_FALSE(inbox.accept({.message = large}));
}

TEST(Inbox, WaitingForRoomAsksForWhatAcceptNeeds) {
  const testing::FakeClock clock;
  const std::string context(900, 'c');
  const RecordView record{.context = context, .message = "m", .fields = "{}"};
  // Half of it holds exactly one such record, so that a second one has to wait.
  Inbox inbox({.limit = {.bytes = 2 * RecordQueue::bytes_of(record), .records = 100}}, clock);
  EXPECT_TRUE(inbox.accept(record));
  std::thread makes_room([&inbox, &clock] {
    const Mail mail = inbox.wait(std::nullopt);
    inbox.set_downstream({}, clock.steady_now() + std::chrono::seconds(1));
  });
  inbox.wait_for_room(record);
  EXPECT_TRUE(inbox.accept(record));
  makes_room.join();
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
