// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/sinks/spdlog_fixture.h"
#include "tests/support/scoped_environment.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using DatabaseSink = SpdlogFixture;

/// What spdlog_ex says that `call` throws.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const spdlog::spdlog_ex& error) {
    return error.what();
  }
  return "nothing was thrown";
}

auto terms(const Stats& stats) {
  return std::tuple(stats.issued, stats.stored, stats.queued, stats.in_flight, stats.in_doubt,
                    stats.skipped_reported, stats.skipped_pending, stats.own, stats.after_close,
                    stats.reentrant, stats.pauses, stats.attempts, stats.is_complete);
}

// What a row holds.

TEST_F(DatabaseSink, GivesEveryLevelItsWord) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  using spdlog::level::level_enum;
  for (int level = spdlog::level::trace; level <= spdlog::level::off; ++level) {
    log->log(static_cast<level_enum>(level), "message");
  }
  EXPECT_TRUE(sink->close(30s).is_complete);
  std::vector<std::string> levels;
  for (const LogRow& row : rows()) {
    levels.push_back(row.level);
  }
  EXPECT_THAT(levels,
              ElementsAre("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL", "CRITICAL"));
}

TEST_F(DatabaseSink, TakesTheLoggersNameAsContext) {
  auto sink = make_sink();
  for (const char* name : {"app", "", "spillway", "a \"quoted\" näme"}) {
    logger_of({sink}, name)->info("message");
  }
  EXPECT_TRUE(sink->close(30s).is_complete);
  std::vector<std::string> contexts;
  for (const LogRow& row : rows()) {
    contexts.push_back(row.context);
  }
  EXPECT_THAT(contexts, ElementsAre("app", "", "spillway_", "a \"quoted\" näme"));
}

TEST_F(DatabaseSink, StoresThePayloadByteForByteAndRepairsOnlyWhatIsNoText) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"{}{0}{:d}%s%n{{}}", "{}{0}{:d}%s%n{{}}"},
      {"'); DROP TABLE logs; --", "'); DROP TABLE logs; --"},
      {"two\nlines\r\n\ttab \x1b[31mred\x7f", "two\nlines\r\n\ttab \x1b[31mred\x7f"},
      {"grüße, 日本, \xF0\x9F\x8C\x8A", "grüße, 日本, \xF0\x9F\x8C\x8A"},
      {"a\0b"s, "a␀b"},
      {"\xFF\xFE", "\uFFFD\uFFFD"},
      {"lone \x80.", "lone \uFFFD."},
      {"overlong \xC0\xAF.", "overlong \uFFFD\uFFFD."},
      {"surrogate \xED\xA0\x80.", "surrogate \uFFFD\uFFFD\uFFFD."},
      {"cut \xE6\x97", "cut \uFFFD"},
  };
  auto sink = make_sink();
  auto log = logger_of({sink});
  std::vector<std::string> expected;
  for (const auto& [payload, stored] : cases) {
    log->info(payload);
    log->info("{}", payload);
    expected.insert(expected.end(), {stored, stored});
  }
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(messages(), expected);
}

TEST_F(DatabaseSink, StoresMessagesOfEverySize) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  std::vector<std::string> expected;
  for (const std::size_t size :
       {0U, 1U, 249U, 250U, 251U, 499U, 500U, 501U, 4'095U, 65'536U, 1U << 20U}) {
    const std::string text(size, 'x');
    log->info("{}|{}", size, text);
    expected.push_back(std::to_string(size) + "|" + text);
  }
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(messages(), expected);
}

TEST_F(DatabaseSink, CutsAMessageThatFitsIntoNoRowAndSaysHowLongItWas) {
  auto sink = make_sink();
  logger_of({sink})->info(std::string(16 << 20, 'x'));
  EXPECT_TRUE(sink->close(30s).is_complete);
  const std::vector<LogRow> stored = rows();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_GT(stored[0].message.size(), 1'990'000U);
  EXPECT_EQ(stored[0].fields, R"({"original_bytes":16777216})");
}

TEST_F(DatabaseSink, StampsTheTimeOfTheCallInWholeMilliseconds) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  const auto at = [&log](std::chrono::nanoseconds time) {
    const auto duration = std::chrono::duration_cast<spdlog::log_clock::duration>(time);
    log->log(spdlog::log_clock::time_point(duration), {}, spdlog::level::info, "message");
  };
  at(1'787'898'912'345'999'999ns);
  at(0ns);
  at(-1ns);
  EXPECT_TRUE(sink->close(30s).is_complete);
  std::vector<std::string> times;
  for (const LogRow& row : rows()) {
    times.push_back(row.created_at);
  }
  EXPECT_THAT(times, ElementsAre("2026-08-28T06:35:12.345Z", "1970-01-01T00:00:00.000Z",
                                 "1969-12-31T23:59:59.999Z"));
}

