// SPDX-License-Identifier: MIT
#include <spillway/retry_log.h>

#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "tests/sinks/spdlog_fixture.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

RetryEvent event() {
  return {.operation = "SELECT",
          .is_read_only = true,
          .attempt = 1,
          .attempts_max = 5,
          .failure_class = StatusCode::kOverload,
          .failure = {StatusCode::kOverload, "D1 DB is overloaded"},
          .delay = std::chrono::milliseconds(212)};
}

class RetryLog : public SpdlogFixture {
 protected:
  [[nodiscard]] std::string refusal_of(std::shared_ptr<spdlog::logger> log) const {
    try {
      static_cast<void>(log_retries(std::move(log)));
    } catch (const spdlog::spdlog_ex& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::ostringstream text;
  spdlog::sink_ptr console = std::make_shared<spdlog::sinks::ostream_sink_st>(text);
};

TEST_F(RetryLog, TellsRetriesAtDebug) {
  const auto log = logger_of({console});
  log->set_pattern("%l %v");
  log_retries(log)(event());
  EXPECT_EQ(text.str(),
            "debug SELECT failed, attempt 1 of 5, again in 212 ms: overload: D1 DB is "
            "overloaded\n");
}

TEST_F(RetryLog, IsSilentWhereTheLoggerTakesNoDebug) {
  const auto log = logger_of({console});
  log->set_level(spdlog::level::info);
  log_retries(log)(event());
  EXPECT_EQ(text.str(), "");
}

TEST_F(RetryLog, TakesNoTextForAPattern) {
  RetryEvent odd = event();
  odd.operation = "{} {0:x} %v";
  const auto log = logger_of({console});
  log->set_pattern("%v");
  log_retries(log)(odd);
  EXPECT_THAT(text.str(), HasSubstr("{} {0:x} %v failed"));
}

TEST_F(RetryLog, RefusesALoggerThatWritesToADatabase) {
  EXPECT_THAT(refusal_of(logger_of({console, make_sink()}, "shop")), HasSubstr("'shop' writes"));
  EXPECT_THAT(refusal_of(nullptr), HasSubstr("needs a logger"));
  EXPECT_EQ(refusal_of(logger_of({console})), "nothing was thrown");
}

TEST_F(RetryLog, FindsADatabaseSinkWithinOthers) {
  const auto inner = std::make_shared<spdlog::sinks::dist_sink_st>();
  inner->add_sink(make_sink());
  const auto outer = std::make_shared<spdlog::sinks::dist_sink_mt>();
  outer->add_sink(console);
  EXPECT_EQ(refusal_of(logger_of({outer})), "nothing was thrown");
  outer->add_sink(inner);
  EXPECT_THAT(refusal_of(logger_of({outer})), HasSubstr("writes to a database"));
}

TEST_F(RetryLog, IsSilentOnceADatabaseSinkIsAdded) {
  const auto log = logger_of({console});
  const RetryObserver observer = log_retries(log);
  log->sinks().push_back(make_sink());
  observer(event());
  EXPECT_EQ(text.str(), "");
}

}  // namespace
}  // namespace spillway::testing
