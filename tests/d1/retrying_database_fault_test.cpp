// SPDX-License-Identifier: MIT
//
// Goal: around D1 as it really answers, a RetryingDatabase hides short failures and never does a
// write twice.
// Method: D1Database against a scripted D1, and a look at how many requests it got and what is in
// its table. Nobody sleeps.
#include <spillway/d1_database.h>
#include <spillway/prepared_statement.h>
#include <spillway/retrying_database.h>

#include <gmock/gmock.h>

#include "tests/support/retry_fixture.h"
#include "tests/support/scripted_d1.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RetryingDatabaseFault : public RetryFixture {
 protected:
  RetryingDatabaseFault() {
    EXPECT_TRUE(wrapped(RetryPolicy::none())->exec("CREATE TABLE r(id INTEGER)"));
    before_ = d1.counts().requests;
  }

  [[nodiscard]] std::unique_ptr<RetryingDatabase> wrapped(RetryPolicy policy) {
    auto inner = D1Database::open({.account_id = d1.options().account_id,
                                   .database_id = d1.options().database_id,
                                   .token = d1.options().token,
                                   .base_url = d1.base_url()});
    return RetryingDatabase::wrap(std::move(inner).value(), options(std::move(policy))).value();
  }
  [[nodiscard]] std::size_t requests() const { return d1.counts().requests - before_; }
  [[nodiscard]] std::string stored() { return d1.value("SELECT count(*) FROM r"); }

  ScriptedD1 d1;

 private:
  std::size_t before_ = 0;
};

TEST_F(RetryingDatabaseFault, ReadsAgainWhenTheAnswerWasLost) {
  d1.add({D1Fault::lost_after(), D1Fault::overloaded()});
  const auto db = wrapped(RetryPolicy::panel());
  const auto count = db->prepare("SELECT count(*) AS n FROM r").first<std::int64_t>("n");
  EXPECT_EQ(count.value(), 0);
  EXPECT_EQ(requests(), 3U);
  EXPECT_THAT(slept(), ElementsAre(200, 600));
}

TEST_F(RetryingDatabaseFault, WritesOnceWhenTheAnswerWasLost) {
  d1.add({D1Fault::lost_after()});
  const auto outcome = wrapped(RetryPolicy::executor())->prepare("INSERT INTO r VALUES(1)").run();
  EXPECT_EQ(outcome.status().code(), StatusCode::kLost);
  EXPECT_EQ(outcome.status().execution(), Execution::kMaybe);
  EXPECT_EQ(requests(), 1U);
  EXPECT_EQ(stored(), "1");
}

TEST_F(RetryingDatabaseFault, WritesAgainWhenTooManyRequestsWereQueued) {
  d1.add({D1Fault::overloaded(), D1Fault::overloaded()});
  EXPECT_TRUE(wrapped(RetryPolicy::executor())->prepare("INSERT INTO r VALUES(1)").run());
  EXPECT_EQ(requests(), 3U);
  EXPECT_EQ(stored(), "1");
  EXPECT_THAT(slept(), ElementsAre(200, 400));
}

TEST_F(RetryingDatabaseFault, LeavesWritesAloneUnderThePanelsPolicy) {
  d1.add({D1Fault::overloaded()});
  EXPECT_FALSE(wrapped(RetryPolicy::panel())->prepare("INSERT INTO r VALUES(1)").run());
  EXPECT_EQ(requests(), 1U);
  EXPECT_THAT(slept(), IsEmpty());
}

}  // namespace
}  // namespace spillway::testing
