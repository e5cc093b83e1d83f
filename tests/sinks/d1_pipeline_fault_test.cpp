// SPDX-License-Identifier: MIT
//
// Goal: a D1 that does not answer, or never ends, keeps neither the application nor its end
// waiting. Method: the pipeline with the D1 client against the scripted D1; close gets 2 s. Real
// time, because it is the client's own threads and sockets that have to let go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <spillway/d1_database.h>
#include <spillway/pipeline.h>

#include "tests/support/sanitizers.h"
#include "tests/support/scripted_d1.h"

#include <chrono>
#include <memory>
#include <string>

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

struct Hang {
  std::string name;
  D1Fault fault;
};

class D1PipelineThatHangs : public ::testing::TestWithParam<Hang> {
 protected:
  DatabaseFactory factory() {
    return [options = D1Options{.account_id = d1.options().account_id,
                                .database_id = d1.options().database_id,
                                .token = d1.options().token,
                                .base_url = d1.base_url()}]() -> Result<std::unique_ptr<Database>> {
      auto database = D1Database::open(options);
      if (!database) {
        return database.error();
      }
      return std::unique_ptr<Database>(*std::move(database));
    };
  }

  ScriptedD1 d1;
};

INSTANTIATE_TEST_SUITE_P(With, D1PipelineThatHangs,
                         ::testing::Values(Hang{"NoAnswer", D1Fault::hang(D1Fault::Run::kNow)},
                                           Hang{"AByteIn5Seconds", D1Fault::slow(5s)},
                                           Hang{"AnEndlessBody", D1Fault::endless(1ms)}),
                         [](const auto& which) { return which.param.name; });

TEST_P(D1PipelineThatHangs, ClosesInTimeAndKnowsWhatIsInDoubt) {
  auto pipeline = Pipeline::start(factory(), {.on_diagnostic = [](std::string_view) {}});
  ASSERT_TRUE(pipeline) << pipeline.error().to_string();
  const RecordView record{.time = Clock::system().wall_now(),
                          .level = Level::kError,
                          .context = "app",
                          .message = "the last words"};
  ASSERT_TRUE((*pipeline)->accept(record));
  ASSERT_TRUE((*pipeline)->flush(20s).is_complete);  // The table is made.

  d1.set_rule([fault = GetParam().fault](const D1Request&) { return fault; });
  const std::size_t before = d1.counts().requests;
  ASSERT_TRUE((*pipeline)->accept(record));
  ASSERT_TRUE(d1.wait_for_requests(before + 1));
  const SteadyTime begin = Clock::system().steady_now();
  const Stats stats = (*pipeline)->close(2s);
  const auto took = Clock::system().steady_now() - begin;
  if (!kHasSanitizer) {
    EXPECT_LE(took, 2500ms);
  }
  EXPECT_FALSE(stats.is_complete);
  EXPECT_EQ(stats.in_doubt, 1U);
  EXPECT_EQ(stats.issued, 2U);
}

}  // namespace
}  // namespace spillway::testing
