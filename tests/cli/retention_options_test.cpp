// SPDX-License-Identifier: MIT
#include "cli/retention_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "retention/policy.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// 2026-08-28T06:35:12.345Z
constexpr WallTime kNow{std::chrono::milliseconds(1'787'898'912'345)};

using Words = std::vector<std::string>;

// As the program reads its command line.
Result<RetentionOptions> options_of(RetentionCommand which, Words words,
                                    const RetentionSettings& in_file = {}) {
  CLI::App app;
  RetentionSettings given;
  add_retention_options(app, which, given);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return Status(StatusCode::kPermanent, error.what());
  }
  return retention_options_of(which, given, in_file, kNow);
}

Result<RetentionOptions> run_options(Words words, const RetentionSettings& in_file = {}) {
  return options_of(RetentionCommand::kRun, std::move(words), in_file);
}

// Of a file's third line.
RetentionSetting in_file(const std::string& option, const std::string& text) {
  return {option, text, "r.toml:3: " + option.substr(2)};
}

TEST(RetentionOptions, TakeAllThatARunCanBeTold) {
  const auto options = run_options({"--db",          "sqlite:a.db", "--token-file",     "t",
                                    "--table",       "app",         "--time-column",    "at",
                                    "--keep",        "30d",         "--keep-level",     "info=4w",
                                    "--keep-level",  "DEBUG=2d",    "--max-rows",       "1000",
                                    "--archive",     "old",         "--chunk",          "500",
                                    "--max-runtime", "50min",       "--max-written",    "2000",
                                    "--now",         "2026-08-01",  "--allow-delete",   "9",
                                    "--json",        "--quiet",     "--target-latency", "20ms"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->database.url, "sqlite:a.db");
  EXPECT_EQ(options->database.options.token_file, "t");
  EXPECT_EQ(options->run.choice.table, "app");
  EXPECT_EQ(options->run.choice.time_column, "at");
  EXPECT_EQ(to_string(options->run.policy), "keep=30d DEBUG=2d INFO=28d max-rows=1000");
  EXPECT_EQ(options->run.archive, "old");
  EXPECT_EQ(options->run.chunk, 500);
  EXPECT_EQ(options->run.target_latency, std::chrono::milliseconds(20));
  EXPECT_EQ(options->run.max_runtime, std::chrono::minutes(50));
  EXPECT_EQ(options->run.max_written, 2'000);
  EXPECT_EQ(options->run.allow_delete, 9);
  EXPECT_EQ(options->run.now, WallTime(std::chrono::milliseconds(1'785'542'400'000)));
  EXPECT_TRUE(options->is_json && options->is_quiet && !options->is_exact);
  EXPECT_EQ(options->command, RetentionCommand::kRun);
}

TEST(RetentionOptions, LeaveWhatIsNotGivenToTheRun) {
  const auto options = run_options({"--max-rows", "5", "--chunk", "auto"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->run.choice.table, "logs");
  EXPECT_EQ(options->run.policy.keep, std::nullopt);
  EXPECT_EQ(options->run.chunk, std::nullopt);
  EXPECT_EQ(options->run.now, std::nullopt);
  EXPECT_FALSE(options->is_json || options->is_quiet);
}

TEST(RetentionOptions, RefuseWhatCannotBeUsedAndNameIt) {
  const struct {
    const char* option;
    const char* text;
    const char* why;
  } cases[] = {
      {"--keep", "30m", "'30m' could be minutes or months; for minutes write 30min"},
      {"--keep", "30", "'30' has no unit; for days write 30d"},
      {"--keep", "", "'' is no time to keep rows for"},
      {"--keep", "-5d", "'-5d' is no time to keep rows for"},
      {"--keep", "0d", "would keep nothing"},
      {"--keep", "99999999999999999999d", "is more than 100 years"},
      {"--keep-level", "DEBUG", "write for example DEBUG=2d"},
      {"--keep-level", "DEBUG=2", "for days write 2d"},
      {"--max-rows", "0", "'0' is no whole number of rows from 1 on"},
      {"--max-rows", "-1", "is no whole number of rows"},
      {"--max-rows", "1e6", "is no whole number of rows"},
      {"--max-rows", "9223372036854775808", "is no whole number of rows"},
      {"--max-written", "many", "is no whole number of rows"},
      {"--allow-delete", "all", "is no whole number of rows"},
      {"--allow-delete", "", "is no whole number of rows"},
      {"--chunk", "0", "is no number of rows from 1 to 100000; or write auto"},
      {"--chunk", "100001", "or write auto"},
      {"--chunk", "Auto", "or write auto"},
      {"--target-latency", "50", "is no time from 1ms to 10s"},
      {"--target-latency", "11s", "is no time from 1ms to 10s"},
      {"--max-runtime", "1m", "is no time from 1ms to 1000h with its unit"},
      {"--max-runtime", "1001h", "is no time from 1ms to 1000h"},
      {"--now", "tomorrow", "is no time; write 15min"},
      {"--now", "2026-02-30", "is in no calendar"},
      {"--now", "2026-08-28T06:35:12.346Z", "is later than now, where only plan can be"},
      {"--archive", "", "is empty"},
      {"--table", "", "is empty"},
      {"--time-column", "", "is empty"},
  };
  for (const auto& [option, text, why] : cases) {
    Words words{option, text};
    if (words.front() != "--keep") {
      words.insert(words.end(), {"--keep", "30d"});
    }
    const Status status = run_options(words).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << option << ' ' << text;
    EXPECT_THAT(status.message(), AllOf(StartsWith(option), HasSubstr(why))) << option;
  }
}

TEST(RetentionOptions, RefuseWhatDoesNotGoTogether) {
  const struct {
    RetentionCommand command;
    Words words;
    const char* why;
  } cases[] = {
      {RetentionCommand::kRun, {}, "nothing says how long rows are kept; give --keep"},
      {RetentionCommand::kPlan, {"--archive", "x"}, "nothing says how long rows are kept"},
      {RetentionCommand::kCheck, {}, "nothing says how long rows are kept"},
      {RetentionCommand::kRestore, {}, "FILE is missing"},
      {RetentionCommand::kRun, {"--keep=1d", "--exact"}, "--exact is for plan"},
      {RetentionCommand::kRun, {"--keep=1d", "--dry-run", "--quiet"}, "--quiet leaves nothing"},
      {RetentionCommand::kRun,
       {"--keep-level=DEBUG=1d", "--keep-level=Debug=2d"},
       "--keep-level: 'Debug=2d' names DEBUG a second time"},
  };
  for (const auto& [command, words, why] : cases) {
    EXPECT_THAT(options_of(command, words).status().message(), StartsWith(why));
  }
}

TEST(RetentionOptions, AreNotThereForCommandsWithoutAUseForThem) {
  const struct {
    RetentionCommand command;
    Words words;
  } cases[] = {{RetentionCommand::kPlan, {"--keep=1d", "--dry-run"}},
               {RetentionCommand::kPlan, {"--keep=1d", "--quiet"}},
               {RetentionCommand::kCheck, {"--keep=1d", "--archive=x"}},
               {RetentionCommand::kCheck, {"--keep=1d", "--now=1d"}},
               {RetentionCommand::kRestore, {"x.gz", "--keep=1d"}},
               {RetentionCommand::kRun, {"x.gz", "--keep=1d"}},
               {RetentionCommand::kRun, {"--keep=1d", "--keep=2d"}},
               {RetentionCommand::kRun, {"--keep-level", "A=1d", "B=2d"}}};
  for (const auto& [command, words] : cases) {
    EXPECT_EQ(options_of(command, words).status().code(), StatusCode::kPermanent) << words.back();
  }
}

TEST(RetentionOptions, MakeAPlanOfADryRun) {
  const auto options =
      run_options({"--keep=1d", "--dry-run", "--exact", "--now", "2030-01-01", "--archive=x"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->command, RetentionCommand::kPlan);
  EXPECT_TRUE(options->is_exact);
}

TEST(RetentionOptions, OfTheCommandLineCountMoreThanThoseOfTheFile) {
  const RetentionSettings file{in_file("--keep", "90d"), in_file("--keep-level", "debug=9d"),
                               in_file("--keep-level", "ERROR=forever"), in_file("--table", "app"),
                               in_file("--quiet", "")};
  const auto options = run_options({"--keep=30d", "--keep-level=DEBUG=2d"}, file);
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(to_string(options->run.policy), "keep=30d DEBUG=2d ERROR=forever");
  EXPECT_EQ(options->run.choice.table, "app");
  EXPECT_TRUE(options->is_quiet);
}

TEST(RetentionOptions, OfAFileAreForAllCommands) {
  const RetentionSettings file{in_file("--keep", "90d"), in_file("--archive", "old"),
                               in_file("--quiet", "")};
  EXPECT_TRUE(options_of(RetentionCommand::kPlan, {}, file));
  EXPECT_TRUE(options_of(RetentionCommand::kCheck, {}, file));
  const auto restore = options_of(RetentionCommand::kRestore, {"x.gz"}, file);
  ASSERT_TRUE(restore);
  EXPECT_EQ(restore->file, "x.gz");
  EXPECT_THAT(restore->run.choice.table, IsEmpty()) << "the archive names it";
}

TEST(RetentionOptions, OfAFileAreLookedAtEvenIfTheCommandLineCounts) {
  EXPECT_EQ(run_options({"--keep=30d"}, {in_file("--keep", "3m")}).status().message(),
            "r.toml:3: keep: '3m' could be minutes or months; for minutes write 3min, for a month "
            "30d");
  EXPECT_THAT(run_options({"--keep-level=A=1d"},
                          {in_file("--keep-level", "a=1d"), in_file("--keep-level", "A=2d")})
                  .status()
                  .message(),
              HasSubstr("names A a second time"));
}

}  // namespace
}  // namespace spillway
