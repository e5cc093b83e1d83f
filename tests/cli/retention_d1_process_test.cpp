// SPDX-License-Identifier: MIT
//
// Goal: `spillway-retention` on D1 sends one request at a time, waits while D1 is overloaded, ends
// in time where that lasts, and keeps the token to itself.
// Method: run the built program against a D1 on this machine that fails as told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/scripted_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSecret = "abcSECRETxyz";
constexpr seconds kAtOnce{20};  // It says 2 s; a machine may be slow.

class RetentionD1 : public ::testing::Test {
 protected:
  void SetUp() override {
    execute(
        "CREATE TABLE logs(created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT "
        "NULL, level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT, "
        "PRIMARY KEY(created_at, writer, seq)) WITHOUT ROWID");
    add_rows(1'200, "-40 days");
    add_rows(500, "+0 days");
  }

  void execute(const std::string& sql) { EXPECT_EQ(d1.value(sql), "none") << sql; }
  void add_rows(int count, const std::string& age) {
    execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
            std::to_string(count) + ") INSERT INTO logs SELECT strftime('%Y-%m-%dT%H:%M:%fZ', " +
            "'now', '" + age + "'), 9007199254740991, i, 'INFO', 'app', 'row ' || i, NULL FROM n");
  }
  [[nodiscard]] std::string rows() { return d1.value("SELECT count(*) FROM logs"); }

  [[nodiscard]] ProcessOptions program(const std::string& command,
                                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> argv = {
        SPILLWAY_RETENTION_PROGRAM, command, "--db", d1.url(), "--keep", "30d", "--json"};
    argv.insert(argv.end(), more.begin(), more.end());
    return {.argv = std::move(argv),
            .env = {{"CLOUDFLARE_API_TOKEN", kSecret}, {"CLOUDFLARE_API_BASE_URL", d1.base_url()}},
            .working_directory = directory.path()};
  }
  void expect_failure(const ProcessOptions& options, int code, const std::string& word) const {
    const ProcessResult result = run(options);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, MatchesRegex("[^\n]+\n"));
    EXPECT_THAT(result.err, AllOf(StartsWith("spillway-retention: logs in " + d1.url() + ": "),
                                  HasSubstr(word)));
    EXPECT_THAT(result.out,
                StartsWith("{\"ok\":false,\"exit\":" + std::to_string(code) + ",\"why\":\""));
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("SECRET")));
  }

  TempDir directory;
  ScriptedD1 d1{{.token = kSecret}};
};

bool does_delete(const D1Request& request) {
  return request.body.find("DELETE FROM") != std::string::npos;
}

TEST_F(RetentionD1, FinishesThroughAnOverloadAndSendsOneRequestAtATime) {
  constexpr milliseconds kAnswerTime(60);
  int deletes = 0;
  d1.set_rule([&](const D1Request& request) {
    deletes += does_delete(request) ? 1 : 0;
    const bool is_refused = does_delete(request) && (deletes == 2 || deletes == 3);
    return (is_refused ? D1Fault::overloaded() : D1Fault::pass())
        .delayed(D1Fault::Hold::kBeforeRun, kAnswerTime);
  });
  const ProcessResult result = run(program("run", {"--chunk", "1000"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(rows(), "500");
  EXPECT_EQ(json_number(result.out, "$.deleted"), 1'200);
  EXPECT_EQ(d1.counts().by_fault["overloaded"], 2U);
  EXPECT_GE(json_number(result.out, "$.rows_written"), 1'200);
  EXPECT_THAT(result.out, HasSubstr("\"dollars\":0.00"));
  const std::vector<D1Request> requests = d1.requests();
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const auto since = requests[i].arrived - requests[i - 1].arrived;
    EXPECT_GE(since, kAnswerTime) << "request " << i << " came before the answer to the last one";
    // Each wait is twice as long as the one before, within a fifth.
    const milliseconds wait(requests[i - 1].fault != "overloaded"   ? 0
                            : requests[i - 2].fault == "overloaded" ? 400
                                                                    : 200);
    EXPECT_GE(since, wait) << "request " << i;
  }
}

TEST_F(RetentionD1, EndsWhereAnOverloadWouldLastLongerThanItsPatience) {
  d1.set_rule(
      [](const D1Request&) { return D1Fault::overloaded().with_header("Retry-After", "120"); });
  for (const char* const command : {"run", "plan", "check"}) {
    expect_failure(program(command), 6, "wait 120 s");
  }
  EXPECT_EQ(d1.requests().size(), 3U) << "a wish to be left alone is granted";
}

TEST_F(RetentionD1, EndsWhereNobodyListens) {
  ProcessOptions options = program("run", {"--max-runtime", "2s"});
  options.env[1].second = "http://127.0.0.1:1";
  expect_failure(options, 6, "127.0.0.1");
}

TEST_F(RetentionD1, TellsTheTokenToNobodyButD1) {
  d1.set_rule([](const D1Request&) { return D1Fault::echo(); });
  for (const char* const command : {"run", "plan", "check"}) {
    expect_failure(program(command), 1, "check the token");
  }
  d1.set_rule({});
  ProcessOptions refused = program("run");
  refused.env[0].second = "anotherSECRET";
  expect_failure(refused, 1, "check the token");
  refused.env[0].second = "";
  EXPECT_EQ(run(refused).exit_code, 2);
  EXPECT_EQ(rows(), "1700");
}

TEST_F(RetentionD1, EndsAtOnceWhileARequestHangs) {
  d1.set_rule([](const D1Request& request) {
    return does_delete(request) ? D1Fault::hang(D1Fault::Run::kNow) : D1Fault::pass();
  });
  Subprocess process(program("run", {"--chunk", "1000"}));
  while (d1.counts().by_fault["hang"] == 0) {
    ASSERT_TRUE(d1.wait_for_requests(d1.counts().requests + 1)) << process.err();
  }
  process.send_signal(SIGTERM);
  const ProcessResult result = process.wait(kAtOnce, Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(rows(), "700") << "which nobody has told it";
  EXPECT_EQ(d1.value("SELECT value ->> '$.until' FROM logs_meta WHERE key = 'retention_lease'"),
            "0");
}

}  // namespace
}  // namespace spillway::testing
