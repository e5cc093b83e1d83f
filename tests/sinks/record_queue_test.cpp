// SPDX-License-Identifier: MIT
#include "sinks/record_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

RecordView record(std::string_view message, Level level = Level::kInfo) {
  return {.time = WallTime(42ms), .level = level, .context = "app", .message = message};
}

std::vector<std::string> drain(RecordQueue& queue) {
  std::vector<std::string> messages;
  while (!queue.is_empty()) {
    messages.emplace_back(queue.front().message);
    queue.pop();
  }
  return messages;
}

TEST(RecordQueue, GivesBackEveryFieldUnchanged) {
  RecordQueue queue;
  queue.push({.time = WallTime(-1ms),
              .level = Level::kCritical,
              .context = "a\0b"sv,
              .message = "\xff\n",
              .fields = R"({"k":1})",
              .message_bytes = 3'000'000});
  const RecordView front = queue.front();
  EXPECT_EQ(front.time, WallTime(-1ms));
  EXPECT_EQ(front.level, Level::kCritical);
  EXPECT_EQ(front.context, "a\0b"sv);
  EXPECT_EQ(front.message, "\xff\n");
  EXPECT_EQ(front.fields, R"({"k":1})");
  EXPECT_EQ(front.message_bytes, 3'000'000U);
}

TEST(RecordQueue, KeepsEncodedFieldsApartFromJsonAndCountsTheirBytes) {
  RecordQueue queue;
  queue.push({.message = "a", .fields = "ignored", .encoded_fields = "\v\0code"sv});
  queue.push({.message = "b", .fields = "{}"});
  EXPECT_EQ(queue.front().encoded_fields, "\v\0code"sv);
  EXPECT_EQ(queue.front().fields, "");
  const std::size_t bytes = queue.bytes();
  EXPECT_EQ(bytes, RecordQueue::bytes_of({.message = "abbbbb", .encoded_fields = "xxxx"}) +
                       RecordQueue::bytes_of({}));
  queue.pop();
  EXPECT_EQ(queue.front().fields, "{}");
  EXPECT_EQ(queue.front().encoded_fields, "");
  queue.pop();
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(RecordQueue, KeepsTheOrderOverManyBlocksAndAppends) {
  RecordQueue queue;
  std::vector<std::string> expected;
  for (int part = 0; part < 50; ++part) {
    RecordQueue more;
    for (int i = 0; i < part * 7 % 100; ++i) {
      expected.push_back(std::to_string(part) + std::string(static_cast<std::size_t>(i) * 31, 'x'));
      more.push(record(expected.back()));
    }
    queue.append(std::move(more));
    EXPECT_TRUE(more.is_empty());  // NOLINT(bugprone-use-after-move): that is the promise.
    EXPECT_EQ(queue.records(), expected.size());
  }
  EXPECT_EQ(drain(queue), expected);
}

TEST(RecordQueue, TakesARecordLargerThanABlock) {
  RecordQueue queue;
  const std::string large(1 << 20, 'x');
  queue.push(record("before"));
  queue.push(record(large));
  queue.push(record("after"));
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"before", large, "after"}));
}

TEST(RecordQueue, CountsRecordsBytesAndErrors) {
  RecordQueue queue;
  queue.push(record("one"));
  queue.push(record("two", Level::kError));
  queue.push(record("three", Level::kCritical));
  EXPECT_EQ(queue.records(), 3U);
  EXPECT_EQ(queue.errors(), 2U);
  EXPECT_EQ(queue.bytes(), 3 * RecordQueue::bytes_of(record("")) + 11U);
  drain(queue);
  EXPECT_EQ(queue.bytes(), 0U);
  EXPECT_EQ(queue.errors(), 0U);
}

TEST(RecordQueue, CanBeFilledAgainAfterItWasEmptied) {
  RecordQueue queue;
  for (int round = 0; round < 3; ++round) {
    queue.push(record("a"));
    queue.push(record("b"));
    EXPECT_EQ(drain(queue), (std::vector<std::string>{"a", "b"}));
  }
}

}  // namespace
}  // namespace spillway
