// SPDX-License-Identifier: MIT
//
// Goal: `spillway tail` shows of a log what --help says, and nothing twice.
// Method: write rows by SQLite's own library, run the built program, and compare what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tail_fixture.h"
#include "tests/d1/raw_sqlite.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class Tail : public LogFileProgram {
 protected:
  [[nodiscard]] ProcessOptions tail(const std::vector<std::string>& more = {}) const {
    return program({"tail", "--db", "sqlite:x.db"}, more);
  }

  // What it prints, without the times, which are as long in every row.
  [[nodiscard]] std::string shown(const std::vector<std::string>& more = {}) const {
    const ProcessResult result = run(tail(more));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string text;
    for (std::size_t at = 0; at < result.out.size();) {
      const std::size_t end = result.out.find('\n', at) + 1;
      text += result.out.substr(at + 25, end - at - 25);
      at = end;
    }
    return text;
  }

  [[nodiscard]] ProcessResult refused(const std::vector<std::string>& arguments,
                                      int exit_code) const {
    ProcessResult result = run(program(arguments, {}));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]+\n"));
    return result;
  }
};

// Which rows.

TEST_F(Tail, ShowsTheNewestTwentyWithTheNewestAtTheBottom) {
  for (int i = 1; i <= 25; ++i) {
    add(i, "INFO", "row " + std::to_string(i));
  }
  const ProcessResult result = run(tail());
  EXPECT_THAT(result.out, StartsWith("2026-08-28T06:35:00.006Z INFO  app row 6\n"));
  EXPECT_THAT(result.out, ::testing::EndsWith("\n2026-08-28T06:35:00.025Z INFO  app row 25\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Tail, ShowsAsManyAsItIsTold) {
  for (int i = 1; i <= 5; ++i) {
    add(i, "INFO", "row " + std::to_string(i));
  }
  EXPECT_EQ(shown({"--limit", "2"}), "INFO  app row 4\nINFO  app row 5\n");
}

TEST_F(Tail, ShowsAllOfAWindow) {
  execute_sql(
      file,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
      "INSERT INTO logs SELECT printf('2026-08-28T06:%02d:00.000Z', i / 100), 7, i, 'INFO', "
      "'app', 'row ' || i, NULL FROM n");
  const std::string rows = shown({"--since", "2026-08-28T06:05", "--until", "2026-08-28T06:20"});
  EXPECT_THAT(rows, StartsWith("INFO  app row 500\n"));
  EXPECT_THAT(rows, ::testing::EndsWith("\nINFO  app row 1999\n"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 1'500);
}

TEST_F(Tail, FiltersByLevelContextAndText) {
  add(1, "ERROR", "payment failed");
  add(2, "DEBUG", "payment begun");
  add(3, "CRITICAL", "disk lost");
  EXPECT_EQ(shown({"--level", "error"}), "ERROR app payment failed\nCRITICAL app disk lost\n");
  EXPECT_EQ(shown({"--grep", "payment", "--limit", "1"}), "DEBUG app payment begun\n");
  EXPECT_EQ(shown({"--context", "other"}), "");
}

TEST_F(Tail, FindsTheOnlyMatchAmongManyRows) {
  add(1, "INFO", "needle");
  execute_sql(
      file,
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
      "INSERT INTO logs SELECT '2026-08-28T06:36:00.000Z', 7, i, 'INFO', 'app', 'hay', NULL "
      "FROM n");
  EXPECT_EQ(shown({"--grep", "needle"}), "INFO  app needle\n");
}

TEST_F(Tail, ReadsAnotherTable) {
  execute_sql(file, "CREATE TABLE audit AS SELECT * FROM logs");
  execute_sql(file, "INSERT INTO audit VALUES('2026', 1, 1, 'INFO', 'a', 'from audit', NULL)");
  EXPECT_THAT(run(tail({"--table", "audit"})).out, HasSubstr("from audit"));
}

TEST_F(Tail, GivesJsonForPrograms) {
  add(1, "INFO", "say \"hi\"");
  EXPECT_EQ(run(tail({"--json"})).out,
            R"({"created_at":"2026-08-28T06:35:00.001Z","writer":7,"seq":1,"level":"INFO",)"
            R"("context":"app","message":"say \"hi\"","fields":null})"
            "\n");
}

TEST_F(Tail, SendsNothingThatSteersTheTerminal) {
  add(1, "INFO", "\x1b[2J\x1b]0;owned\a");
  EXPECT_THAT(run(tail()).out, AllOf(Not(HasSubstr("\x1b")), HasSubstr(R"(\x1b[2J)")));
}

// What it says beside.

TEST_F(Tail, SaysThatAnEmptyWindowCanBeASymptom) {
  add(1, "INFO", "old");
  const ProcessResult result = run(tail({"--since", "15min"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("no rows in this window"), HasSubstr("overloaded")));
}

TEST_F(Tail, SaysFirstThatTheFilterMatchedNothing) {
  add(1, "INFO", "here");
  EXPECT_THAT(run(tail({"--grep", "nowhere"})).err,
              StartsWith("spillway: the filter matched nothing: "));
  EXPECT_THAT(run(tail({"--level", "error", "--since", "2026-08-28"})).err,
              StartsWith("spillway: the filter matched nothing in this window: "));
}

TEST_F(Tail, MarksAGapRow) {
  add_gap();
  EXPECT_EQ(shown(),
            "WARN  spillway *** Log persistence paused while SQLite was busy, 12 skipped *** "
            "kind=gap total=12\n");
}

TEST_F(Tail, TellsOfAGapThatTheFilterHides) {
  add(1, "ERROR", "x");
  add_gap();
  const ProcessResult hidden = run(tail({"--level", "error"}));
  EXPECT_THAT(hidden.out, Not(HasSubstr("skipped")));
  EXPECT_THAT(hidden.err, AllOf(HasSubstr("1 more gap row"), HasSubstr("--context spillway")));
  EXPECT_THAT(run(tail({"--level", "warn"})).err, IsEmpty()) << "there it is shown";
}

// When it cannot.

TEST_F(Tail, RefusesWhatItCannotDo) {
  EXPECT_THAT(refused({"tail"}, 2).err, HasSubstr("--db is missing"));
  EXPECT_THAT(refused({"tail", "--db", "x.db"}, 2).err, HasSubstr("sqlite:PATH"));
  EXPECT_THAT(refused({"tail", "--db", "sqlite:none.db"}, 2).err, HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(directory.path("none.db")));
  EXPECT_THAT(refused({"tail", "--db", "sqlite:x.db", "--table", "none"}, 1).err,
              AllOf(HasSubstr("no log table \"none\""), HasSubstr("--table")));
}

TEST_F(Tail, RefusesValuesThatMakeNoSense) {
  const auto refusal = [this](const std::string& option, const std::string& value) {
    return refused({"tail", "--db", "sqlite:x.db", option, value}, 2).err;
  };
  EXPECT_THAT(refusal("--since", "5m"), HasSubstr("minutes or months"));
  EXPECT_THAT(refusal("--until", "soon"), HasSubstr("is no time"));
  EXPECT_THAT(refusal("--level", "loud"), HasSubstr("is no level"));
  for (const char* const number : {"0", "-1", "x", "1.5", "100001", ""}) {
    EXPECT_THAT(refusal("--limit", number), HasSubstr("from 1 to 100000")) << number;
  }
}

TEST_F(Tail, RefusesOptionsThatContradictEachOther) {
  EXPECT_THAT(refused({"tail", "--db", "sqlite:x.db", "--since", "1h", "--until", "2h"}, 2).err,
              HasSubstr("is not after --since"));
  EXPECT_THAT(refused({"tail", "--db", "sqlite:x.db", "--interval", "1s"}, 2).err,
              HasSubstr("--interval is for --follow"));
  EXPECT_THAT(refused({"tail", "--db", "sqlite:x.db", "--follow", "--until", "1h"}, 2).err,
              HasSubstr("leave --until out"));
}

TEST_F(Tail, IsUnavailableWhileAnotherProcessHoldsTheWholeFile) {
  execute_sql(file, "PRAGMA journal_mode = DELETE");
  RawSqlite other(file.string());
  ASSERT_EQ(other.exec("BEGIN EXCLUSIVE"), SQLITE_OK);
  const ProcessResult result = run(tail());
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_THAT(result.err, HasSubstr("try again"));
}

TEST_F(Tail, WritesNothing) {
  add(1, "INFO", "x");
  const auto before = std::filesystem::last_write_time(file);
  EXPECT_EQ(shown(), "INFO  app x\n");
  EXPECT_EQ(std::filesystem::last_write_time(file), before);
}

TEST_F(Tail, SaysThatStdoutTakesNoMore) {
  add(1, "INFO", "x");
  ProcessOptions options = tail();
  options.stdout_file = "/dev/full";
  const ProcessResult full = run(options);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write to stdout"));
}

TEST_F(Tail, LeavesQuietlyWhenItsReaderHasEnough) {
  execute_sql(
      file,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
      "INSERT INTO logs SELECT '2026-08-28T06:35:00.000Z', 7, i, 'INFO', 'app', 'much', NULL "
      "FROM n");
  const ProcessResult result = run(
      {.argv = {"/bin/sh", "-c",
                "{ \"$0\" tail --db sqlite:x.db --since 2026; echo \"left $?\" >&2; } | head -1",
                SPILLWAY_PROGRAM},
       .working_directory = directory.path()});
  EXPECT_EQ(result.err, "left 0\n");
}

}  // namespace
}  // namespace spillway::testing
