// SPDX-License-Identifier: MIT
//
// The tests' own tool does what its header says, with the statements that LogTable really sends.
#include "tests/support/scripted_database.h"

#include <spillway/sqlite_database.h>
#include <spillway/testing/fake_clock.h>

#include <gmock/gmock.h>

#include "table/log_table.h"
#include "tests/d1/sqlite_fixture.h"

#include <thread>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ScriptedDatabaseTest : public SqliteFile {
 protected:
  Result<Inserted> insert(Database& database, std::int64_t seq,
                          const ExecuteOptions& options = {}) {
    const Record record{.time = {},
                        .seq = seq,
                        .level = Level::kInfo,
                        .context = "c",
                        .message = "m",
                        .fields = {}};
    return table.insert(database, 7, std::span(&record, 1), options);
  }

  FakeClock clock;
  std::shared_ptr<DatabaseScript> script = std::make_shared<DatabaseScript>(clock);
  const LogTable table = std::move(LogTable::named("logs")).value();
};

TEST_F(ScriptedDatabaseTest, PlaysTheScriptThenTheDefault) {
  ScriptedDatabase database(script, open_file(path));
  ASSERT_TRUE(table.prepare(database, {}).is_ok());
  EXPECT_EQ(script->attempts(), 0U);
  script->add({Outcome::refuse(Status(StatusCode::kOverload, "busy")),
               Outcome::lose(Status(StatusCode::kLost, "cut")), Outcome::pass()});
  script->set_default(Outcome::refuse(Status(StatusCode::kAuth, "no")));

  EXPECT_EQ(insert(database, 1).status().code(), StatusCode::kOverload);
  EXPECT_EQ(count_of(database, "logs"), 0);
  EXPECT_EQ(insert(database, 2).status().code(), StatusCode::kLost);
  EXPECT_EQ(count_of(database, "logs"), 1);
  EXPECT_EQ(insert(database, 3).value().rows, 1);
  EXPECT_EQ(insert(database, 4).status().code(), StatusCode::kAuth);
  EXPECT_EQ(script->attempts(), 4U);
}

TEST_F(ScriptedDatabaseTest, RecordsCalls) {
  ScriptedDatabase database(script);
  script->keep_statements();
  clock.advance(milliseconds(5));
  EXPECT_EQ(insert(database, 11, {.lock_wait = milliseconds(3)}).value().rows, 1);
  const ScriptedCall call = script->calls().at(0);
  EXPECT_EQ(call.began, SteadyTime(milliseconds(5)));
  EXPECT_EQ(call.rows, 1U);
  EXPECT_EQ(call.statements.at(0).rows.at(0).at(2), Value(std::int64_t{11}));
  EXPECT_EQ(call.lock_wait, milliseconds(3));
}

TEST_F(ScriptedDatabaseTest, StandsForD1) {
  script->set_traits(d1_traits());
  ScriptedDatabase database(script);
  EXPECT_EQ(database.traits().name, "D1");
  script->add({Outcome::pass(), Outcome::refuse(Status(StatusCode::kAuth, "no"))});
  EXPECT_EQ(insert(database, 1).value().rows, 1);
  EXPECT_EQ(insert(database, 2).status().code(), StatusCode::kAuth);
  EXPECT_EQ(script->calls().at(1).rows, 1U) << "the row in the JSON text";
}

TEST_F(ScriptedDatabaseTest, WithoutADatabaseBeneathTheTableCanBePrepared) {
  ScriptedDatabase database(script);
  EXPECT_TRUE(table.prepare(database, {}).is_ok());
  EXPECT_EQ(insert(database, 1).value().rows, 1);
}

TEST_F(ScriptedDatabaseTest, ABlockEndsByReleaseCancelOrDeadline) {
  script->set_default(Outcome::block());
  ScriptedDatabase database(script);
  const auto blocked = [&](const ExecuteOptions& options, const auto& end) {
    const std::size_t before = script->attempts();
    StatusCode code = StatusCode::kOk;
    std::jthread caller([&] { code = insert(database, 1, options).status().code(); });
    EXPECT_TRUE(script->await_attempts(before + 1, seconds(60)));
    end();
    caller.join();
    return code;
  };
  std::stop_source source;
  EXPECT_EQ(blocked({.cancel = source.get_token()}, [&] { source.request_stop(); }),
            StatusCode::kLost);
  EXPECT_EQ(
      blocked({.deadline = clock.steady_now() + seconds(10)}, [&] { clock.advance(seconds(10)); }),
      StatusCode::kLost);
  EXPECT_EQ(blocked({}, [&] { script->release(); }), StatusCode::kLost);
}

TEST_F(ScriptedDatabaseTest, SaysWhenAttemptsDoNotCome) {
  EXPECT_FALSE(script->await_attempts(1, milliseconds(1)));
}

}  // namespace
}  // namespace spillway::testing
