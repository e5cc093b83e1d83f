// SPDX-License-Identifier: MIT
#include <spillway/status.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace spillway {
namespace {

using std::chrono::milliseconds;

const std::vector<StatusCode>& failure_codes() {
  static const std::vector<StatusCode> codes = {
      StatusCode::kOverload,
      StatusCode::kRateLimited,
      StatusCode::kTransient,
      StatusCode::kLost,
      StatusCode::kTooBig,
      StatusCode::kConstraint,
      StatusCode::kSchema,
      StatusCode::kStorageFull,
      StatusCode::kAuth,
      StatusCode::kConfig,
      StatusCode::kPermanent,
      StatusCode::kQuota,
      StatusCode::kInvalidArgument,
      StatusCode::kCancelled,
      StatusCode::kInternal,
  };
  return codes;
}

Status locked() { return {StatusCode::kOverload, "database is locked"}; }

TEST(StatusCode, HasANameForEachClass) {
  EXPECT_EQ(to_string(StatusCode::kOk), "ok");
  std::vector<std::string> names;
  for (const StatusCode code : failure_codes()) {
    names.emplace_back(to_string(code));
  }
  EXPECT_THAT(names, testing::ElementsAre("overload", "rate_limited", "transient", "lost",
                                          "too_big", "constraint", "schema", "storage_full", "auth",
                                          "config", "permanent", "quota", "invalid_argument",
                                          "cancelled", "internal"));
}

TEST(StatusCode, ShowsANumberThatIsNoCodeAsInternal) {
  EXPECT_EQ(to_string(static_cast<StatusCode>(200)), "internal");
}

TEST(Status, IsASuccessByDefault) {
  const Status status;
  EXPECT_TRUE(status.is_ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.sqlite_code(), 0);
  EXPECT_EQ(status.http_status(), 0);
  EXPECT_EQ(status.d1_code(), 0);
  EXPECT_EQ(status.retry_after(), std::nullopt);
  EXPECT_EQ(status.cause(), nullptr);
  EXPECT_EQ(status.to_string(), "ok");
}

TEST(Status, KeepsCodeAndMessageOfAFailure) {
  const Status status = locked();
  EXPECT_FALSE(status.is_ok());
  EXPECT_EQ(status.code(), StatusCode::kOverload);
  EXPECT_EQ(status.message(), "database is locked");
  EXPECT_EQ(status.sqlite_code(), 0);
  EXPECT_EQ(status.http_status(), 0);
  EXPECT_EQ(status.d1_code(), 0);
  EXPECT_EQ(status.retry_after(), std::nullopt);
  EXPECT_EQ(status.cause(), nullptr);
}

TEST(Status, StartsAsMaybeExecutedOnlyForLostAndInternal) {
  const std::set<StatusCode> uncertain = {StatusCode::kLost, StatusCode::kInternal};
  for (const StatusCode code : failure_codes()) {
    const Execution expected = uncertain.contains(code) ? Execution::kMaybe : Execution::kNo;
    EXPECT_EQ(Status(code, "x").execution(), expected) << to_string(code);
  }
}

TEST(Status, ChangesOnePropertyInACopy) {
  const Status original = locked();
  EXPECT_EQ(original.with_code(StatusCode::kLost).code(), StatusCode::kLost);
  EXPECT_EQ(original.with_execution(Execution::kMaybe).execution(), Execution::kMaybe);
  EXPECT_EQ(original.with_sqlite_code(261).sqlite_code(), 261);
  EXPECT_EQ(original.with_http_status(429).http_status(), 429);
  EXPECT_EQ(original.with_d1_code(7500).d1_code(), 7500);
  EXPECT_EQ(original.with_retry_after(milliseconds(1500)).retry_after(), milliseconds(1500));
  EXPECT_EQ(original.with_retry_after(milliseconds(1500)).with_retry_after({}).retry_after(),
            milliseconds(1500));
  EXPECT_EQ(original.with_message("busy").message(), "busy");

  EXPECT_EQ(original.code(), StatusCode::kOverload);
  EXPECT_EQ(original.execution(), Execution::kNo);
  EXPECT_EQ(original.sqlite_code(), 0);
  EXPECT_EQ(original.http_status(), 0);
  EXPECT_EQ(original.d1_code(), 0);
  EXPECT_EQ(original.retry_after(), std::nullopt);
  EXPECT_EQ(original.message(), "database is locked");
}

TEST(Status, KeepsAllOtherPropertiesWhenOneChanges) {
  const Status full = locked()
                          .with_execution(Execution::kMaybe)
                          .with_sqlite_code(5)
                          .with_http_status(503)
                          .with_d1_code(971)
                          .with_retry_after(milliseconds(0))
                          .with_cause(Status(StatusCode::kLost, "reset"))
                          .with_message("new");
  EXPECT_EQ(full.code(), StatusCode::kOverload);
  EXPECT_EQ(full.execution(), Execution::kMaybe);
  EXPECT_EQ(full.sqlite_code(), 5);
  EXPECT_EQ(full.http_status(), 503);
  EXPECT_EQ(full.d1_code(), 971);
  EXPECT_EQ(full.retry_after(), milliseconds(0));
  ASSERT_NE(full.cause(), nullptr);
  EXPECT_EQ(full.cause()->message(), "reset");
  EXPECT_EQ(full.message(), "new");
}

TEST(Status, StaysASuccessWhateverIsChanged) {
  const Status status = Status()
                            .with_code(StatusCode::kLost)
                            .with_execution(Execution::kMaybe)
                            .with_sqlite_code(5)
                            .with_http_status(503)
                            .with_d1_code(971)
                            .with_retry_after(milliseconds(1))
                            .with_cause(locked())
                            .with_message("x");
  EXPECT_TRUE(status.is_ok());
  EXPECT_EQ(status.to_string(), "ok");
  EXPECT_EQ(status.cause(), nullptr);
  EXPECT_EQ(status.retry_after(), std::nullopt);
}

TEST(Status, HasNoCauseWhenTheCauseIsASuccess) {
  EXPECT_EQ(locked().with_cause(Status()).cause(), nullptr);
}

TEST(Status, KeepsItsMessageAliveInEveryCopy) {
  auto original = std::make_unique<Status>(locked());
  const Status copy = *original;
  const std::string& message = copy.message();
  original.reset();
  EXPECT_EQ(message, "database is locked");
}

TEST(Status, IsWrittenWithTheChainOfItsCauses) {
  EXPECT_EQ(locked().to_string(), "overload: database is locked");
  const Status middle =
      Status(StatusCode::kConfig, "cannot open app.db").with_cause(Status(StatusCode::kAuth, ""));
  EXPECT_EQ(Status(StatusCode::kLost, "no answer").with_cause(middle).to_string(),
            "lost: no answer; because config: cannot open app.db; because auth");
}

TEST(Status, NeverTurnsAFailureWithoutACodeIntoASuccess) {
#ifdef NDEBUG
  const Status status(StatusCode::kOk, "odd");
  EXPECT_EQ(status.to_string(), "internal: odd");
  EXPECT_EQ(status.execution(), Execution::kMaybe);
#else
  EXPECT_DEATH(static_cast<void>(Status(StatusCode::kOk, "odd")), "code != StatusCode::kOk");
#endif
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("row");
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), "row");
  EXPECT_EQ(result->size(), 3U);
  *result += "s";
  EXPECT_EQ(std::as_const(result).value(), "rows");
  EXPECT_EQ(*std::as_const(result), "rows");
  EXPECT_EQ(std::as_const(result)->size(), 4U);
  EXPECT_TRUE(result.status().is_ok());
}

