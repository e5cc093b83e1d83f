// SPDX-License-Identifier: MIT
//
// Goal: a D1Database sends statements to the right place, and what it says never shows the token.
// Method: servers on loopback with answers of ours in D1's form.
#include <spillway/d1_database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/d1_http_fixture.h"
#include "tests/support/raw_http_server.h"
#include "tests/support/sanitizers.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temp_dir.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace spillway {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using testing::always;
using ::testing::HasSubstr;
using testing::kHasSanitizer;
using testing::kToken;
using ::testing::Not;
using testing::RawConnection;
using testing::RawHttpServer;

constexpr const char* kInserted =
    R"({"success":true,"errors":[],"messages":[],"result":[{"success":true,)"
    R"("results":{"columns":[],"rows":[]},"meta":{"changes":1,"rows_written":1}}]})";

std::string refusal(int code, const std::string& message) {
  return R"({"success":false,"result":[],"messages":[],"errors":[{"code":)" + std::to_string(code) +
         R"(,"message":")" + message + R"("}]})";
}

D1Options options_for(const RawHttpServer& server) {
  D1Options options;
  options.account_id = "acc";
  options.database_id = "db-1";
  options.token = kToken;
  options.base_url = server.url("/client/v4/");
  return options;
}

std::unique_ptr<D1Database> opened(const D1Options& options) {
  auto database = D1Database::open(options);
  EXPECT_TRUE(database.has_value()) << database.status().to_string();
  return *std::move(database);
}

Result<std::vector<StatementResult>> insert(Database& database,
                                            const ExecuteOptions& options = {}) {
  const std::vector<Statement> statements = {{"INSERT INTO t VALUES(?)", {{"x"}}}};
  return database.execute(statements, options);
}

TEST(D1Database, PostsToTheDatabaseThatItNames) {
  RawHttpServer server(always(200, kInserted, "Ratelimit: \"default\";r=50;t=30\r\n"));
  const auto database = opened(options_for(server));
  EXPECT_EQ(database->rate_limit(), std::nullopt);
  const auto results = insert(*database);
  ASSERT_TRUE(results.has_value()) << results.error().to_string();
  EXPECT_EQ(results->at(0).meta.changes, 1);
  EXPECT_EQ(database->rate_limit()->remaining, 50);
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_THAT(server.requests()[0].head,
              HasSubstr("POST /client/v4/accounts/acc/d1/database/db-1/raw HTTP/1.1\r\n"));
}

TEST(D1Database, GivesTheServersReasonAndItsWaitButNeverTheToken) {
  RawHttpServer server([](RawConnection& connection) {
    while (const auto request = connection.read_request()) {
      const std::string echo = "Invalid request header: " + request->header("authorization");
      connection.answer(401, refusal(10000, echo), "Retry-After: 300\r\n");
    }
  });
  const auto database = opened(options_for(server));
  const Status status = insert(*database).status();
  EXPECT_EQ(status.code(), StatusCode::kAuth) << status.to_string();
  EXPECT_EQ(status.http_status(), 401);
  EXPECT_EQ(status.retry_after(), seconds(300));
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("Bearer [token]"), Not(HasSubstr("SECRET"))));
}

// Wherever a message is cut, what is left of the token goes.
TEST(D1Database, ShowsNoPieceOfATokenThatTheCutOfALongMessageGoesThrough) {
  for (std::size_t before = 180; before < 270; ++before) {
    RawHttpServer server(
        always(403, refusal(10000, std::string(before, 'x') + "abc123SECRET-and-more")));
    D1Options options = options_for(server);
    options.token = "abc123SECRET-and-more";
    const Status status = insert(*opened(options)).status();
    EXPECT_THAT(status.to_string(), Not(HasSubstr("abc123"))) << before;
  }
}

TEST(D1Database, SendsNothingThatWritesWhenItIsOpenedForReading) {
  RawHttpServer server(always(200, kInserted));
  D1Options options = options_for(server);
  options.is_read_only = true;
  const auto database = opened(options);
  for (const char* sql :
       {"INSERT INTO t VALUES(1)", "WITH x AS (SELECT 1) DELETE FROM t", "PRAGMA foreign_keys=0"}) {
    const std::vector<Statement> statements = {{"SELECT 1"}, {sql}};
    const Status status = database->execute(statements, {}).status();
    EXPECT_EQ(status.code(), StatusCode::kConfig) << sql;
    EXPECT_EQ(status.execution(), Execution::kNo) << sql;
    EXPECT_THAT(status.message(), HasSubstr("opened for reading"));
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST(D1Database, SendsNothingWhenItCannotBeRight) {
  RawHttpServer server(always(200, kInserted));
  const auto database = opened(options_for(server));
  const auto code_of = [&](std::vector<Statement> statements) {
    return database->execute(statements, {}).status().code();
  };
  EXPECT_EQ(code_of({}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({{"BEGIN"}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({{"SELECT ?", {{1.0, 2.0}}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(server.connections(), 0U);
}

TEST(D1Database, KeepsToTheDeadlineOfTheCallAndToItsOwnTimeout) {
  RawHttpServer server([](RawConnection& connection) { connection.wait_for_end(); });
  const SteadyTime now = Clock::system().steady_now();
  const auto database = opened(options_for(server));
  const Status late = insert(*database, {.deadline = now - seconds(1)}).status();
  EXPECT_EQ(late.code(), StatusCode::kCancelled) << late.to_string();
  const Status soon =
      insert(*database, {.deadline = now + std::chrono::milliseconds(200)}).status();
  EXPECT_EQ(soon.execution(), soon.code() == StatusCode::kLost ? Execution::kMaybe : Execution::kNo)
      << soon.to_string();
  D1Options options = options_for(server);
  options.attempt_timeout = std::chrono::milliseconds(kHasSanitizer ? 2'000 : 400);
  const Status own = insert(*opened(options)).status();
  EXPECT_EQ(own.code(), StatusCode::kLost) << own.to_string();
}

TEST(D1Database, OpenedAnewTakesAReplacedTokenFromItsFile) {
  RawHttpServer server(always(200, kInserted));
  const testing::TempDir directory;
  const testing::ScopedEnvironment environment(
      {{"CLOUDFLARE_API_BASE_URL", server.url()}, {"CLOUDFLARE_API_TOKEN", "of-the-environment"}});
  const auto factory =
      database_factory("d1://acc/db", OpenMode::kCreate, {.token_file = directory.path("token")});
  ASSERT_TRUE(factory.has_value()) << factory.error().to_string();
  for (const char* token : {"first", "second"}) {
    std::ofstream(directory.path("token")) << token << '\n';
    const auto database = (*factory)();
    ASSERT_TRUE(database.has_value()) << database.error().to_string();
    EXPECT_TRUE(insert(**database).has_value());
    EXPECT_EQ(server.requests().back().header("authorization"), std::string("Bearer ") + token);
  }
}

}  // namespace
}  // namespace spillway
