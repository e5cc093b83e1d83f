// SPDX-License-Identifier: MIT
//
// Goal: the threads around the core keep its promises when the database is busy, hangs, throws or
// breaks its contract. Method: a scripted database inflicts the fault at a known attempt; then the
// table, read by another connection, is compared with what was logged.
#include <spillway/testing/fake_clock.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <stdexcept>
#include <thread>

#include "tests/sinks/pipeline_fixture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

using PipelineFault = PipelineFixture;

Status busy() { return Status(StatusCode::kOverload, "database is locked"); }

TEST_F(PipelineFault, FlushReturnsWhenEverythingBeforeItIsStored) {
  auto pipeline = start({.batch_age_max = 60s});
  for (int i = 0; i < 5'000; ++i) {
    EXPECT_TRUE(log(*pipeline, Level::kInfo));
  }
  const Stats stats = pipeline->flush(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(user_rows(), 5'000);
  expect_account_adds_up(stats);
}

TEST_F(PipelineFault, FlushThatCannotFinishSaysSo) {
  script->set_default(Outcome::block());
  auto pipeline = start();
  log(*pipeline, Level::kInfo);
  EXPECT_FALSE(pipeline->flush(50ms).is_complete);
  EXPECT_FALSE(pipeline->flush(0ms).is_complete);
  script->release();
}

TEST_F(PipelineFault, TheLongestTimeoutMeansAsLongAsItTakesAndANegativeOneNoTime) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo);
  EXPECT_FALSE(pipeline->flush(std::chrono::milliseconds::min()).is_complete);
  EXPECT_TRUE(pipeline->flush(std::chrono::milliseconds::max()).is_complete);
  log(*pipeline, Level::kInfo);
  EXPECT_EQ(pipeline->close(std::chrono::milliseconds::max()).stored, 2U);
}

TEST_F(PipelineFault, AnAttemptThatTakesItsTimeIsWorthWaitingForUntilItsDeadline) {
  FakeClock clock;
  script = std::make_shared<DatabaseScript>(clock);
  script->add({Outcome::block()});
  auto pipeline = start({.clock = &clock});
  log(*pipeline, Level::kError);
  while (pipeline->stats().in_flight == 0) {
    std::this_thread::yield();
  }
  clock.advance(9s);
  EXPECT_TRUE(pipeline->is_worth_waiting());
  clock.advance(2s);
  EXPECT_FALSE(pipeline->is_worth_waiting());
  pipeline->close(0ms);  // The clock stands still, so nothing else would end.
}

TEST_F(PipelineFault, AnErrorIsWrittenAtOnceAndTheRestAtItsAge) {
  auto pipeline = start({.batch_age_max = 60s});
  log(*pipeline, Level::kInfo);
  log(*pipeline, Level::kError);
  EXPECT_TRUE(script->await_attempts(1, 30s));
  EXPECT_EQ(pipeline->close(30s).stored, 2U);
}

TEST_F(PipelineFault, AnOverloadBecomesOneGapRowAndEveryAttemptIsCounted) {
  script->add({Outcome::refuse(busy())});
  auto pipeline = start({.overload = {.write_pause = 300ms, .error_interval = 50ms}});
  for (int i = 0; i < 10; ++i) {
    log(*pipeline, Level::kInfo);
  }
  const Stats stats = pipeline->flush(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.pauses, 1U);
  EXPECT_EQ(total_in_gap_rows() + user_rows(), 10);
  EXPECT_EQ(pipeline->close(5s).attempts, script->attempts());
  EXPECT_THAT(diagnostics(), Contains(HasSubstr("log writes paused for 0.3 s")));
  EXPECT_THAT(diagnostics(), Contains(HasSubstr("log writes resumed")));
}

TEST_F(PipelineFault, CloseIsBoundedWhenTheDatabaseHangs) {
  script->set_default(Outcome::block());
  auto pipeline = start();
  for (int i = 0; i < 100; ++i) {
    log(*pipeline, Level::kInfo);
  }
  const SteadyTime before = Clock::system().steady_now();
  const Stats stats = pipeline->close(1s);
  EXPECT_LT(Clock::system().steady_now() - before, 1500ms);
  EXPECT_EQ(stats.issued, 100U);
  EXPECT_EQ(stats.in_doubt, 100U) << "the hanging attempt may have been carried out";
  EXPECT_FALSE(stats.is_complete);
  expect_account_adds_up(stats);
  EXPECT_THAT(diagnostics(), Contains(HasSubstr("closed before all was in the table")));
}

TEST_F(PipelineFault, CallsAfterCloseAreCountedAndASecondCloseIsANoOp) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo);
  const Stats first = pipeline->close(5s);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(log(*pipeline, Level::kError));
  }
  const Stats second = pipeline->close(5s);
  EXPECT_EQ(first.stored, 1U);
  EXPECT_EQ(second.after_close, 1'000U);
  EXPECT_EQ(second.issued, 1U);
  EXPECT_TRUE(pipeline->flush(5s).is_complete);
}

