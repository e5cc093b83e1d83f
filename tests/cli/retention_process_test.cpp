// SPDX-License-Identifier: MIT
//
// Goal: `spillway-retention` deletes what its options say, to the minute, creates and touches
// nothing where something is wrong, and says so by its exit code and one line.
// Method: run the built program as a user would, in a directory of its own, and look at the file by
// SQLite's own library.
#include "tests/cli/retention_fixture.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr uid_t kNobody = 65534;

class RetentionProgram : public RetentionFile {
 protected:
  // One line on stderr that begins with `place`, and with --json an object that says the same.
  void expect_failure(const ProcessOptions& options, int code, const std::string& place,
                      const std::string& word) const {
    ProcessOptions with_json = options;
    with_json.argv.emplace_back("--json");
    const ProcessResult result = run(with_json);
    EXPECT_EQ(result.exit_code, code) << place << ": " << result.err;
    EXPECT_THAT(result.err, MatchesRegex("[^\n]+\n"));
    EXPECT_THAT(result.err, AllOf(StartsWith("spillway-retention: " + place), HasSubstr(word)));
    EXPECT_THAT(result.out,
                StartsWith("{\"ok\":false,\"exit\":" + std::to_string(code) + ",\"why\":\""));
  }
};

// Where something is wrong.

TEST_F(RetentionProgram, CreatesNothingUnderAWrongName) {
  make_table();
  execute_sql(file(), "PRAGMA journal_mode = DELETE");  // Readers of a log make its files.
  std::filesystem::create_directory(file("folder"));
  std::ofstream(file("text")) << std::string(5'000, 'x');
  const std::string before = content();
  struct Case {
    const char* url;
    const char* word;
  };
  for (const Case& each : {Case{"sqlite:none.db", "no such file"},
                           {"sqlite:none/x.db", "none"},
                           {"sqlite:folder/x.db", "no such file"},
                           {"sqlite:folder", "is a directory"},
                           {"sqlite:text", "is not an SQLite database"}}) {
    for (const char* const command : {"run", "plan", "check"}) {
      expect_failure(program({command, "--db", each.url, "--keep", "30d"}), 2,
                     std::string("logs in ") + each.url + ": ", each.word);
    }
  }
  ProcessOptions elsewhere = on_file("run", {"--keep", "30d"});
  elsewhere.working_directory = file("folder");  // Cron's is not the one where it was tried out.
  expect_failure(elsewhere, 2, "logs in sqlite:x.db: ", "folder/x.db");
  for (const char* const command : {"run", "plan", "check"}) {
    expect_failure(on_file(command, {"--keep", "30d", "--table", "log"}), 1,
                   "log in sqlite:x.db: ", "no such table: log");
  }
  EXPECT_EQ(content(), before);
  EXPECT_THAT(files(), UnorderedElementsAre("x.db", "folder", "text"));
  EXPECT_TRUE(std::filesystem::is_empty(file("folder")));
}

TEST_F(RetentionProgram, TakesNoTableForALogThatHasNotItsColumns) {
  make_table();
  execute_sql(file(), "CREATE TABLE orders(id INTEGER PRIMARY KEY, created_at, message)");
  execute_sql(file(), "INSERT INTO orders VALUES(1, '2001-01-01 00:00:00', 'precious')");
  const std::string before = content();
  expect_failure(on_file("run", {"--keep", "30d", "--table", "orders"}), 2,
                 "orders in sqlite:x.db: ", "\"level\"");
  expect_failure(
      on_file("run", {"--keep", "30d", "--table", "orders", "--time-column", "created_at"}), 2,
      "orders in sqlite:x.db: ", "--allow-delete");
  EXPECT_EQ(content(), before);
}

TEST_F(RetentionProgram, SaysWhatItMayNotWrite) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root, to run the program as another user";
  }
  make_table();
  add_expired(10);
  add_fresh(10);
  chmod(file("").c_str(), 0755);
  chmod(file().c_str(), 0644);
  ProcessOptions options = on_file("run", {"--keep", "30d"});
  options.uid = kNobody;
  expect_failure(options, 2, "logs in sqlite:x.db: ", "ermission");
  chmod(file().c_str(), 0600);
  options.argv[1] = "plan";
  expect_failure(options, 2, "logs in sqlite:x.db: ", "ermission");
  EXPECT_EQ(rows(), 20);
}