TEST_F(DatabaseSink, LeavesAFormatStringThatIsWrongToSpdlog) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  int told = 0;
  log->set_error_handler([&told](const std::string&) { ++told; });
  for (const char* wrong : {"{} {}", "{:d}", "{"}) {
    log->info(spdlog::fmt_lib::runtime(wrong), "text");
  }
  log->info("after it");
  EXPECT_EQ(told, 3);
  EXPECT_EQ(sink->close(30s).issued, 1U) << "what was not formatted never reaches a sink";
  EXPECT_THAT(messages(), ElementsAre("after it"));
}

TEST_F(DatabaseSink, IgnoresPatternsAndFormatters) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  log->set_pattern("*** %v ***");
  log->info("one");
  sink->set_pattern("[%n] %v");
  sink->set_formatter(std::make_unique<spdlog::pattern_formatter>("%l %v"));
  log->info("two");
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_THAT(messages(), ElementsAre("one", "two"));
}

TEST_F(DatabaseSink, TakesOnlyWhatItsLevelLetsThrough) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  sink->set_level(spdlog::level::warn);
  log->info("info");
  log->warn("warn");
  log->error("error");
  EXPECT_EQ(sink->close(30s).issued, 2U);
  EXPECT_THAT(messages(), ElementsAre("warn", "error"));
}

// Loggers and the registry.

