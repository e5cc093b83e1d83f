// SPDX-License-Identifier: MIT
//
// Goal: `spillway log` into D1 over HTTP loses no line uncounted and doubles no row, whatever
// becomes of the answers, leaves an overloaded D1 in peace, and keeps the token to itself. Method:
// the real program against the scripted D1; the account is taken from its table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <spillway/d1_database.h>

#include "tests/cli/log_file.h"
#include "tests/support/sanitizers.h"
#include "tests/support/scripted_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr milliseconds kErrorInterval(500);
constexpr const char* kSecret = "abcSECRETxyz";

class LogD1 : public ::testing::Test {
 protected:
  [[nodiscard]] ProcessOptions log(const std::string& write_pause) const {
    return {.argv = {SPILLWAY_PROGRAM, "log", "--db", d1.url(), "--write-pause", write_pause,
                     "--error-interval", "500ms"},
            .env = {{"CLOUDFLARE_API_TOKEN", kSecret}, {"CLOUDFLARE_API_BASE_URL", d1.base_url()}},
            .working_directory = directory.path()};
  }

  /// Feeds a line each 20 ms, an ERROR each 10 lines.
  void feed_for(Subprocess& process, milliseconds duration) {
    constexpr milliseconds kLineInterval(20);
    constexpr int kErrorEvery = 10;
    const auto begin = Clock::system().steady_now();
    for (auto due = begin; due < begin + duration; due += kLineInterval) {
      std::this_thread::sleep_until(due);
      const std::string level = lines % kErrorEvery == 0 ? "ERROR" : "INFO";
      ASSERT_TRUE(process.feed(level + " line " + std::to_string(lines) + '\n'));
      ++lines;
    }
  }

  // 0 as long as the program has made no table.
  [[nodiscard]] std::int64_t number(const std::string& sql) {
    const std::string text = d1.value(sql);
    const bool is_nothing = text == "none" || text == "NULL" || text.empty();
    return is_nothing || text == "no such table: logs" ? 0 : std::stoll(text);
  }
  [[nodiscard]] std::int64_t rows() {
    return number("SELECT count(*) FROM logs WHERE context <> 'spillway'");
  }
  [[nodiscard]] std::int64_t named_in_gap_rows() {
    return number("SELECT total(fields->>'total') FROM logs WHERE context = 'spillway'");
  }
  void expect_that_no_line_is_missing_or_doubled() {
    EXPECT_EQ(rows() + named_in_gap_rows(), lines);
    EXPECT_EQ(number("SELECT count(DISTINCT message) FROM logs WHERE context <> 'spillway'"),
              rows());
  }

  ScriptedD1 d1{{.token = kSecret}};
  TempDir directory;
  std::int64_t lines = 0;
};

/// Returns when `is_so`, at the latest after a while.
template <typename Condition>
void await(Condition is_so) {
  const auto end = Clock::system().steady_now() + seconds(40);
  while (!is_so() && Clock::system().steady_now() < end) {
    std::this_thread::sleep_for(milliseconds(50));
  }
}

std::string numbered_lines(std::int64_t first, std::int64_t count) {
  std::string text;
  for (std::int64_t line = first; line < first + count; ++line) {
    text += "INFO line " + std::to_string(line) + '\n';
  }
  return text;
}

TEST_F(LogD1, StoresEveryLineInFewRequests) {
  lines = 2'000;
  const ProcessResult result = run(log("30s"), numbered_lines(0, lines));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  expect_that_no_line_is_missing_or_doubled();
  EXPECT_EQ(named_in_gap_rows(), 0);
  EXPECT_LE(d1.counts().requests, 12U);
}

// More than the requests of a close can carry; that is why it takes some seconds. Three answers
// that are lost in a row keep the writes from going well for longer than a moment.
TEST_F(LogD1, WritesAFileThatWasPipedInToItsEndInSpiteOfLostAnswers) {
  lines = 18'000;
  std::size_t writes = 0;
  d1.only_for("INSERT");
  d1.set_rule([&writes](const D1Request&) {
    const bool is_lost = ++writes >= 3 && writes < 6;
    return is_lost ? D1Fault::lost_before().named("lost") : D1Fault::pass();
  });
  const ProcessResult result = run(log("30s"), numbered_lines(0, lines));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(rows(), lines);
  EXPECT_EQ(d1.counts().by_fault["lost"], 3U) << "the faults were not met";
}

