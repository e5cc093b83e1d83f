// SPDX-License-Identifier: MIT
#include "d1/answer_headers.h"

#include <spillway/testing/fake_clock.h>

#include <gtest/gtest.h>

#include <initializer_list>

namespace spillway {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// 2026-08-28T06:35:12Z, as the FakeClock starts.
const WallTime kNow = testing::FakeClock().wall_now();

AnswerHeaders headers(std::initializer_list<const char*> lines) {
  AnswerHeaders headers;
  headers.take("HTTP/1.1 200 OK\r\n");
  for (const char* line : lines) {
    headers.take(line);
  }
  headers.take("\r\n");
  return headers;
}

std::optional<milliseconds> retry_after(const std::string& value) {
  return headers({("Retry-After: " + value + "\r\n").c_str()}).retry_after(kNow);
}

TEST(RetryAfter, MayBeANumberOfSeconds) {
  EXPECT_EQ(retry_after("300"), seconds(300));
  EXPECT_EQ(retry_after("0"), seconds(0));
  EXPECT_EQ(retry_after("  7\t"), seconds(7));
  EXPECT_EQ(retry_after("99999999"), seconds(99'999'999));
}

TEST(RetryAfter, MayBeADate) {
  EXPECT_EQ(retry_after("Fri, 28 Aug 2026 06:40:12 GMT"), seconds(300));
  EXPECT_EQ(retry_after("Friday, 28-Aug-26 06:35:13 GMT"), seconds(1));
  EXPECT_EQ(retry_after("Fri Aug 28 07:35:12 2026"), hours(1));
}

TEST(RetryAfter, IsNoWaitWhenTheDateHasPassed) {
  EXPECT_EQ(retry_after("Fri, 28 Aug 2026 06:35:11 GMT"), seconds(0));
  EXPECT_EQ(retry_after("Thu, 01 Jan 1970 00:00:01 GMT"), seconds(0));
}

TEST(RetryAfter, IsNothingWhenItCannotBeUnderstood) {
  for (const char* value : {"-5", "abc", "", "1.5", "5 minutes", "0x10", "+7", "soon: very"}) {
    EXPECT_EQ(retry_after(value), std::nullopt) << value;
  }
  EXPECT_EQ(headers({}).retry_after(kNow), std::nullopt);
}

TEST(RetryAfter, StaysFiniteWhateverTheNumber) {
  const auto forever = retry_after("99999999999999999999999999");
  ASSERT_TRUE(forever.has_value());
  EXPECT_GT(*forever, hours(24 * 365));
  EXPECT_EQ(retry_after("9223372036854775807"), forever);
}

TEST(AnswerHeaders, FindANameInAnyCaseAndTheLastOfTwo) {
  EXPECT_EQ(headers({"RETRY-AFTER:1\r\n", "retry-after:2\n"}).retry_after(kNow), seconds(2));
}

TEST(AnswerHeaders, BelongToTheLastAnswerAlone) {
  AnswerHeaders interim = headers({"Retry-After: 300\r\n", "Location: https://other\r\n"});
  interim.take("HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(interim.retry_after(kNow), std::nullopt);
  EXPECT_EQ(interim.location(), "");
}

TEST(AnswerHeaders, TakeLinesThatAreNoneOfOurs) {
  const AnswerHeaders odd = headers({"no colon\r\n", ":\r\n", "", "\r\n", " folded\r\n"});
  EXPECT_EQ(odd.location(), "");
  EXPECT_EQ(odd.rate_limit(kNow), std::nullopt);
}

TEST(RateLimit, IsReadFromTheHeadersOfToday) {
  const auto rate = headers({"Ratelimit: \"default\";r=50;t=30\r\n",
                             "Ratelimit-Policy: \"default\";q=100;w=60\r\n"})
                        .rate_limit(kNow);
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->limit, 100);
  EXPECT_EQ(rate->remaining, 50);
  EXPECT_EQ(rate->reset_after, seconds(30));
}

TEST(RateLimit, IsTheTightestOfSeveral) {
  const auto rate = headers({"Ratelimit: \"default\"; r=900; t=200, \"burst\";t=1;r=3\r\n",
                             "Ratelimit-Policy: \"burst\";w=1;q=200, \"default\";q=1200;w=300\r\n"})
                        .rate_limit(kNow);
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->limit, 200);
  EXPECT_EQ(rate->remaining, 3);
  EXPECT_EQ(rate->reset_after, seconds(1));
}

TEST(RateLimit, IsReadFromTheOlderHeadersToo) {
  const auto rate = headers({"X-RateLimit-Limit: 1200\r\n", "x-ratelimit-remaining: 0\r\n",
                             "x-ratelimit-reset: Fri, 28 Aug 2026 06:40:12 GMT\r\n"})
                        .rate_limit(kNow);
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->limit, 1200);
  EXPECT_EQ(rate->remaining, 0);
  EXPECT_EQ(rate->reset_after, seconds(300));
}

TEST(RateLimit, SaysNothingThatWasNotSaid) {
  EXPECT_EQ(headers({}).rate_limit(kNow), std::nullopt);
  EXPECT_EQ(headers({"Ratelimit: ;;,=,r=\r\n", "Ratelimit-Policy: q=1\r\n"}).rate_limit(kNow),
            std::nullopt);
  EXPECT_EQ(headers({"x-ratelimit-limit: many\r\n"}).rate_limit(kNow), std::nullopt);
  const auto half = headers({"Ratelimit: \"default\";r=1\r\n"}).rate_limit(kNow);
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->limit, std::nullopt);
  EXPECT_EQ(half->reset_after, std::nullopt);
}

}  // namespace
}  // namespace spillway