TEST_F(DatabaseSink, ServesTwoLoggersInTheOrderOfTheirCalls) {
  auto sink = make_sink();
  auto first = logger_of({sink}, "first");
  auto second = logger_of({sink}, "second");
  first->info("1");
  second->info("2");
  first->info("3");
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_THAT(messages(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE context = 'first'"), 2);
}

TEST_F(DatabaseSink, ALoggerIsRegisteredUnderItsName) {
  auto log = database_logger_mt("registered", url());
  EXPECT_EQ(spdlog::get("registered"), log);
  EXPECT_EQ(log->sinks().size(), 1U);
  log->info("message");
  log.reset();
  spdlog::drop_all();  // The last reference: what is left is sent.
  EXPECT_THAT(messages(), ElementsAre("message"));
}

TEST_F(DatabaseSink, ANameThatIsTakenIsAnErrorAndTheFirstLoggerStays) {
  auto log = database_logger_mt("taken", url());
  EXPECT_THAT(error_of([&] { database_logger_st("taken", url()); }), HasSubstr("taken"));
  EXPECT_EQ(spdlog::get("taken"), log);
}

TEST(DatabaseSinkTypes, ThereIsOneForAnyNumberOfThreads) {
  EXPECT_TRUE((std::is_same_v<sinks::database_sink_mt, sinks::database_sink_st>));
}

// Configuration.

struct BadCall {
  std::string url;
  PipelineOptions options;
  std::string named;  ///< By the error.
};

TEST_F(DatabaseSink, RefusesWhatNoWaitingCanMendWithOneLineThatNamesIt) {
  const std::vector<BadCall> bad_calls = {
      {"", {}, "database URL is empty"},
      {"logs.db", {}, "\"logs.db\" has no scheme"},
      {"sqlite:", {}, "\"sqlite:\" names no file"},
      {"sqlite://host/logs.db", {}, "has // after the scheme"},
      {"postgres:logs", {}, "\"postgres:logs\" has an unknown scheme"},
      {"d1://", {}, "\"d1://\" names no database"},
      {"two\nlines:x", {}, "\"two?lines:x\" has an unknown scheme"},
      {url(), {.table = ""}, "table name"},
      {url(), {.table = std::string(65, 't')}, "table name"},
      {url(), {.table = "a\0b"s}, "table name"},
      {url(), {.overload = {.write_pause = 0ms}}, "overload.write_pause is 0"},
      {url(), {.close_timeout = -1ms}, "close_timeout is -1"},
      {url(), {.batch_rows_max = 0}, "batch_rows_max is 0"},
  };
  for (const BadCall& bad : bad_calls) {
    const auto is_told =
        ::testing::AllOf(HasSubstr("spillway: "), HasSubstr(bad.named), Not(HasSubstr("\n")));
    EXPECT_THAT(error_of([&] { Sink sink(bad.url, bad.options); }), is_told);
    EXPECT_THAT(error_of([&] { database_logger_mt("bad", bad.url, bad.options); }), is_told);
    EXPECT_EQ(spdlog::get("bad"), nullptr);
  }
  EXPECT_THAT(error_of([] { Sink sink(DatabaseFactory{}); }), HasSubstr("factory is empty"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "nothing was opened";
}

TEST_F(DatabaseSink, ThrowsWithoutATokenForD1UnlessAFileHoldsIt) {
  const ScopedEnvironment environment({{"CLOUDFLARE_API_TOKEN", ""}});
  const std::string url = "d1://acc/db";
  EXPECT_THAT(error_of([&] { Sink sink(url); }), HasSubstr("no token for D1"));
  const std::string file = directory.path("token");
  EXPECT_EQ(
      error_of([&] { Sink sink(*database_factory(url, OpenMode::kCreate, {.token_file = file})); }),
      "nothing was thrown");
}

TEST_F(DatabaseSink, StartsWithoutItsDirectoryAndDeliversOnceThatIsThere) {
  const std::string later = directory.path("later");
  Sink sink("sqlite:" + later + "/logs.db", heard());
  auto log = logger_of({std::shared_ptr<Sink>(std::shared_ptr<void>(), &sink)});
  for (int i = 0; i < 50; ++i) {
    log->info("info");
  }
  log->error("error");
  EXPECT_TRUE(lines->await("log writes paused", 30s));
  log->info("in the pause");
  EXPECT_FALSE(sink.flush(0ms).is_complete);
  std::filesystem::create_directory(later);
  const Stats stats = sink.close(30s);
  EXPECT_EQ(stats.issued, 52U);
  EXPECT_EQ(stats.stored, 1U) << "the ERROR was held";
  EXPECT_EQ(sum(stats.skipped_reported), 51U);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(lines->count("later"), 1) << ::testing::PrintToString(lines->all());
}

TEST_F(DatabaseSink, TellsOfAPathThatCannotBeAFileAndCountsWhatIsLost) {
  Sink sink("sqlite:" + directory.path().string(), heard());
  auto log = logger_of({std::shared_ptr<Sink>(std::shared_ptr<void>(), &sink)});
  log->error("error");
  EXPECT_TRUE(lines->await("log writes paused", 30s));
  const Stats stats = sink.close(30s);
  EXPECT_EQ(stats.issued, 1U);
  EXPECT_EQ(sum(stats.skipped_pending), 1U);
  EXPECT_FALSE(stats.is_complete);
  EXPECT_EQ(lines->count("log writes paused"), 1);
  EXPECT_EQ(lines->count("closed before all was in the table: 1 records lost"), 1);
}

// Flushing, closing and the account.

TEST_F(DatabaseSink, SpdlogsFlushSendsAtOnceAndDoesNotWait) {
  script->set_default(Outcome::block());
  auto sink = make_sink({.batch_age_max = 60s});
  auto log = logger_of({sink});
  log->info("message");
  log->flush();
  EXPECT_TRUE(script->await_attempts(1, 30s)) << "sent long before its age";
  log->flush_on(spdlog::level::err);
  for (int i = 0; i < 1'000; ++i) {
    log->error("error");
    log->flush();
  }
  EXPECT_EQ(script->attempts(), 1U) << "the first attempt hangs still";
  script->set_default(Outcome::pass());
  script->release();
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(user_rows(), 1'001);
}

TEST_F(DatabaseSink, FlushWithATimeoutWaitsForTheTable) {
  auto sink = make_sink({.batch_age_max = 60s});
  auto log = logger_of({sink});
  log->info("message");
  EXPECT_TRUE(sink->flush(30s).is_complete);
  EXPECT_THAT(messages(), ElementsAre("message"));
}

TEST_F(DatabaseSink, CountsCallsAfterCloseAndGivesTheSameStatsAgain) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  log->info("before");
  const Stats first = sink->close(30s);
  EXPECT_EQ(terms(sink->close(0ms)), terms(first));
  for (int i = 0; i < 100; ++i) {
    log->error("after");
    log->flush();
  }
  const Stats last = sink->close(30s);
  EXPECT_EQ(last.after_close, 100U);
  EXPECT_EQ(last.issued, 1U);
  EXPECT_EQ(last.stored, 1U);
  EXPECT_TRUE(sink->flush(30s).is_complete);
}

TEST_F(DatabaseSink, TheAccountAddsUpWheneverItIsLookedAt) {
  script->add({Outcome::refuse(Status(StatusCode::kOverload, "database is locked"))});
  auto sink = make_sink({.overload = {.write_pause = 20ms, .error_interval = 5ms}});
  auto log = logger_of({sink});
  for (int i = 0; i < 2'000; ++i) {
    log->log(i % 20 == 0 ? spdlog::level::err : spdlog::level::info, "message");
    expect_account_adds_up(sink->stats());
  }
  const Stats stats = sink->close(30s);
  expect_account_adds_up(stats);
  EXPECT_EQ(stats.issued, 2'000U);
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 2'000);
}

}  // namespace
}  // namespace spillway::testing