// One attempt of 10 s and the close of 5 s; a second attempt would make it 25 s.
TEST_F(LogD1, WaitsAtTheEndForOneAttemptOfAD1ThatDoesNotAnswer) {
  d1.set_rule([](const D1Request&) { return D1Fault::hang(D1Fault::Run::kNever); });
  Subprocess process(log("30s"));
  ASSERT_TRUE(process.feed("INFO one\n"));
  const auto begin = Clock::system().steady_now();
  const ProcessResult result = process.wait(seconds(60), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.out, HasSubstr("\"unreported\":1"));
  EXPECT_GT(Clock::system().steady_now() - begin, seconds(9));
  EXPECT_LT(Clock::system().steady_now() - begin, seconds(20));
}

TEST_F(LogD1, LeavesAFileWhereItIsWhenItIsAskedToStop) {
  lines = 60'000;  // Half a minute.
  Subprocess process(log("30s"));
  ASSERT_TRUE(process.feed(numbered_lines(0, lines)));
  process.close_stdin();
  await([this] { return rows() > 0; });
  process.send_signal(SIGTERM);
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 6) << "but it has told what is missing";
  EXPECT_THAT(result.err, HasSubstr("records lost"));
  EXPECT_LT(rows(), lines);
}

TEST_F(LogD1, SendsOneRequestPerIntervalWhileD1IsOverloaded) {
  Subprocess process(log("2s"));
  feed_for(process, seconds(1));
  const std::size_t before = d1.requests().size();
  d1.set_rule(refuse_writes(D1Fault::overloaded()));
  feed_for(process, seconds(3));
  const std::size_t after = d1.requests().size();
  d1.set_rule({});
  feed_for(process, seconds(3));
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_that_no_line_is_missing_or_doubled();
  EXPECT_GE(named_in_gap_rows(), 100);
  EXPECT_THAT(d1.value("SELECT message FROM logs WHERE context = 'spillway'"),
              HasSubstr("Log persistence paused while D1 was overloaded, "));

  const std::vector<D1Request> requests = d1.requests();
  // Each one refused, and each so long after the one before it that no interval has two.
  ASSERT_GE(after, before + 3) << "the overload was not met";
  const auto first = requests[before].arrived;
  for (std::size_t index = before + 1; index < after; ++index) {
    const auto slots = (requests[index].arrived - first + kErrorInterval / 2) / kErrorInterval;
    EXPECT_LE(static_cast<std::int64_t>(index - before), slots);
  }
}

TEST_F(LogD1, DoublesNoRowWhileAnswersAreLost) {
  d1.set_rule(by_chance(1, {{0.3, D1Fault::lost_after().named("lost")},
                            {0.1, D1Fault::masked(html_reply(502)).named("html")},
                            {0.05, D1Fault::cut(20).named("cut")}}));
  Subprocess process(log("1s"));
  constexpr int kLinesAtOnce = 400;
  for (lines = 0; lines < 20'000; lines += kLinesAtOnce) {
    ASSERT_TRUE(process.feed(numbered_lines(lines, kLinesAtOnce)));
    std::this_thread::sleep_for(milliseconds(100));
  }
  // A close waits 5 s; here it is not to be what decides.
  await([this] { return rows() + named_in_gap_rows() >= lines; });
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_that_no_line_is_missing_or_doubled();
  EXPECT_GE(d1.counts().by_fault["lost"], 1U) << "the faults were not met";
}

