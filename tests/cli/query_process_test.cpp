// SPDX-License-Identifier: MIT
//
// Goal: `spillway d1 query` runs one statement, shows its answer, and says what it did.
// Method: run the built program on a file and compare what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tail_fixture.h"
#include "tests/d1/raw_sqlite.h"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr std::chrono::seconds kPatience{60};

class Query : public LogFileProgram {
 protected:
  [[nodiscard]] ProcessResult query(const std::vector<std::string>& arguments) const {
    return run(program({"d1", "query", "--db", "sqlite:x.db"}, arguments));
  }

  [[nodiscard]] std::string refusal(const std::vector<std::string>& arguments,
                                    int exit_code) const {
    const ProcessResult result = query(arguments);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]+\n"));
    return result.err;
  }

  // Until another program has it, which shows that its transaction has begun.
  void wait_for_the_write_lock() const {
    RawSqlite other(file.string());
    for (int i = 0; i < 12'000 && other.exec("BEGIN IMMEDIATE") == SQLITE_OK; ++i) {
      ASSERT_EQ(other.exec("ROLLBACK"), SQLITE_OK);
      std::this_thread::sleep_for(milliseconds(5));
    }
    ASSERT_NE(other.exec("BEGIN IMMEDIATE"), SQLITE_OK);
  }
};

TEST_F(Query, ShowsRowsAndSaysWhatTheStatementDid) {
  const ProcessResult result = query({"SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "a\tb\n1\tx\n2\tNULL\n");
  EXPECT_EQ(result.err, "spillway: 2 rows, 0 changed\n");
}

TEST_F(Query, BindsParametersInOrderAsTheTypesTheySay) {
  const ProcessResult result =
      query({"SELECT typeof(?1) AS a, ?1 AS b, typeof(?2) AS c, typeof(?3) AS d", "[1,2]", "int:5",
             "null:", "--json"});
  EXPECT_EQ(result.out, "{\"a\":\"text\",\"b\":\"[1,2]\",\"c\":\"integer\",\"d\":\"null\"}\n");
}

TEST_F(Query, TakesEmptyAndNegativeParameters) {
  EXPECT_EQ(query({"SELECT ?1 AS a, ?2 AS b", "", "-5"}).out, "a\tb\n\t-5\n");
}

TEST_F(Query, TakesNothingBehindTwoDashesForAnOption) {
  EXPECT_EQ(query({"--", "SELECT ?1 AS a, ?2 AS b", "-5", "--json"}).out, "a\tb\n-5\t--json\n");
  EXPECT_EQ(query({"SELECT ?1 AS a, ?2 AS b", "x", "--", "-y"}).out, "a\tb\nx\t-y\n");
  EXPECT_EQ(query({"--json", "--", "--comment\nSELECT '--' AS a"}).out, "{\"a\":\"--\"}\n");
  EXPECT_EQ(query({"--", "SELECT ?1 AS a", "--"}).out, "a\n--\n");
  EXPECT_THAT(refusal({"--"}, 2), HasSubstr("no SQL given"));
  const ProcessResult tail = run(program({"tail", "--", "--db"}, {}));
  EXPECT_EQ(tail.exit_code, 2);
  EXPECT_EQ(tail.err, "spillway: unexpected argument '--db'; see spillway tail --help\n");
}

TEST_F(Query, TakesWhatStandsBehindAnOptionForItsValue) {
  EXPECT_THAT(run(program({"tail", "--db", "sqlite:x.db", "--grep", "--"}, {})).err,
              HasSubstr("the filter matched nothing: "));
  EXPECT_THAT(run(program({"tail", "--db", "sqlite:x.db", "--grep", "--db="}, {})).err,
              HasSubstr("the filter matched nothing: "));
}

TEST_F(Query, RefusesAnOptionWithAnEqualsSignAndNoValue) {
  for (const std::string command : {"log", "tail", "query"}) {
    std::vector<std::string> arguments = {command, "--token-file=", "--db", "sqlite:x.db"};
    if (command == "query") {
      arguments.insert(arguments.begin(), "d1");
    }
    const ProcessResult result = run(program(arguments, {}));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, MatchesRegex("spillway: --token-file= has no value; to give an empty "
                                         "one write --token-file ''; see spillway [a-z0-9 ]+ "
                                         "--help\n"));
  }
  EXPECT_EQ(run(program({"tail", "--token-file", "", "--db", "sqlite:x.db"}, {})).exit_code, 0);
}

TEST_F(Query, SaysThatAnOptionIsGivenTwiceOrHasNoValue) {
  EXPECT_THAT(refusal({"--db", "sqlite:y.db", "SELECT 1"}, 2), HasSubstr("--db is given twice;"));
  EXPECT_THAT(refusal({"SELECT 1", "--token-file"}, 2), HasSubstr("--token-file has no value;"));
}

TEST_F(Query, WritesToAFileThatIsThereAndMakesNone) {
  EXPECT_THAT(query({"CREATE TABLE t(a)"}).err, HasSubstr("0 changed"));
  EXPECT_THAT(query({"INSERT INTO t VALUES(?), (?)", "x", "y"}).err, HasSubstr("2 changed"));
  EXPECT_EQ(query_number(file, "SELECT count(*) FROM t"), 2);
  const ProcessResult missing =
      run(program({"d1", "query", "--db", "sqlite:none.db", "SELECT 1"}, {}));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(directory.path("none.db")));
}

// As soon as it listens to signals, and in the middle of its work.
TEST_F(Query, ChangesNothingInAFileWhenItIsInterrupted) {
  for (const bool is_at_work : {false, true}) {
    Subprocess process(
        program({"d1", "query", "--db", "sqlite:x.db"},
                {"CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                 "WHERE i < 1000000000) SELECT count(*) FROM n"}));
    ASSERT_TRUE(process.wait_for_handler(SIGINT, Subprocess::Handler::kInstalled, kPatience));
    if (is_at_work) {
      wait_for_the_write_lock();
    }
    process.send_signal(SIGINT);
    const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, MatchesRegex("spillway: cancelled[^\n]*; nothing was changed\n"));
    EXPECT_EQ(query_number(file, "SELECT count(*) FROM sqlite_master WHERE name = 't'"), 0);
  }
}

TEST_F(Query, RefusesMoreThanOneStatement) {
  EXPECT_THAT(refusal({"DROP TABLE logs; DROP TABLE logs"}, 2), HasSubstr("more than one"));
  EXPECT_EQ(query_number(file, "SELECT count(*) FROM logs"), 0);
}

TEST_F(Query, TellsAnErrorInOneLine) {
  EXPECT_THAT(refusal({"SELEC 1"}, 1), HasSubstr("syntax error"));
  EXPECT_THAT(refusal({"SELECT * FROM none"}, 1), HasSubstr("no such table"));
  EXPECT_THAT(refusal({"SELECT ?", "a", "b"}, 2),
              HasSubstr("spillway: the statement has 1 parameter, but 2 values were given\n"));
  EXPECT_THAT(refusal({"SELECT ?", "int:x"}, 2), HasSubstr("text:int:x"));
  EXPECT_THAT(refusal({}, 2), HasSubstr("no SQL given"));
  EXPECT_THAT(refusal({"SELECT 1", "--jso"}, 2), HasSubstr("unexpected argument '--jso'"));
}

TEST_F(Query, NamesTheCommandWhoseHelpToRead) {
  const ProcessResult result = run(program({"d1"}, {}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no command given; see spillway d1 --help"));
  EXPECT_THAT(run(program({"d1", "--help"}, {})).out, HasSubstr("Usage: spillway d1 query"));
}

}  // namespace
}  // namespace spillway::testing