TEST_F(RetentionProgram, TouchesNothingWhereItsOptionsAreWrong) {
  make_table();
  add_expired(10);
  const std::string before = content();
  std::vector<std::vector<std::string>> wrong = {{},
                                                 {"--keep-level", "DEBUG"},
                                                 {"--keep-level", "=2d"},
                                                 {"--keep-level", "DEBUG=0d"},
                                                 {"--max-rows", "0"},
                                                 {"--max-rows", "1k"},
                                                 {"--keep", "30d", "--chunk", "0"},
                                                 {"--keep", "30d", "--max-runtime", "5"},
                                                 {"--keep", "30d", "--allow-delete", "all"},
                                                 {"--keep", "30d", "--now", "2999-01-01"},
                                                 {"--keep", "30d", "--now", "yesterday"},
                                                 {"--keep", "30d", "--keep", "40d"},
                                                 {"--keep", "30d", "--frob"},
                                                 {"--keep", "30d", "x.db"},
                                                 {"--keep", "30d", "--table", ""},
                                                 {"--keep", "30d", "--exact"},
                                                 {"--keep", "30d", "--config", "none.toml"}};
  for (const char* const keep :
       {"30", "5m", "0d", "-5d", "+5d", "", " ", "d", "30 d", "30days", "1.5d", "0x5d", "30D",
        "99999999999999999999d", "9223372036854775807d", "106751991168d", "infinity"}) {
    wrong.push_back({"--keep", keep});
  }
  for (const std::vector<std::string>& options : wrong) {
    const ProcessResult result = run(on_file("run", options));
    const std::string name = options.empty() ? "none" : options.back();
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.out, IsEmpty()) << name;
    EXPECT_THAT(result.err, MatchesRegex("spillway-retention: [^\n]+\n")) << name;
  }
  EXPECT_EQ(content(), before);
  EXPECT_THAT(files(), ElementsAre("x.db"));
}

TEST_F(RetentionProgram, EndsWithAnErrorOnAFullDisk) {
  make_table();
  constexpr int kExpired = 20'000;
  add_expired(kExpired);
  add_fresh(5'000);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  rlimit full = limit;
  full.rlim_cur = 300'000;  // Some chunks' worth of the log, and far less than the file has.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));  // The program inherits that: a write fails.
  ::setrlimit(RLIMIT_FSIZE, &full);
  const ProcessResult result = run_on_file({"--chunk", "500"});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, StartsWith("spillway-retention: logs in sqlite:x.db: "));
  expect_integrity();
  EXPECT_EQ(expired_rows() % 500, 0) << "a chunk is done or not";
  EXPECT_EQ(kExpired - expired_rows(), json_number(result.out, "$.deleted"));
  EXPECT_GT(expired_rows(), 0) << "the disk was not full";
  end_lease();
  EXPECT_EQ(run_on_file().exit_code, 0);
  EXPECT_EQ(rows(), 5'000);
  expect_integrity();
}

// What goes and what stays.

