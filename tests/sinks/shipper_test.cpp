// SPDX-License-Identifier: MIT
#include "sinks/shipper.h"

#include <spillway/retrying_database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scripted_database.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

Send one_row(std::int64_t seq) {
  std::vector<Record> rows{make_record({.context = "app", .message = "m"}, seq)};
  return {.rows = std::make_shared<const std::vector<Record>>(std::move(rows)),
          .deadline = Clock::system().steady_now() + std::chrono::seconds(10)};
}

class ShipperTest : public ::testing::Test {
 protected:
  /// A shipper into a file behind the script. Counts how often the database is opened.
  Shipper make_shipper() {
    return {[this]() -> Result<std::unique_ptr<Database>> {
              ++opened;
              auto file = open("sqlite:" + directory.path("logs.db"), OpenMode::kCreate);
              if (!file) {
                return file.error();
              }
              return std::unique_ptr<Database>(new ScriptedDatabase(script, *std::move(file)));
            },
            *LogTable::named("logs"), 7};
  }

  std::int64_t query(const std::string& sql) {
    auto file = open("sqlite:" + directory.path("logs.db"), OpenMode::kExisting);
    const std::vector<Statement> statements{{.sql = sql}};
    auto results = (*file)->execute(statements, {});
    const auto& rows = results.value().at(0).rows;
    return rows.empty() ? 0 : std::get<std::int64_t>(rows.at(0).at(0));
  }
  std::int64_t rows() { return query("SELECT count(*) FROM logs"); }

  TempDir directory;
  std::shared_ptr<DatabaseScript> script = std::make_shared<DatabaseScript>();
  int opened = 0;
};

TEST_F(ShipperTest, OpensWhenThereIsSomethingToSendAndKeepsTheConnection) {
  Shipper shipper = make_shipper();
  EXPECT_EQ(opened, 0);
  for (const std::int64_t seq : {1, 2, 3}) {
    const SendDone done = shipper.ship(one_row(seq), {});
    EXPECT_TRUE(done.status.is_ok()) << done.status.to_string();
    EXPECT_EQ(done.database, "SQLite");
  }
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(rows(), 3);
}

TEST_F(ShipperTest, KeepsTheConnectionWhenTheDatabaseIsBusyAndOpensAnewWhenAnAnswerIsLost) {
  Shipper shipper = make_shipper();
  script->add({Outcome::refuse(Status(StatusCode::kOverload, "busy")),
               Outcome::lose(Status(StatusCode::kLost, "reset")), Outcome::pass()});
  EXPECT_EQ(shipper.ship(one_row(1), {}).status.code(), StatusCode::kOverload);
  EXPECT_EQ(shipper.ship(one_row(1), {}).status.code(), StatusCode::kLost);
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(shipper.ship(one_row(1), {}).status.is_ok());
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(rows(), 1) << "the lost attempt had been applied";
}

TEST_F(ShipperTest, CreatesADroppedTableAgainWithinTheSameAttempt) {
  Shipper shipper = make_shipper();
  EXPECT_TRUE(shipper.ship(one_row(1), {}).status.is_ok());
  query("DROP TABLE logs");
  EXPECT_TRUE(shipper.ship(one_row(2), {}).status.is_ok());
  EXPECT_EQ(rows(), 1);
}

TEST_F(ShipperTest, WaitsForALockAsTheCoreSays) {
  Shipper shipper = make_shipper();
  Send send = one_row(1);
  EXPECT_TRUE(shipper.ship(send, {}).status.is_ok());
  send.lock_wait = LockWait::kNone;
  EXPECT_TRUE(shipper.ship(send, {}).status.is_ok());
  EXPECT_EQ(script->calls().at(0).lock_wait, std::nullopt);
  EXPECT_EQ(script->calls().at(1).lock_wait, std::chrono::milliseconds(0));
  send.lock_wait = LockWait::kUntilDeadline;
  EXPECT_TRUE(shipper.ship(send, {}).status.is_ok());
  EXPECT_GE(script->calls().at(2).lock_wait, std::chrono::hours(1));
}

TEST_F(ShipperTest, AFailureToOpenHasExecutedNothing) {
  Shipper shipper(
      []() -> Result<std::unique_ptr<Database>> {
        return Status(StatusCode::kLost, "no route").with_http_status(502);
      },
      *LogTable::named("logs"), 7);
  const SendDone done = shipper.ship(one_row(1), {});
  EXPECT_EQ(done.status.code(), StatusCode::kLost);
  EXPECT_EQ(done.status.execution(), Execution::kNo);
  EXPECT_EQ(done.database, "D1");
  EXPECT_EQ(done.requests, 0);
  EXPECT_FALSE(done.traits);
}

TEST_F(ShipperTest, WhatAFactoryThrowsBecomesAStatus) {
  Shipper shipper([]() -> Result<std::unique_ptr<Database>> { throw std::runtime_error("boom"); },
                  *LogTable::named("logs"), 7);
  const SendDone done = shipper.ship(one_row(1), {});
  EXPECT_THAT(done.status.to_string(), HasSubstr("boom"));
  EXPECT_EQ(done.status.execution(), Execution::kNo) << "no row was sent";
  Shipper odd([]() -> Result<std::unique_ptr<Database>> { throw 7; }, *LogTable::named("logs"), 7);
  EXPECT_EQ(odd.ship(one_row(1), {}).status.code(), StatusCode::kInternal);
  Shipper null([] { return Result<std::unique_ptr<Database>>(std::unique_ptr<Database>()); },
               *LogTable::named("logs"), 7);
  EXPECT_EQ(null.ship(one_row(1), {}).status.code(), StatusCode::kConfig);
}