TEST_F(PipelineFault, ADatabaseThatIsBackIsUsedWithoutRestart) {
  script->set_default(Outcome::refuse(Status(StatusCode::kAuth, "token expired")));
  auto pipeline = start();
  log(*pipeline, Level::kInfo);
  log(*pipeline, Level::kError);
  EXPECT_TRUE(script->await_attempts(1, 30s));
  script->set_default(Outcome::pass());
  const Stats stats = pipeline->close(5s);  // In the pause: held ERROR and gap row get one attempt.
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 2);
  EXPECT_TRUE(stats.is_complete);
}

TEST_F(PipelineFault, AMissingDirectoryIsToldAndDeliveredToOnceItIsThere) {
  const std::string path = directory.path("later");
  auto pipeline = Pipeline::start(
      [url = "sqlite:" + path + "/logs.db"] { return open(url, OpenMode::kCreate); },
      {.on_diagnostic = [](std::string_view) {}});
  log(**pipeline, Level::kError);
  EXPECT_FALSE((*pipeline)->flush(100ms).is_complete);
  EXPECT_EQ((*pipeline)->stats().pauses, 1U);
  std::filesystem::create_directory(path);
  EXPECT_EQ((*pipeline)->close(5s).stored, 1U);
}

TEST_F(PipelineFault, ADiagnosticIsOneLineWhateverTheDatabaseSays) {
  script->add({Outcome::refuse(Status(StatusCode::kOverload, "busy\nspillway: forged\x1b[31m"))});
  auto pipeline = start({.overload = {.write_pause = 1ms}});
  log(*pipeline, Level::kInfo);
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  EXPECT_THAT(diagnostics(), Contains(HasSubstr("busy spillway: forged [31m")));
}

TEST_F(PipelineFault, ADiagnosticCallbackThatThrowsDoesNoHarm) {
  script->add({Outcome::refuse(busy())});
  auto pipeline = start({.overload = {.write_pause = 1ms}, .on_diagnostic = [](std::string_view) {
                           throw std::runtime_error("no");
                         }});
  log(*pipeline, Level::kInfo);
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
}

/// Breaks the contract: it looks neither at its deadline nor at the stop token.
class DeafDatabase final : public Database {
 public:
  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return is_released; });
    has_returned = true;
    changed.notify_all();
    return Status(StatusCode::kLost, "late");
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {.name = "Deaf"}; }

  static inline std::mutex mutex;
  static inline std::condition_variable changed;
  static inline bool is_released = false;
  static inline bool has_returned = false;
};

TEST(PipelineContract, CloseDoesNotWaitForADatabaseThatNeverReturns) {
  auto pipeline = Pipeline::start(
      []() -> Result<std::unique_ptr<Database>> {
        return std::unique_ptr<Database>(new DeafDatabase);
      },
      {.on_diagnostic = [](std::string_view) {}});
  (*pipeline)->accept({.level = Level::kError});
  const SteadyTime before = Clock::system().steady_now();
  const Stats stats = (*pipeline)->close(200ms);
  EXPECT_LT(Clock::system().steady_now() - before, 2s);
  EXPECT_EQ(stats.issued, 1U);
  EXPECT_EQ(stats.stored, 0U);
  pipeline->reset();
  std::unique_lock lock(DeafDatabase::mutex);
  DeafDatabase::is_released = true;
  DeafDatabase::changed.notify_all();
  DeafDatabase::changed.wait(lock, [] { return DeafDatabase::has_returned; });
}

TEST(PipelineOptionsCheck, NamesTheOptionThatIsOutOfItsBounds) {
  const DatabaseFactory factory = [] { return open("sqlite:unused.db", OpenMode::kExisting); };
  const auto message = [&factory](PipelineOptions options) {
    return Pipeline::start(factory, std::move(options)).status().to_string();
  };
  EXPECT_THAT(message({.overload = {.write_pause = 0ms}}), HasSubstr("overload.write_pause is 0"));
  EXPECT_THAT(message({.close_timeout = -1ms}), HasSubstr("close_timeout is -1"));
  EXPECT_THAT(message({.batch_rows_max = 0}), HasSubstr("batch_rows_max is 0; it must be from 1"));
  EXPECT_THAT(message({.batch_bytes_max = 3'000'000}), HasSubstr("batch_bytes_max"));
  EXPECT_THAT(message({.table = ""}), HasSubstr("invalid_argument"));
  const auto rate_message = [&message](double per_second, int burst) {
    return message({.request_rate = RequestRate{per_second, burst}});
  };
  EXPECT_THAT(rate_message(0, 1), HasSubstr("request_rate.per_second is 0; it must be from 0.001"));
  EXPECT_THAT(rate_message(-1, 5), HasSubstr("request_rate.per_second is -1"));
  EXPECT_THAT(rate_message(std::nan(""), 5), HasSubstr("request_rate.per_second"));
  EXPECT_THAT(rate_message(2, 0), HasSubstr("request_rate.burst is 0; it must be from 1"));
  EXPECT_EQ(rate_message(0, 0), "ok") << "no limit";
  EXPECT_EQ(rate_message(0.5, 1), "ok");
  EXPECT_THAT(Pipeline::start(nullptr).status().to_string(), HasSubstr("factory is empty"));
}

}  // namespace
}  // namespace spillway::testing
