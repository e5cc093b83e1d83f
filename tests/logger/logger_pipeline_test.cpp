// SPDX-License-Identifier: MIT
#include <spillway/logger.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/sinks/pipeline_fixture.h"
#include "tests/support/replaced_new.h"

namespace spillway::testing {
namespace {

thread_local std::size_t allocations = 0;

}  // namespace

bool on_allocation(std::size_t /*bytes*/) {
  ++allocations;
  return true;
}

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LoggerPipeline : public PipelineFixture {
 protected:
  Logger logger() {
    pipeline = start();
    return Logger("app", {std::make_shared<PipelineTarget>(pipeline)}, {.level_variable = ""});
  }

  std::shared_ptr<Pipeline> pipeline;
};

TEST_F(LoggerPipeline, EachThreadsRecordsStandInTheOrderOfItsCalls) {
  constexpr int kThreads = 4;
  constexpr int kRecords = 500;
  const Logger log = logger();
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([child = log.with({{"thread", thread}})] {
      for (int i = 0; i < kRecords; ++i) {
        const ScopedContext context({{"n", i}});
        child.info("m", {{"text", "a \"quoted\" text"}});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(log.flush(30s));
  EXPECT_EQ(pipeline->close(30s).stored, kThreads * kRecords);
  EXPECT_EQ(
      number("SELECT count(*) FROM (SELECT fields->>'n' AS n, row_number() OVER (PARTITION BY "
             "fields->>'thread' ORDER BY seq) AS number FROM logs) WHERE n = number - 1"),
      kThreads * kRecords);
}

TEST_F(LoggerPipeline, TheTableHasTheTextsAsTheyAreAndTheValuesExactly) {
  const Logger log = logger();
  log.info("{}{0}{:d}%s%n{{}}", {{"big", 9'007'199'254'740'993}});
  log.error("one\r\n\x1b[2Jtwo", {{"text", "\r\n\x1b[2J"}, {"", "empty"}});
  EXPECT_TRUE(pipeline->close(30s).is_complete);
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE message = '{}{0}{:d}%s%n{{}}' AND level = "
                   "'INFO' AND context = 'app' AND fields = '{\"big\":9007199254740993}'"),
            1);
  EXPECT_EQ(
      number("SELECT count(*) FROM logs WHERE message = 'one' || char(13, 10, 27) || '[2Jtwo' "
             "AND fields->>'text' = char(13, 10, 27) || '[2J' AND json_valid(fields) AND "
             "fields->>'$.\"\"' = 'empty'"),
      1);
}

TEST_F(LoggerPipeline, TheQueuesBlocksAreAllTheMemoryThatCallsTake) {
  const Logger log = logger().with({{"service", "shop"}});
  const std::string user = "somebody with a long name, who is not kept in a small string";
  const std::size_t before = allocations;
  for (int i = 0; i < 2'000; ++i) {
    log.info("order placed", {{"order", i}, {"total", 9.99}, {"user", user}});
  }
  EXPECT_LT(allocations - before, 200U);
  EXPECT_EQ(pipeline->close(30s).stored, 2'000U);
}

TEST_F(LoggerPipeline, OpensATableByItsUrl) {
  {
    const auto log = Logger::open("shop", url(), {}, {.level_variable = ""});
    ASSERT_TRUE(log);
    log->info("order placed", {{"order", 42}});
  }
  EXPECT_EQ(number("SELECT fields->>'order' FROM logs WHERE context = 'shop'"), 42);
  const auto refused = Logger::open("shop", "no://url");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(Logger::open("shop", url(), {.table = ""}));
}

}  // namespace
}  // namespace spillway::testing