// What they say is about the schema's statements, which are ours: no row is refused for it.
TEST_F(ShipperTest, AFailureBeforeTheRowsWereSentSaysNothingAboutThem) {
  script = std::make_shared<DatabaseScript>(Clock::system(), "_meta");  // What reads the schema.
  Shipper shipper = make_shipper();
  for (const StatusCode code : {StatusCode::kTooBig, StatusCode::kConstraint}) {
    const Status failure = Status(code, "D1 DB exceeded its CPU time limit and was reset.")
                               .with_execution(Execution::kMaybe)
                               .with_http_status(500)
                               .with_d1_code(7500)
                               .with_retry_after(std::chrono::seconds(7));
    script->add({Outcome::refuse(failure)});
    const Status status = shipper.ship(one_row(1), {}).status;
    EXPECT_EQ(status.code(), StatusCode::kTransient);
    EXPECT_EQ(status.execution(), Execution::kNo);
    EXPECT_EQ(status.message(), failure.message());
    EXPECT_EQ(status.http_status(), 500);
    EXPECT_EQ(status.d1_code(), 7500);
    EXPECT_EQ(status.retry_after(), std::chrono::seconds(7));
  }
  EXPECT_TRUE(shipper.ship(one_row(1), {}).status.is_ok());
  EXPECT_EQ(rows(), 1);
}

TEST_F(ShipperTest, TellsWhatTheDatabaseIsAndHowManyRequestsItTook) {
  script->set_traits(d1_traits());
  Shipper shipper = make_shipper();
  const SendDone first = shipper.ship(one_row(1), {});
  ASSERT_TRUE(first.traits);
  EXPECT_EQ(first.database, "D1");
  EXPECT_EQ(first.traits->dialect, Dialect::kD1);
  EXPECT_EQ(first.traits->rate.per_second, 2);
  EXPECT_GE(first.requests, 4) << "looked, created, looked again, inserted";
  EXPECT_EQ(shipper.ship(one_row(2), {}).requests, 1) << "prepared once, not with every batch";
  EXPECT_EQ(shipper.ship(one_row(2), {}).requests, 2) << "already there: it is compared";
  script->add({Outcome::refuse(Status(StatusCode::kAuth, "no"))});
  const SendDone refused = shipper.ship(one_row(3), {});
  EXPECT_EQ(refused.requests, 1) << "although the connection is gone";
  EXPECT_EQ(refused.database, "D1");
}

TEST_F(ShipperTest, TellsOfRowsThatAreThereWithOtherContents) {
  Shipper shipper = make_shipper();
  EXPECT_EQ(shipper.ship(one_row(5), {}).inserted.collisions, 0);
  query("UPDATE logs SET message = 'masked'");
  const SendDone again = shipper.ship(one_row(5), {});
  EXPECT_TRUE(again.status.is_ok());
  EXPECT_EQ(again.inserted.collisions, 1);
  EXPECT_EQ(again.inserted.collided_seq, 5);
  EXPECT_EQ(shipper.ship(one_row(6), {}).inserted.collisions, 0);
}

// What D1Database does with a token file: it is read when the database is opened.
TEST_F(ShipperTest, OpensAnewAfterARefusedCredentialSoThatANewTokenCounts) {
  std::string token = "old";
  Shipper shipper(
      [&]() -> Result<std::unique_ptr<Database>> {
        ++opened;
        script->set_default(token == "new" ? Outcome::pass()
                                           : Outcome::refuse(Status(StatusCode::kAuth, "10000")));
        auto file = open("sqlite:" + directory.path("logs.db"), OpenMode::kCreate);
        return std::unique_ptr<Database>(new ScriptedDatabase(script, *std::move(file)));
      },
      *LogTable::named("logs"), 7);
  EXPECT_EQ(shipper.ship(one_row(1), {}).status.code(), StatusCode::kAuth);
  EXPECT_EQ(shipper.ship(one_row(1), {}).status.code(), StatusCode::kAuth);
  EXPECT_EQ(opened, 2);
  token = "new";
  EXPECT_TRUE(shipper.ship(one_row(1), {}).status.is_ok());
  EXPECT_TRUE(shipper.ship(one_row(2), {}).status.is_ok());
  EXPECT_EQ(opened, 3);
}

TEST_F(ShipperTest, OpensAnewAfterABadConfigurationToo) {
  Shipper shipper = make_shipper();
  script->add({Outcome::refuse(Status(StatusCode::kConfig, "7404"))});
  EXPECT_EQ(shipper.ship(one_row(1), {}).status.code(), StatusCode::kConfig);
  EXPECT_TRUE(shipper.ship(one_row(1), {}).status.is_ok());
  EXPECT_EQ(opened, 2);
}

TEST_F(ShipperTest, RefusesADatabaseThatRetries) {
  Shipper shipper(
      [this]() -> Result<std::unique_ptr<Database>> {
        return std::unique_ptr<Database>(
            RetryingDatabase::wrap(std::make_unique<ScriptedDatabase>(script)).value());
      },
      *LogTable::named("logs"), 7);
  const SendDone done = shipper.ship(one_row(1), {});
  EXPECT_EQ(done.status.code(), StatusCode::kConfig);
  EXPECT_THAT(done.status.message(), HasSubstr("only one place retries"));
  EXPECT_EQ(script->attempts(), 0U);
}

}  // namespace
}  // namespace spillway::testing