TEST(Result, HoldsAFailure) {
  const Result<int> result = locked();
  EXPECT_FALSE(result.has_value());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().code(), StatusCode::kOverload);
  EXPECT_EQ(result.status().message(), "database is locked");
}

TEST(Result, GivesAwayAValueThatCanOnlyMove) {
  Result<std::unique_ptr<int>> first = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(first).value();
  EXPECT_EQ(*taken, 7);
  Result<std::unique_ptr<int>> second = std::make_unique<int>(8);
  EXPECT_EQ(**std::move(second), 8);
}

TEST(Result, OfACallLivesThroughALoopOverIt) {
  const auto three = [] { return Result<std::vector<int>>(std::vector<int>{1, 2, 3}); };
  int sum = 0;
  for (const int each : *three()) {
    sum += each;
  }
  for (const int each : three().value()) {
    sum += each;
  }
  EXPECT_EQ(sum, 12);
}

TEST(Result, TurnsASuccessWithoutAValueIntoAFailure) {
  const Result<int> result = Status();
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(result.error().to_string(), "internal: success without a value");
}

TEST(ResultDeathTest, AbortsWithTheErrorWhenThereIsNoValue) {
  const Result<int> result = locked();
  EXPECT_DEATH(static_cast<void>(result.value()), "overload: database is locked");
  EXPECT_DEATH(static_cast<void>(*result), "overload: database is locked");
  Result<std::string> text = locked();
  EXPECT_DEATH(static_cast<void>(text->size()), "overload: database is locked");
  EXPECT_DEATH(static_cast<void>(std::move(text).value()), "overload: database is locked");
}

TEST(ResultDeathTest, AbortsWhenTheErrorOfAValueIsRead) {
  const Result<int> result = 1;
  EXPECT_DEATH(static_cast<void>(result.error()), "spillway: Result::error\\(\\) on a value: ok");
}

}  // namespace
}  // namespace spillway
