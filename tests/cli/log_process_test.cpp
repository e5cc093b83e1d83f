// SPDX-License-Identifier: MIT
//
// Goal: `spillway log` does to its input, its database and its exit code what --help says.
// Method: run the built program as a user would, in a directory of its own, and read the file that
// it leaves by SQLite's own library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/sanitizers.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::string_view_literals::operator""sv;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr uid_t kNobody = 65534;
constexpr std::chrono::seconds kPatience{60};

std::string numbered(const std::string& text, int number) {
  return text + " " + std::to_string(number);
}

class Log : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& name = "x.db") const {
    return directory_.path() / name;
  }

  [[nodiscard]] ProcessOptions program(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SPILLWAY_PROGRAM);
    return {.argv = std::move(arguments), .working_directory = directory_.path()};
  }

  [[nodiscard]] ProcessOptions log(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"log", "--db", "sqlite:x.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program(arguments);
  }

  // The usual run: everything gets in.
  ProcessResult store(std::string_view input, const std::vector<std::string>& options = {}) {
    ProcessResult result = run(log(options), input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return result;
  }

  void write_file(const std::string& name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  // The program has begun, and listens to signals, when its database is there.
  void wait_for_file(const std::string& name) const {
    for (int i = 0; i < 12'000 && !std::filesystem::exists(file(name)); ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    ASSERT_TRUE(std::filesystem::exists(file(name)));
  }

  // Exit code 2 with one line that holds every word, while stdin stays open and is not read.
  void expect_refusal(const ProcessOptions& options, const std::vector<std::string>& words) const {
    Subprocess process(options);
    const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kKeepOpen);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]+\n"));
    for (const std::string& word : words) {
      EXPECT_THAT(result.err, HasSubstr(word));
    }
  }

 private:
  TempDir directory_;
};

// What becomes of the lines.

TEST_F(Log, StoresTheLinesOfAFileByteForByteAndInOrder) {
  std::string content;
  std::vector<std::string> expected;
  for (int i = 0; i < 2'000; ++i) {
    expected.push_back(numbered("Mar  3 07:08:09 host1 sshd[4711]: \tlogin  refused; ", i));
    content += expected.back() + "\r\n";
  }
  write_file("input.log", content);
  ProcessOptions options = log();
  options.stdin_file = file("input.log");
  const ProcessResult result = run(options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  const auto rows = stored_rows(file());
  EXPECT_EQ(messages(rows), expected);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].seq, static_cast<std::int64_t>(i + 1));
    ASSERT_EQ(rows[i].context, "stdin");
    ASSERT_EQ(rows[i].level, "INFO");
    ASSERT_EQ(rows[i].fields, "");
  }
}

TEST_F(Log, EndsWithTheAccountAsOneLineOfJson) {
  EXPECT_THAT(store("a\nb\nc\n").out,
              MatchesRegex("\\{\"issued\":3,\"stored\":3,\"skipped\":\\{\\},\"unreported\":0,"
                           "\"in_doubt\":0,\"dead_lettered\":0,\"spooled\":0,\"pauses\":0,"
                           "\"attempts\":[1-3],\"own\":0\\}\n"));
}

TEST_F(Log, StoresEveryLineOfAMillion) {
  constexpr int kLines = kHasSanitizer ? 100'000 : 1'000'000;
  std::string content;
  for (int i = 0; i < kLines; ++i) {
    content += numbered("2026-01-01 12:00:00 app[42]: request served in 12 ms, number", i) + '\n';
  }
  EXPECT_THAT(store(content).out, AllOf(HasSubstr("\"issued\":" + std::to_string(kLines)),
                                        HasSubstr("\"stored\":" + std::to_string(kLines))));
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs"), kLines);
  EXPECT_EQ(query_number(file(), "SELECT count(DISTINCT message) FROM logs"), kLines);
  EXPECT_EQ(query_number(file(), "SELECT max(seq) FROM logs"), kLines);
}

TEST_F(Log, StoresNothingForAnEmptyInput) {
  store("");
  EXPECT_THAT(stored_rows(file()), IsEmpty());
}

TEST_F(Log, StoresEmptyLinesAndALastLineWithoutEnd) {
  store("\n\r\nlast");
  EXPECT_THAT(messages(stored_rows(file())), ElementsAre("", "", "last"));
}

