// SPDX-License-Identifier: MIT
#include "cli/failure.h"

#include <gtest/gtest.h>

#include <chrono>

namespace spillway {
namespace {

TEST(Failure, SaysTheWayOut) {
  EXPECT_EQ(explained({StatusCode::kOverload, "D1 DB is overloaded"}),
            "D1 DB is overloaded; the database has too much to do; try again in half a minute");
  EXPECT_EQ(explained(Status(StatusCode::kRateLimited, "slow down")
                          .with_retry_after(std::chrono::milliseconds(1'500))),
            "slow down; wait 2 s");
  EXPECT_EQ(
      explained(
          Status(StatusCode::kOverload, "HTTP 429").with_retry_after(std::chrono::seconds(7))),
      "HTTP 429; the database has too much to do; wait 7 s");
  EXPECT_EQ(explained({StatusCode::kRateLimited, "slow down"}), "slow down; wait five minutes");
  EXPECT_EQ(explained({StatusCode::kAuth, "Authentication error"}),
            "Authentication error; check the token, in CLOUDFLARE_API_TOKEN or --token-file");
  EXPECT_EQ(explained({StatusCode::kPermanent, "near \"SELEC\": syntax error"}),
            "near \"SELEC\": syntax error");
}

TEST(Failure, WarnsBeforeSomethingIsDoneTwice) {
  const Status lost(StatusCode::kLost, "connection reset");
  EXPECT_EQ(explained(lost),
            "connection reset; no certain answer came; look whether it was done before you do it "
            "again");
  EXPECT_EQ(explained(lost.with_execution(Execution::kNo)), "connection reset; try again");
}

TEST(Failure, TellsNobodyToRepeatWhatMayHaveBeenExecuted) {
  for (const StatusCode code : {StatusCode::kOverload, StatusCode::kTransient, StatusCode::kTooBig,
                                StatusCode::kPermanent, StatusCode::kInternal}) {
    const Status status = Status(code, "no").with_execution(Execution::kMaybe);
    EXPECT_EQ(explained(status, Effect::kMayWrite),
              "no; it may have been executed; look whether it was done before you do it again");
  }
  const Status lost(StatusCode::kLost, "connection reset");
  EXPECT_EQ(explained(lost, Effect::kReads), "connection reset; try again");
  EXPECT_EQ(explained(Status(StatusCode::kTooBig, "the answer is larger than 5 bytes")
                          .with_execution(Execution::kMaybe),
                      Effect::kReads),
            "the answer is larger than 5 bytes; ask for less at once");
}

TEST(Failure, IsUnavailableWhereTheSameMayWorkLater) {
  for (const StatusCode code : {StatusCode::kOverload, StatusCode::kRateLimited,
                                StatusCode::kTransient, StatusCode::kLost, StatusCode::kQuota}) {
    EXPECT_EQ(exit_code_of_statement({code, "x"}), ExitCode::kUnavailable);
    EXPECT_EQ(exit_code_of_open({code, "x"}), ExitCode::kUnavailable);
  }
}

TEST(Failure, IsAnErrorOfUsageOnlyWhereNoServerSaidSo) {
  EXPECT_EQ(exit_code_of_open({StatusCode::kConfig, "x"}), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of_open({StatusCode::kInvalidArgument, "x"}), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of_statement({StatusCode::kInvalidArgument, "x"}), ExitCode::kUsage);
  for (const StatusCode code : {StatusCode::kConfig, StatusCode::kAuth, StatusCode::kPermanent,
                                StatusCode::kSchema, StatusCode::kConstraint}) {
    EXPECT_EQ(exit_code_of_statement({code, "x"}), ExitCode::kError);
  }
}

}  // namespace
}  // namespace spillway
