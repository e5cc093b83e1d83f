// SPDX-License-Identifier: MIT
#include "cli/retention_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// "place| option text"
std::vector<std::string> shown(const RetentionSettings& settings) {
  std::vector<std::string> lines;
  for (const RetentionSetting& setting : settings) {
    lines.push_back(setting.place + "| " + setting.option + ' ' + setting.text);
  }
  return lines;
}

class RetentionConfigFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  testing::TempDir dir;
  std::string path = dir.path("r.toml");
};

TEST(RetentionConfig, ReadsEveryOptionThatAFileMayHold) {
  const auto settings = parse_retention_config(R"(
db = "sqlite:a.db"
token_file = "t"
table = "app"
time_column = "at"
keep = "30d"
max_rows = 50_000_000
archive = "old"
chunk = "auto"
target_latency = "20ms"
max_runtime = "50min"
max_written = 9
allow_delete = 8
json = true
quiet = false

[keep_level]
DEBUG = "2d"
"my.level" = "forever"
)",
                                               "r.toml");
  ASSERT_TRUE(settings) << settings.error().message();
  EXPECT_THAT(
      shown(*settings),
      UnorderedElementsAre(
          "r.toml:2: db| --db sqlite:a.db", "r.toml:3: token_file| --token-file t",
          "r.toml:4: table| --table app", "r.toml:5: time_column| --time-column at",
          "r.toml:6: keep| --keep 30d", "r.toml:7: max_rows| --max-rows 50000000",
          "r.toml:8: archive| --archive old", "r.toml:9: chunk| --chunk auto",
          "r.toml:10: target_latency| --target-latency 20ms",
          "r.toml:11: max_runtime| --max-runtime 50min", "r.toml:12: max_written| --max-written 9",
          "r.toml:13: allow_delete| --allow-delete 8", "r.toml:14: json| --json ",
          "r.toml:18: keep_level.DEBUG| --keep-level DEBUG=2d",
          "r.toml:19: keep_level.my.level| --keep-level my.level=forever"));
  EXPECT_THAT(shown(*parse_retention_config("chunk = 500\n", "r.toml")),
              UnorderedElementsAre("r.toml:1: chunk| --chunk 500"));
  EXPECT_THAT(shown(*parse_retention_config("", "r.toml")), IsEmpty());
}

TEST(RetentionConfig, RefusesWhatItDoesNotKnowAndSaysWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"keep = \"1d\"\nkeeps = \"1d\"\n", "r.toml:2: 'keeps' is no key; they are the options"},
      {"\n\nkeep-level.DEBUG = \"2d\"\n", "r.toml:3: 'keep-level' is no key; write keep_level"},
      {"--keep = \"1d\"\n", "r.toml:1: '--keep' is no key"},
      {"FILE = \"x\"\n", "r.toml:1: 'FILE' is no key"},
      {"\"\" = \"x\"\n", "r.toml:1: '' is no key"},
      {"[retention]\nkeep = \"1d\"\n", "r.toml:1: 'retention' is no key"},
      {"now = \"1d\"\n", "r.toml:1: now is for one run and stands in no file"},
      {"dry_run = true\n", "r.toml:1: dry_run is for one run"},
      {"exact = true\n", "r.toml:1: exact is for one run"},
      {"config = \"x\"\n", "r.toml:1: config is for one run"},
      {"keep = 30\n", "r.toml:1: keep is not a text in quotes"},
      {"keep = [\"30d\"]\n", "r.toml:1: keep is not a text in quotes"},
      {"keep = 2026-08-28\n", "r.toml:1: keep is not a text in quotes"},
      {"max_rows = \"5\"\n", "r.toml:1: max_rows is not a whole number, without quotes"},
      {"max_rows = 1.5\n", "r.toml:1: max_rows is not a whole number"},
      {"chunk = true\n", "r.toml:1: chunk is not a whole number, or a text in quotes"},
      {"json = 1\n", "r.toml:1: json is not true or false"},
      {"json = \"true\"\n", "r.toml:1: json is not true or false"},
      {"keep_level = \"DEBUG=2d\"\n", "r.toml:1: keep_level is not a table: [keep_level]"},
      {"keep_level.DEBUG = 2\n", "r.toml:1: keep_level.DEBUG is not a text in quotes"},
      {"keep = \"1d\"\nkeep = \"2d\"\n", "r.toml:2: is no TOML: "},
      {"keep = 30d\n", "r.toml:1: is no TOML: "},
      {"keep = \"30d\n", "r.toml:1: is no TOML: "},
      {"keep = \"\xff\"\n", "r.toml:1: is no TOML: "},
  };
  for (const auto& [text, why] : cases) {
    const Status status = parse_retention_config(text, "r.toml").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), StartsWith(why)) << text;
  }
}

TEST_F(RetentionConfigFile, IsReadIfOnlyItsOwnerCanWriteToIt) {
  const auto settings = read_retention_config(write("keep = \"30d\"\n", 0644));
  ASSERT_TRUE(settings) << settings.error().message();
  EXPECT_THAT(shown(*settings), UnorderedElementsAre(path + ":1: keep| --keep 30d"));
}

TEST_F(RetentionConfigFile, IsRefusedIfOthersCanWriteToIt) {
  for (const mode_t mode : {0664U, 0646U, 0622U}) {
    EXPECT_THAT(read_retention_config(write("keep = \"30d\"\n", mode)).status().message(),
                AllOf(StartsWith("--config " + path), HasSubstr("chmod go-w " + path)));
  }
}

TEST_F(RetentionConfigFile, IsRefusedIfItIsNoneOrTooLarge) {
  EXPECT_THAT(read_retention_config(path).status().message(),
              HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(read_retention_config(dir.path().string()).status().message(),
              HasSubstr("is no file"));
  write(std::string(300'000, '#'), 0600);
  EXPECT_THAT(read_retention_config(path).status().message(), HasSubstr("more than 256 KiB"));
  ASSERT_EQ(remove(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(read_retention_config(path).status().message(), HasSubstr("is no file"));
}

}  // namespace
}  // namespace spillway