TEST_F(Log, StoresAHundredThousandEmptyLines) {
  store(std::string(100'000, '\n'));
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs WHERE message = ''"), 100'000);
}

TEST_F(Log, ReplacesWhatATextColumnCannotHold) {
  store(
      "a\0b\nc\xff\xfe"
      "d\n\xc3\xa4\n"sv);
  EXPECT_THAT(messages(stored_rows(file())), ElementsAre("a\xe2\x90\x80"
                                                         "b",
                                                         "c\xef\xbf\xbd\xef\xbf\xbd"
                                                         "d",
                                                         "\xc3\xa4"));
}

TEST_F(Log, CutsALineOfThreeMegabytesAndTellsItsLength) {
  store("before\n" + std::string(3'000'000, 'x') + "\nafter\n");
  const auto rows = stored_rows(file());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].message, "before");
  EXPECT_GT(rows[1].message.size(), 1'900'000U);
  EXPECT_LE(rows[1].message.size(), 2'000'000U);
  EXPECT_EQ(rows[1].message.find_first_not_of('x'), std::string::npos);
  EXPECT_THAT(rows[1].fields, HasSubstr("\"original_bytes\":3000000"));
  EXPECT_EQ(rows[2].message, "after");
}

TEST_F(Log, TakesTheLevelFromTheLineAndLeavesItsWordThere) {
  store("2026-01-01 12:00:00,123 ERROR root: x\nno level here\n[app] [warning] y\n");
  const auto rows = stored_rows(file());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].level, "ERROR");
  EXPECT_EQ(rows[0].message, "2026-01-01 12:00:00,123 ERROR root: x");
  EXPECT_EQ(rows[1].level, "INFO");
  EXPECT_EQ(rows[2].level, "WARN");
}

// As pino, zap and structlog write them, each with its defaults.
TEST_F(Log, MakesRecordsOfJsonLinesAndKeepsTheOthers) {
  store(R"({"level":40,"time":1787898912345,"pid":657,"hostname":"h1","msg":"slow",)"
        R"("ms":9007199254740993})"
        "\n"
        R"({"level":"error","ts":1787898912.3456789,"logger":"pay","caller":"pay/card.go:42",)"
        R"("msg":"refused","amount":9.90})"
        "\r\n"
        R"({"order": {"id": 42}, "event": "caf\u00e9", "level": "info", )"
        R"("timestamp": "2026-08-28T06:35:12.345678Z"})"
        "\n"
        R"({"msg":"no level","time":"yesterday"})"
        "\n"
        R"({"msg":"cut off)"
        "\nTraceback: ERROR x\n",
        {"--input", "json", "--level", "debug", "--context", "app"});
  const auto rows = stored_rows(file());
  EXPECT_THAT(messages(rows), ElementsAre("slow", "refused", "caf\xc3\xa9", "no level",
                                          R"({"msg":"cut off)", "Traceback: ERROR x"));
  const std::vector<std::string> levels = {"WARN", "ERROR", "INFO", "DEBUG", "DEBUG", "ERROR"};
  const std::vector<std::string> fields = {
      R"({"pid":657,"hostname":"h1","ms":9007199254740993})",
      R"({"logger":"pay","caller":"pay/card.go:42","amount":9.90})",
      R"({"order":{"id": 42}})",
      R"({"time":"yesterday"})",
      "",
      ""};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].level, levels.at(i));
    EXPECT_EQ(rows[i].fields, fields.at(i));
    EXPECT_EQ(rows[i].created_at == "2026-08-28T06:35:12.345Z", i < 3) << rows[i].created_at;
    EXPECT_EQ(rows[i].context, "app");
  }
  EXPECT_EQ(query_number(file(), "SELECT fields->>'ms' FROM logs WHERE message = 'slow'"),
            9007199254740993);
}

TEST_F(Log, CutsAJsonLineThatIsTooLongLikeAnyOther) {
  store(R"({"msg":")" + std::string(2'500'000, 'x') + "\"}\n", {"--input", "json"});
  const auto rows = stored_rows(file());
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].message, StartsWith(R"({"msg":"xxx)"));
  EXPECT_EQ(rows[0].fields, "{\"original_bytes\":2500010}");
}

