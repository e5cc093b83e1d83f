// SPDX-License-Identifier: MIT
//
// Goal: `spillway tail --follow` shows each row once, late ones too, lives through a database that
// does not answer, and ends when it is asked to.
// Method: run the built program and write rows while it runs. It looks at the file all the time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tail_fixture.h"
#include "tests/d1/raw_sqlite.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr seconds kPatience{30};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

class TailFollow : public LogFileProgram {
 protected:
  [[nodiscard]] ProcessOptions follow(const std::vector<std::string>& more = {}) const {
    return program({"tail", "--db", "sqlite:x.db", "--follow", "--interval", "100ms"}, more);
  }

  // A row of that many seconds ago.
  void add_now(int seq, const std::string& message, int seconds_ago = 0,
               const std::string& level = "INFO") const {
    execute_sql(file, "INSERT INTO logs VALUES(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-" +
                          std::to_string(seconds_ago) + " seconds'), 7, " + std::to_string(seq) +
                          ", '" + level + "', 'app', '" + message + "', NULL)");
  }

  static ProcessResult end(Subprocess& process, int signal = SIGINT) {
    process.send_signal(signal);
    ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  }
};

TEST_F(TailFollow, ShowsWhatIsThereAndThenWhatComesEachOnce) {
  add_now(1, "first");
  Subprocess process(follow());
  ASSERT_TRUE(process.wait_for_text("first", kPatience));
  add_now(2, "second");
  ASSERT_TRUE(process.wait_for_text("second", kPatience));
  add_now(3, "third");
  ASSERT_TRUE(process.wait_for_text("third", kPatience));
  const ProcessResult result = end(process);
  EXPECT_EQ(count(result.out, "\n"), 3) << result.out;
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(TailFollow, ShowsARowThatIsStoredAfterLaterOnes) {
  add_now(1, "on time");
  Subprocess process(follow());
  ASSERT_TRUE(process.wait_for_text("on time", kPatience));
  add_now(2, "ten seconds late", 10);
  EXPECT_TRUE(process.wait_for_text("ten seconds late", kPatience));
  EXPECT_EQ(count(end(process).out, "\n"), 2);
}

TEST_F(TailFollow, DoesNotShowAsNewWhatItsListLeftOut) {
  for (int i = 1; i <= 5; ++i) {
    add_now(i, "old " + std::to_string(i), 6 - i);
  }
  Subprocess process(follow({"--limit", "1"}));
  ASSERT_TRUE(process.wait_for_text("old 5", kPatience));
  add_now(6, "new");
  ASSERT_TRUE(process.wait_for_text("new", kPatience));
  const ProcessResult result = end(process);
  EXPECT_EQ(count(result.out, "old "), 1) << result.out;
}

TEST_F(TailFollow, FiltersWhatComes) {
  Subprocess process(follow({"--level", "error"}));
  ASSERT_TRUE(process.wait_for_text("the filter matched nothing: ", kPatience));
  add_now(1, "quiet");
  add_now(2, "loud", 0, "ERROR");
  ASSERT_TRUE(process.wait_for_text("loud", kPatience));
  EXPECT_EQ(count(end(process, SIGTERM).out, "\n"), 1);
}

TEST_F(TailFollow, TriesAgainWhileTheFileIsLockedAndSaysSoOnce) {
  execute_sql(file, "PRAGMA journal_mode = DELETE");
  add_now(1, "before");
  Subprocess process(follow());
  ASSERT_TRUE(process.wait_for_text("before", kPatience));
  RawSqlite other(file.string());
  ASSERT_EQ(other.exec("BEGIN EXCLUSIVE"), SQLITE_OK);
  ASSERT_EQ(other.exec("INSERT INTO logs VALUES(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 7, 2, "
                       "'INFO', 'app', 'after', NULL)"),
            SQLITE_OK);
  ASSERT_TRUE(process.wait_for_text("keeps trying", kPatience));
  ASSERT_EQ(other.exec("COMMIT"), SQLITE_OK);
  ASSERT_TRUE(process.wait_for_text("after", kPatience));
  const ProcessResult result = end(process);
  EXPECT_EQ(count(result.err, "keeps trying"), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("answers again"));
  EXPECT_EQ(count(result.out, "\n"), 2);
}

TEST_F(TailFollow, FindsAFileThatWasReplaced) {
  add_now(1, "in the old file");
  Subprocess process(follow());
  ASSERT_TRUE(process.wait_for_text("in the old file", kPatience));
  std::filesystem::rename(file, directory.path("other.db"));
  ASSERT_TRUE(process.wait_for_text("keeps trying", kPatience));
  std::filesystem::rename(directory.path("other.db"), file);
  add_now(2, "in the new file");
  EXPECT_TRUE(process.wait_for_text("in the new file", kPatience));
  EXPECT_EQ(count(end(process).out, "\n"), 2);
}

TEST_F(TailFollow, EndsWhenNobodyReadsAnyMore) {
  add_now(1, "the only row");
  const ProcessResult result = run({.argv = {"/bin/sh", "-c",
                                             "{ \"$0\" tail --db sqlite:x.db --follow --interval "
                                             "1h; echo \"left $?\" >&2; } | head -1",
                                             SPILLWAY_PROGRAM},
                                    .working_directory = directory.path()},
                                   {}, kPatience);
  EXPECT_EQ(result.err, "left 0\n") << "no new row is needed to notice";
  EXPECT_THAT(result.out, HasSubstr("the only row"));
}

TEST_F(TailFollow, DoesNotWaitForADatabaseThatIsWronglyNamed) {
  const ProcessResult result =
      run(program({"tail", "--follow", "--db", "sqlite:none.db"}, {}), {}, kPatience);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no such file"));
}

}  // namespace
}  // namespace spillway::testing
