// SPDX-License-Identifier: MIT
//
// Goal: tail, d1 query and log treat D1 as they treat a file, and say what a server's refusal
// means.
// Method: run the built program against a D1 on this machine that fails as told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr seconds kPatience{60};

class ReadingD1 : public ::testing::Test {
 protected:
  [[nodiscard]] ProcessOptions program(std::vector<std::string> arguments,
                                       const std::vector<std::string>& more = {}) const {
    arguments.insert(arguments.begin(), SPILLWAY_PROGRAM);
    arguments.insert(arguments.end(), {"--db", d1.url()});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {.argv = std::move(arguments),
            .env = {{"CLOUDFLARE_API_BASE_URL", d1.base_url()},
                    {"CLOUDFLARE_API_TOKEN", d1.options().token}},
            .working_directory = directory.path()};
  }

  void execute(const std::string& sql) { EXPECT_EQ(d1.value(sql), "none") << sql; }

  // As many rows, one a second, every tenth an ERROR.
  void fill(int rows) {
    execute(
        "CREATE TABLE logs(created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT "
        "NULL, level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT, "
        "PRIMARY KEY(created_at, writer, seq)) WITHOUT ROWID");
    execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
            std::to_string(rows) +
            ") INSERT INTO logs SELECT strftime('%Y-%m-%dT%H:%M:%fZ', '2026-08-28', '+' || i || ' "
            "seconds'), 9007199254740991, i, iif(i % 10 = 0, 'ERROR', 'INFO'), 'app', 'row ' || i, "
            "json_object('n', 9007199254740993) FROM n");
  }

  TempDir directory;
  ScriptedD1 d1;
};

// --- tail ---