TEST_F(Log, DoesAsItsOptionsSay) {
  store("ERROR x\n",
        {"--table", "my logs", "--context", "web", "--level", "debug", "--level-from", "none",
         "--input", "lines", "--write-pause", "1min", "--error-interval", "500ms"});
  const auto rows = stored_rows(file(), "my logs");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].context, "web");
  EXPECT_EQ(rows[0].level, "DEBUG");
}

TEST_F(Log, AppendsToWhatIsThere) {
  store("first\n");
  store("second\n");
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs"), 2);
  EXPECT_EQ(query_number(file(), "SELECT count(DISTINCT writer) FROM logs"), 2);
}

TEST_F(Log, CountsTheLinesThatATriggerIgnores) {
  store("");
  execute_sql(file(),
              "CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.message LIKE 'no%' "
              "BEGIN SELECT raise(IGNORE); END");
  const ProcessResult result = run(log(), "one\nno two\nthree\nno four\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json_number(result.out, "$.skipped"), 2) << result.out;
  EXPECT_EQ(json_number(result.out, "$.unreported"), 0) << result.out;
  EXPECT_THAT(result.err, HasSubstr("a trigger keeps rows out"));
  EXPECT_THAT(messages(stored_rows(file())),
              UnorderedElementsAre("one", "three", "Database refused rows, 2 skipped"));
}

TEST_F(Log, WaitsForAStdinInNonBlockingMode) {
  ProcessOptions options = log();
  options.is_stdin_non_blocking = true;
  Subprocess process(options);
  wait_for_file("x.db");
  ASSERT_TRUE(process.feed("one\n"));
  std::this_thread::sleep_for(milliseconds(300));
  ASSERT_TRUE(process.feed("two\n"));
  const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(messages(stored_rows(file())), ElementsAre("one", "two"));
}

// What cannot work is told at once.

TEST_F(Log, RefusesADatabaseUrlItDoesNotKnow) {
  expect_refusal(program({"log", "--db", "postgres://h/x"}), {"postgres", "sqlite:PATH"});
  expect_refusal(program({"log", "--db", "x.db"}), {"x.db", "sqlite:PATH"});
  expect_refusal(program({"log", "--db", ""}), {"--db", "sqlite:"});
  expect_refusal(program({"log"}), {"--db", "sqlite:"});
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Log, RefusesAMissingDirectory) {
  expect_refusal(program({"log", "--db", "sqlite:missing/x.db"}), {"missing"});
  expect_refusal(program({"log", "--db", "sqlite:mis\nsing/x.db"}), {"mis sing"});
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Log, RefusesADirectoryAsFile) {
  std::filesystem::create_directory(file("folder"));
  expect_refusal(program({"log", "--db", "sqlite:folder"}), {"folder", "directory"});
  EXPECT_THAT(files(), ElementsAre("folder"));
}

TEST_F(Log, RefusesAFileThatIsNoDatabaseAndLeavesItAsItIs) {
  const std::string text(5'000, 'x');
  write_file("x.db", text);
  expect_refusal(log(), {"x.db"});
  std::ifstream stream(file());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
  EXPECT_THAT(files(), ElementsAre("x.db"));
}

TEST_F(Log, RefusesATableOfAnotherShape) {
  execute_sql(file(), "CREATE TABLE logs(id INTEGER PRIMARY KEY, text TEXT)");
  expect_refusal(log(), {"logs"});
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(Log, RefusesWhatItMayNotWrite) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root, to run the program as another user";
  }
  chmod(file("").c_str(), 0755);
  ProcessOptions options = log();
  options.uid = kNobody;
  expect_refusal(options, {"x.db", "ermission"});  // The directory.
  EXPECT_THAT(files(), IsEmpty());
  store("a\n");
  chmod(file().c_str(), 0644);
  expect_refusal(options, {"x.db", "ermission"});  // The file, which it may read.
  chmod(file().c_str(), 0600);
  expect_refusal(options, {"x.db", "ermission"});
  EXPECT_THAT(stored_rows(file()), SizeIs(1));
}

TEST_F(Log, RefusesValuesItCannotUseAndCreatesNothing) {
  for (const std::string option : {"--write-pause", "--error-interval"}) {
    for (const std::string value : {"30", "0s", "-5s", "", "abc", "2h", "99999999999999999999s"}) {
      expect_refusal(log({option, value}), {option, "'" + value + "'", "for example"});
    }
  }
  expect_refusal(log({"--level", "loud"}), {"--level", "loud", "info"});
  expect_refusal(log({"--level-from", "json"}), {"--level-from", "json", "none"});
  expect_refusal(log({"--input", "xml"}), {"--input", "xml", "lines", "json"});
  expect_refusal(log({"--table", ""}), {"--table"});
  expect_refusal(log({"--table", std::string(65, 't')}), {"--table"});
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Log, RefusesACommandLineItDoesNotUnderstand) {
  expect_refusal(program({}), {"command", "--help"});
  expect_refusal(program({"frob"}), {"frob", "--help"});
  expect_refusal(log({"--frob"}), {"--frob", "--help"});
  expect_refusal(log({"input.log"}), {"input.log", "--help"});
  expect_refusal(log({"--table"}), {"--table", "--help"});
  expect_refusal(log({"--db", "sqlite:y.db"}), {"--db"});
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Log, ShowsHelpAndVersion) {
  const ProcessResult help = run(program({"log", "--help"}));
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.err, IsEmpty());
  for (const char* const word :
       {"--db", "--table", "--context", "--level", "--level-from", "--input", "--write-pause",
        "--error-interval", "Exit codes", "issued", "in_doubt", "attempts"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_EQ(run(program({"--help"})).exit_code, 0);
  const ProcessResult version = run(program({"--version"}));
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, MatchesRegex("spillway [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

// Files that are not what they should be.

TEST_F(Log, TellsAStdoutThatIsFullOrClosedAndStillStoresTheLines) {
  ProcessOptions options = log();
  options.stdout_file = "/dev/full";
  ProcessResult result = run(options, "one\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]*stdout[^\n]*\n"));
  options = log();
  options.closed_fds = {STDOUT_FILENO};
  result = run(options, "two\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]*stdout[^\n]*\n"));
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs"), 2);
}

TEST_F(Log, KeepsItsAccountOutOfTheDatabaseWhenAllStandardFilesAreClosed) {
  ProcessOptions options = log();
  options.closed_fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  EXPECT_EQ(run(options).exit_code, 1);
  EXPECT_EQ(query_number(file(), "SELECT count(*) FROM logs"), 0);
}

TEST_F(Log, TellsAStdinThatCannotBeRead) {
  ProcessOptions directory = log();
  directory.stdin_file = file("");
  ProcessOptions closed = log();
  closed.closed_fds = {STDIN_FILENO};
  for (const ProcessOptions& options : {directory, closed}) {
    const ProcessResult result = run(options, {}, kPatience);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, MatchesRegex("spillway: [^\n]*stdin[^\n]*\n"));
    EXPECT_THAT(result.out, StartsWith("{\"issued\":0,"));
  }
}

// Signals.

TEST_F(Log, StoresWhatIsInThePipeWhenItIsToldToStop) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string name = numbered("signal", number) + ".db";
    Subprocess process(program({"log", "--db", "sqlite:" + name}));
    std::string lines;
    for (int i = 0; i < 1'000; ++i) {
      lines += numbered("line", i) + "\n";
    }
    ASSERT_TRUE(process.feed("first\n"));
    wait_for_file(name);
    // Halted, it finds the lines and the signal together.
    process.send_signal(SIGSTOP);
    ASSERT_TRUE(process.feed(lines + "without end"));
    process.send_signal(number);
    process.send_signal(SIGCONT);
    const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kKeepOpen);
    ASSERT_EQ(result.exit_code, 0) << "signal " << result.signal << ' ' << result.err;
    EXPECT_THAT(result.out, StartsWith("{\"issued\":1002,\"stored\":1002,"));
    EXPECT_THAT(messages(stored_rows(file(name))), Contains("without end"));
  }
}

TEST_F(Log, EndsWhileItWaitsForInput) {
  Subprocess process(log());
  ASSERT_TRUE(process.feed("one\n"));
  wait_for_file("x.db");
  std::this_thread::sleep_for(milliseconds(500));
  process.send_signal(SIGTERM);
  const ProcessResult result = process.wait(kPatience, Subprocess::Stdin::kKeepOpen);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(messages(stored_rows(file())), ElementsAre("one"));
}

}  // namespace
}  // namespace spillway::testing