// The control: without keys of the rows' own the same faults double rows, so the test above can
// fail.
TEST_F(LogD1, WouldDoubleRowsWithAPlainInsert) {
  auto database = D1Database::open({.account_id = d1.options().account_id,
                                    .database_id = d1.options().database_id,
                                    .token = kSecret,
                                    .base_url = d1.base_url()});
  ASSERT_TRUE(database) << database.error().to_string();
  const Statement create{"CREATE TABLE plain(message TEXT)"};
  ASSERT_TRUE((*database)->execute(std::span(&create, 1), {}));
  d1.set_rule(by_chance(1, {{0.3, D1Fault::lost_after()}}));
  constexpr int kRows = 50;
  for (int row = 0; row < kRows; ++row) {
    const Statement insert{"INSERT INTO plain VALUES(?)", {{"row " + std::to_string(row)}}};
    while (!(*database)->execute(std::span(&insert, 1), {})) {  // Sends again what seems lost.
    }
  }
  EXPECT_EQ(number("SELECT count(DISTINCT message) FROM plain"), kRows);
  EXPECT_GT(number("SELECT count(*) FROM plain"), kRows);
}

std::string http_date_in(seconds delay) {
  const std::time_t time = std::chrono::system_clock::to_time_t(Clock::system().wall_now() + delay);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

/// From "paused for 300 s: …" on stderr; 0 if that is not there.
int seconds_told(const std::string& err) {
  constexpr std::string_view kBefore = "paused for ";
  const std::size_t at = err.find(kBefore);
  return at == std::string::npos ? 0 : std::stoi(err.substr(at + kBefore.size()));
}

struct RetryAfterCase {
  std::string header;  // Empty: none. "DATE": the date in 400 s.
  int told_min;        // Seconds.
  int told_max;
};

TEST_F(LogD1, SendsNothingWhileARetryAfterRuns) {
  // A date is as far away as the machine is slow: it is told when the answer is there.
  const std::vector<RetryAfterCase> cases = {{"300", 300, 300}, {"DATE", 340, 400},
                                             {"", 300, 300},    {"-5", 300, 300},
                                             {"abc", 300, 300}, {"99999999", 900, 900}};
  for (const RetryAfterCase& each : cases) {
    const std::string header = each.header == "DATE" ? http_date_in(seconds(400)) : each.header;
    ScriptedD1 limited({.token = kSecret});
    limited.set_rule([&header](const D1Request&) { return D1Fault::rate_limited(header); });
    ProcessOptions options = log("2s");
    options.argv[3] = limited.url();
    options.env = {{"CLOUDFLARE_API_TOKEN", kSecret},
                   {"CLOUDFLARE_API_BASE_URL", limited.base_url()}};
    Subprocess process(options);
    ASSERT_TRUE(process.feed("ERROR first\n"));
    ASSERT_TRUE(process.wait_for_text("paused", seconds(20))) << process.err();
    const std::size_t asked = limited.counts().requests;
    feed_for(process, milliseconds(600));  // Longer than the error interval.
    const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 6);
    EXPECT_GE(seconds_told(result.err), each.told_min) << each.header << '\n' << result.err;
    EXPECT_LE(seconds_told(result.err), each.told_max) << each.header << '\n' << result.err;
    EXPECT_EQ(limited.counts().requests, asked) << each.header;
  }
}

TEST_F(LogD1, TellsTheTokenToNobodyButD1) {
  d1.set_rule([](const D1Request&) { return D1Fault::echo(); });
  const ProcessResult refused = run(log("1s"), "INFO one\nERROR two\n");
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.err, HasSubstr("auth"));
  EXPECT_THAT(refused.out + refused.err, Not(HasSubstr("SECRET")));

  ProcessOptions broken = log("1s");
  broken.env[0].second = "abcSECRET\r\nX-Evil: 1";
  const ProcessResult unusable = run(broken, "INFO one\n");
  EXPECT_EQ(unusable.exit_code, 2);
  EXPECT_THAT(unusable.err, HasSubstr("CLOUDFLARE_API_TOKEN"));
  EXPECT_THAT(unusable.out + unusable.err, Not(HasSubstr("SECRET")));
}

TEST_F(LogD1, DoesNotRefuseToStartBecauseOfWhatAServerAnswers) {
  d1.set_rule([](const D1Request&) {
    return D1Fault::error(404, 7404, "The database x could not be found");
  });
  const ProcessResult result = run(log("1s"), "INFO one\n");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_THAT(result.err, HasSubstr("could not be found"));
}

}  // namespace
}  // namespace spillway::testing