TEST_F(RetentionProgram, DeletesToTheMinuteWhateverTheTime) {
  make_table();
  const std::string now = "2024-02-29T12:00:00.000Z";
  add_rows(1, now);
  const std::vector<int> days = {3650, 365, 90, 45, 30, 27};
  for (const int each : days) {
    const std::string age = "-" + std::to_string(each) + " days";
    add_rows(1, now, age, "EXACT" + std::to_string(each));
    add_rows(1, "2024-02-29T12:01:00.000Z", age, "YOUNGER" + std::to_string(each));
    add_rows(1, "2024-02-29T11:59:00.000Z", age, "OLDER" + std::to_string(each));
  }
  std::int64_t left = rows();
  for (const int each : days) {
    const std::string keep = std::to_string(each);
    const ProcessResult result =
        run(on_file("run", {"--keep", keep + "d", "--now", now, "--json"}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(rows("level IN ('EXACT" + keep + "', 'YOUNGER" + keep + "')"), 2) << keep;
    EXPECT_EQ(rows("level = 'OLDER" + keep + "'"), 0) << keep;
    // The two that the longer time before had left.
    const std::int64_t gone = each == days.front() ? 1 : 3;
    EXPECT_EQ(json_number(result.out, "$.deleted"), gone) << keep;
    left -= gone;
    EXPECT_EQ(rows(), left) << keep;
  }
}

TEST_F(RetentionProgram, DeletesTenThousandRowsOfOneInstant) {
  make_table();
  add_rows(10'000, "2024-01-01T00:00:00.000Z");
  add_fresh(2'000);
  const ProcessResult result = run_on_file({"--chunk", "1000"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_EQ(json_number(result.out, "$.deleted"), 10'000);
  EXPECT_GE(json_number(result.out, "$.chunks"), 10);
  EXPECT_EQ(rows(), 2'000);
}

TEST_F(RetentionProgram, IsRefusedWhereAllWouldGoAndDoesItWhenItIsMeant) {
  make_table();
  add_rows(2'000, "now", "-400 days");  // As a clock sees them that is 400 days ahead.
  const std::vector<std::string> policy = {"--keep", "30d", "--keep-level", "DEBUG=2d"};
  expect_failure(on_file("run", policy), 4, "logs in sqlite:x.db: the newest row is of ",
                 "--allow-delete");
  expect_failure(on_file("plan", policy), 4,
                 "logs in sqlite:x.db: a run would be refused: ", "the newest row is of ");
  expect_failure(on_file("run", {"--keep", "30d", "--allow-delete", "1999"}), 4,
                 "logs in sqlite:x.db: ", "2000 rows would go");
  EXPECT_EQ(rows(), 2'000);
  const ProcessResult meant = run_on_file({"--allow-delete", "2000"});
  EXPECT_EQ(meant.exit_code, 0) << "with the very number that it asked for: " << meant.err;
  EXPECT_EQ(rows(), 0);

  // Others that it is not for come after them.
  add_expired(2'000);
  add_rows(100, "now", "-3 days");
  add_rows(5, "now", "-3 days", "DEBUG");
  const ProcessResult first = run_on_file({"--keep-level", "DEBUG=2d", "--allow-delete", "2005"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(rows(), 100);
}

// What is said.

TEST_F(RetentionProgram, PlansWithoutLeavingATrace) {
  make_table();
  add_expired(300);
  add_rows(200, "now", "-3 days", "DEBUG");
  add_fresh(1'000);
  const std::string before = content();
  const std::vector<std::string> policy = {"--keep", "30d", "--keep-level", "DEBUG=2d", "--json"};
  const ProcessResult plan = run(on_file("plan", policy));
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("\"policy\":\"keep=30d DEBUG=2d\""),
                              HasSubstr("\"full_walk\":true"), HasSubstr("\"rows\":null")));
  ProcessOptions dry = on_file("run", policy);
  dry.argv.emplace_back("--dry-run");
  EXPECT_THAT(run(dry).out, HasSubstr("\"command\":\"plan\""));
  ProcessOptions exact = on_file("plan", policy);
  exact.argv.emplace_back("--exact");
  const ProcessResult counted = run(exact);
  EXPECT_EQ(json_number(counted.out, "$.rules[0].rows"), 300) << counted.out;
  EXPECT_EQ(json_number(counted.out, "$.rules[1].rows"), 200) << counted.out;
  EXPECT_EQ(content(), before);
  // What SQLite puts beside a file for its readers is empty, and goes with the next writer.
  EXPECT_THAT(content("x.db-wal"), IsEmpty());
  EXPECT_EQ(run_on_file().exit_code, 0);
  EXPECT_THAT(files(), ElementsAre("x.db"));

  execute_sql(file(), "PRAGMA journal_mode = DELETE");
  EXPECT_EQ(run(exact).exit_code, 0);
  EXPECT_THAT(files(), ElementsAre("x.db"));
}

TEST_F(RetentionProgram, ChecksWhetherThisPolicyIsMet) {
  make_table();
  execute_sql(file(), "PRAGMA journal_mode = DELETE");
  add_expired(10);
  add_fresh(10);
  const ProcessOptions check = on_file("check", {"--keep", "30d"});
  expect_failure(check, 7, "logs in sqlite:x.db: ", "no run has been here yet");
  EXPECT_THAT(files(), ElementsAre("x.db"));
  EXPECT_EQ(run_on_file().exit_code, 0);
  EXPECT_EQ(run(check).exit_code, 0);
  expect_failure(on_file("check", {"--keep", "3d"}), 7, "logs in sqlite:x.db: ", "another policy");
}

TEST_F(RetentionProgram, SaysNothingWhenQuietAndAllIsWell) {
  make_table();
  add_expired(2'000);
  add_fresh(2'000);
  for (const char* const command : {"run", "run", "check"}) {
    const ProcessResult result = run(on_file(command, {"--keep", "30d", "--quiet", "--json"}));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out + result.err, IsEmpty());
  }
  EXPECT_EQ(rows(), 2'000);
  const ProcessResult refused = run(on_file("check", {"--keep", "40d", "--quiet"}));
  EXPECT_EQ(refused.exit_code, 7);
  EXPECT_THAT(refused.err, Not(IsEmpty())) << "what is not well is told";
}

TEST_F(RetentionProgram, LeavesTheRestToTheNextRunWhenABudgetEnds) {
  make_table();
  add_expired(5'000);
  add_fresh(5'000);
  const ProcessResult late = run_on_file({"--max-runtime", "1ms"});
  EXPECT_EQ(late.exit_code, 5);
  EXPECT_THAT(late.err, HasSubstr("--max-runtime"));
  EXPECT_EQ(rows(), 10'000);
  const ProcessResult written = run_on_file({"--max-written", "1000", "--chunk", "300"});
  EXPECT_EQ(written.exit_code, 5);
  EXPECT_THAT(written.err, HasSubstr("--max-written"));
  EXPECT_EQ(json_number(written.out, "$.policy_met"), 0);
  EXPECT_GT(expired_rows(), 3'900);
  EXPECT_LT(expired_rows(), 5'000);
  EXPECT_EQ(run_on_file().exit_code, 0);
  EXPECT_EQ(rows(), 5'000);
}

TEST_F(RetentionProgram, TakesTheShippedConfigurationUnlessOthersMayWriteToIt) {
  make_table();
  add_expired(10);
  add_fresh(10);
  const std::string config = file("retention.toml");
  std::filesystem::copy_file(SPILLWAY_RETENTION_CONFIG, config);
  chmod(config.c_str(), 0646);
  const ProcessOptions options = on_file("run", {"--config", "retention.toml"});
  expect_failure(options, 2, "--config retention.toml: ", "chmod go-w");
  EXPECT_EQ(rows(), 20);
  chmod(config.c_str(), 0644);
  EXPECT_EQ(run(options).exit_code, 0);
  EXPECT_EQ(rows(), 10);
}

}  // namespace
}  // namespace spillway::testing
