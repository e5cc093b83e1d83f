// SPDX-License-Identifier: MIT
//
// Goal: the whole pipeline with the statements and traits of D1 keeps its promises. Method: as in
// pipeline_fault_test.cpp; SQLite, which understands those statements, stands for D1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "tests/sinks/pipeline_fixture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PipelineOnD1 : public PipelineFixture {
 protected:
  void SetUp() override { script->set_traits(d1_traits()); }

  static constexpr RequestRate kNoLimit{0, 0};
};

TEST_F(PipelineOnD1, StoresABurstInOneRequestWithFewParameters) {
  script->keep_statements();
  auto pipeline = start({.batch_age_max = 60s});
  for (int i = 0; i < 250; ++i) {
    log(*pipeline, Level::kInfo);
  }
  EXPECT_EQ(pipeline->close(30s).stored, 250U);
  EXPECT_EQ(user_rows(), 250);
  ASSERT_EQ(script->attempts(), 1U);
  EXPECT_THAT(script->calls()[0].statements, SizeIs(1));
  EXPECT_THAT(script->calls()[0].statements[0].rows, ElementsAre(SizeIs(1)));
}

TEST_F(PipelineOnD1, KeepsToItsRate) {
  auto pipeline = start();
  for (int i = 0; i < 40; ++i) {  // Each would be a request of its own.
    log(*pipeline, Level::kError);
    pipeline->flush(1ms);
  }
  EXPECT_EQ(pipeline->close(30s).stored, 40U);
  EXPECT_EQ(user_rows(), 40);
  // What prepared the table has taken all that could go at once.
  ASSERT_GE(script->attempts(), 2U);
  EXPECT_GE(script->calls()[1].began - script->calls()[0].began, 500ms);
}

TEST_F(PipelineOnD1, AnswersThatAreLostAfterTheCommitDoubleNoRow) {
  const Status queued = Status(StatusCode::kOverload, "Requests queued for too long.")
                            .with_execution(Execution::kMaybe);
  std::uint64_t random = 11;
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t draw = next_random(random) % 100;
    script->add({draw < 30   ? Outcome::lose(queued)
                 : draw < 45 ? Outcome::refuse(queued)
                             : Outcome::pass()});
  }
  auto pipeline =
      start({.overload = {.write_pause = 20ms, .error_interval = 5ms}, .request_rate = kNoLimit});
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 50; ++i) {
      log(*pipeline, Level::kInfo, std::to_string(round * 50 + i));
    }
    EXPECT_TRUE(pipeline->flush(30s).is_complete);
  }
  const Stats stats = pipeline->close(30s);
  EXPECT_GT(stats.attempts, 40U);
  EXPECT_EQ(stats.collisions, 0U);
  EXPECT_GT(user_rows(), 0);
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 1'500);
  EXPECT_EQ(number("SELECT count(DISTINCT message) FROM logs WHERE context = 'app'"), user_rows());
}

TEST_F(PipelineOnD1, SaysInItsWordsWhyRowsAreMissing) {
  script->add({Outcome::refuse(
      Status(StatusCode::kOverload, "D1 DB is overloaded. Too many requests queued."))});
  auto pipeline =
      start({.overload = {.write_pause = 100ms, .error_interval = 50ms}, .request_rate = kNoLimit});
  log(*pipeline, Level::kInfo);
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE message = "
                   "'Log persistence paused while D1 was overloaded, 1 skipped'"),
            1);
}

TEST_F(PipelineOnD1, ARowTooLargeForATextIsStoredBesideTheOthers) {
  auto pipeline = start({.batch_age_max = 60s, .request_rate = kNoLimit});
  log(*pipeline, Level::kInfo, "before");
  log(*pipeline, Level::kInfo, std::string(400'000, '\x02'));  // Six bytes each in JSON.
  log(*pipeline, Level::kInfo, std::string(3'000'000, 'x'));
  log(*pipeline, Level::kInfo, "after");
  const Stats stats = pipeline->close(30s);
  EXPECT_EQ(stats.stored, 4U);
  EXPECT_LE(stats.attempts, 3U) << "and nothing was sent twice";
  EXPECT_EQ(number("SELECT length(message) FROM logs WHERE message LIKE char(2) || '%'"), 400'000);
  EXPECT_EQ(number("SELECT fields->>'original_bytes' FROM logs WHERE message LIKE 'xx%'"),
            3'000'000);
}

TEST_F(PipelineOnD1, RowsThatATriggerMasksAreStoredAndToldOnce) {
  script->add({Outcome::pass()});
  auto pipeline = start({.request_rate = kNoLimit});
  log(*pipeline, Level::kError);
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  {
    auto file = open(url(), OpenMode::kExisting);
    const std::vector<Statement> trigger{
        {.sql = "CREATE TRIGGER m AFTER INSERT ON logs BEGIN UPDATE logs SET message = '***' "
                "WHERE seq = new.seq; END"}};
    ASSERT_TRUE((*file)->execute(trigger, {}).has_value());
  }
  for (int i = 0; i < 2; ++i) {
    log(*pipeline, Level::kError, "secret");
    EXPECT_TRUE(pipeline->flush(30s).is_complete);
  }
  const Stats stats = pipeline->close(30s);
  EXPECT_EQ(stats.stored, 3U);
  EXPECT_EQ(stats.collisions, 2U);
  EXPECT_EQ(diagnostics().size(), 1U);
  EXPECT_THAT(diagnostics(), Contains(HasSubstr("in the table with other contents")));
}

}  // namespace
}  // namespace spillway::testing