TEST_F(ReadingD1, TailShowsTheNewestRowsWithEveryDigit) {
  fill(50);
  const ProcessResult result = run(program({"tail"}, {"--limit", "2", "--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            R"({"created_at":"2026-08-28T00:00:49.000Z","writer":9007199254740991,"seq":49,)"
            R"("level":"INFO","context":"app","message":"row 49","fields":{"n":9007199254740993}})"
            "\n"
            R"({"created_at":"2026-08-28T00:00:50.000Z","writer":9007199254740991,"seq":50,)"
            R"("level":"ERROR","context":"app","message":"row 50","fields":{"n":9007199254740993}})"
            "\n");
  EXPECT_LE(d1.requests().size(), 2U) << "one, and one to learn the columns";
}

TEST_F(ReadingD1, TailFiltersThroughManyPages) {
  fill(3'000);
  const ProcessResult result =
      run(program({"tail"}, {"--level", "error", "--grep", "row 10", "--since", "2026-08-28"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("2026-08-28T00:00:10.000Z ERROR app row 10 "));
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 12);  // 10, 100, 1000, 1010 …
}

TEST_F(ReadingD1, TailSaysWhatItMeansThatD1IsOverloaded) {
  fill(1);
  d1.set_rule([](const D1Request&) { return D1Fault::overloaded(); });
  const ProcessResult result = run(program({"tail"}));
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("overloaded"), HasSubstr("try again"),
                                Not(HasSubstr(d1.options().token))));
  EXPECT_EQ(d1.requests().size(), 1U) << "nothing is repeated";
}

TEST_F(ReadingD1, NamesTheSecondsThatAServerWantsToBeLeftAlone) {
  fill(1);
  const D1Fault proxy = D1Fault::answer({429, "error code: 1015", "text/plain"});
  for (const D1Fault& fault : {D1Fault::rate_limited("7"), proxy.with_header("Retry-After", "7")}) {
    d1.set_rule([fault](const D1Request&) { return fault; });
    EXPECT_THAT(run(program({"tail"})).err, EndsWith("; wait 7 s\n"));
    EXPECT_THAT(run(program({"d1", "query"}, {"SELECT 1"})).err, EndsWith("; wait 7 s\n"));
  }
}

TEST_F(ReadingD1, TailNamesTheTokenWhenD1RefusesIt) {
  ProcessOptions options = program({"tail"});
  options.env[1].second = "another-token";
  const ProcessResult result = run(options);
  EXPECT_EQ(result.exit_code, 1) << "what a server answers is no error of usage";
  EXPECT_THAT(result.err, AllOf(HasSubstr("check the token"), Not(HasSubstr("another-token"))));
}

TEST_F(ReadingD1, TailTellsAMissingTable) {
  const ProcessResult result = run(program({"tail"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no log table \"logs\""));
}

TEST_F(ReadingD1, FollowLivesThroughAnOverloadAndMissesNothing) {
  fill(1);
  Subprocess process(program({"tail"}, {"--follow", "--interval", "200ms"}));
  ASSERT_TRUE(process.wait_for_text("row 1 ", kPatience)) << process.err();
  d1.set_rule([](const D1Request&) { return D1Fault::overloaded(); });
  ASSERT_TRUE(process.wait_for_text("keeps trying", kPatience));
  execute(
      "INSERT INTO logs VALUES(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 1, 1, 'INFO', 'app', "
      "'while it was overloaded', NULL)");
  d1.set_rule({});
  ASSERT_TRUE(process.wait_for_text("while it was overloaded", kPatience)) << process.err();
  process.send_signal(SIGINT);
  const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, EndsWith("answers again\n"));
}

TEST_F(ReadingD1, FollowEndsAtOnceWhileARequestHangs) {
  fill(1);
  d1.set_rule([](const D1Request&) { return D1Fault::hang(D1Fault::Run::kNever); });
  Subprocess process(program({"tail"}, {"--follow"}));
  ASSERT_TRUE(d1.wait_for_requests(1));
  process.send_signal(SIGTERM);
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << "its own time-out would be 30 s";
}

// --- d1 query ---

TEST_F(ReadingD1, QueryShowsRowsAndWhatTheyCost) {
  fill(3);
  const ProcessResult result = run(program({"d1", "query"}, {"SELECT seq, writer FROM logs"}));
  EXPECT_EQ(result.out,
            "seq\twriter\n1\t9007199254740991\n2\t9007199254740991\n3\t9007199254740991\n");
  EXPECT_THAT(result.err, StartsWith("spillway: 3 rows, 0 changed; "));
  const ProcessResult written =
      run(program({"d1", "query"}, {"DELETE FROM logs WHERE seq > ?", "int:1"}));
  EXPECT_THAT(written.err, AllOf(HasSubstr("2 changed"), HasSubstr(" 2 written")));
}

TEST_F(ReadingD1, QueryWarnsWhereTheAnswerToAWriteWasLost) {
  fill(1);
  d1.add({D1Fault::lost_after()});
  const ProcessResult result = run(program({"d1", "query"}, {"DELETE FROM logs"}));
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, HasSubstr("look whether it was done"));
  EXPECT_EQ(d1.value("SELECT count(*) FROM logs"), "0");
}

TEST_F(ReadingD1, QueryThatIsInterruptedSaysThatItMayHaveBeenExecuted) {
  fill(1);
  d1.set_rule([](const D1Request&) { return D1Fault::hang(D1Fault::Run::kNow); });
  Subprocess process(program({"d1", "query"}, {"DELETE FROM logs"}));
  ASSERT_TRUE(d1.wait_for_requests(1));
  process.send_signal(SIGINT);
  const ProcessResult result = process.wait(seconds(20), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, AllOf(StartsWith("spillway: cancelled while waiting for the answer"),
                                HasSubstr("look whether it was done before you do it again")));
}

// --- The token ---

TEST_F(ReadingD1, TakesTheTokenFromAFileBeforeTheEnvironment) {
  fill(1);
  std::ofstream(directory.path("token")) << d1.options().token << '\n';
  ProcessOptions options = program({"tail"}, {"--token-file", "token"});
  options.env[1].second = "another-token";
  EXPECT_EQ(run(options).exit_code, 0);
}

TEST_F(ReadingD1, RefusesAtOnceWithoutAToken) {
  for (const char* const command : {"tail", "log"}) {
    ProcessOptions options = program({command});
    options.env[1].second = "";
    const ProcessResult result = run(options);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, AllOf(HasSubstr("CLOUDFLARE_API_TOKEN"), HasSubstr("--token-file")));
    options = program({command}, {"--token-file", "none"});
    EXPECT_EQ(run(options).exit_code, 2) << command;
  }
  EXPECT_THAT(d1.requests(), IsEmpty());
}

// --- log ---

TEST_F(ReadingD1, LogStoresWhatItReads) {
  const ProcessResult result = run(program({"log"}), "one\ntwo\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(d1.value("SELECT group_concat(message) FROM logs"), "one,two");
}

TEST_F(ReadingD1, LogNeverCallsAServersAnswerAnErrorOfUsage) {
  ProcessOptions options = program({"log"});
  options.env[1].second = "another-token";
  EXPECT_EQ(run(options, "one\n").exit_code, 6);
  options = program({"log"});
  options.argv.back() = "d1://acc/11111111-1111-4111-8111-111111111111";
  EXPECT_EQ(run(options, "one\n").exit_code, 6);
  options.env[0].second = "http://127.0.0.1:1";
  EXPECT_EQ(run(options, "one\n").exit_code, 6) << "nobody listens";
}

}  // namespace
}  // namespace spillway::testing
