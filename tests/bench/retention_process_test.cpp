// SPDX-License-Identifier: MIT
//
// Goal: `spillway-bench retention` deletes half of a table both ways, tells what it took and what
// it did to the writer, and leaves no file. Method: run the program with few rows and read its JSON
// by SQLite; how fast it was is not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <filesystem>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProcessResult retention(const TempDir& directory, std::vector<std::string> options) {
  options.insert(options.begin(), {SPILLWAY_BENCH, "--directory", directory.path()});
  return run({.argv = options});
}

TEST(SpillwayBenchRetention, DeletesHalfOfTheTableBothWays) {
  const TempDir directory;
  const ProcessResult result = retention(directory, {"--json", "retention", "--rows", "20001"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  RawSqlite sqlite(":memory:");
  const auto value = [&](const std::string& path) {
    return sqlite.value("SELECT json_extract('" + result.out + "', '$." + path + "')");
  };
  EXPECT_EQ(value("rows"), "20001");
  EXPECT_EQ(value("expired"), "10001");
  EXPECT_EQ(value("goals"), R"({"times":4,"wait_part":0.05,"wait_ms":50,"wal_mib":64})");
  for (const std::string way : {"single", "run"}) {
    EXPECT_EQ(value(way + ".deleted"), "10001") << result.out;
    for (const char* number : {".seconds", ".longest_wait_ms", ".rows_written_beside",
                               ".wal_bytes_max", ".file_bytes"}) {
      EXPECT_GT(std::stod(value(way + number)), 0.0) << way << number << ": " << result.out;
    }
  }
  for (const char* number : {"times", "wait_part", "chunks", "reclaim_seconds"}) {
    EXPECT_GT(std::stod(value(number)), 0.0) << number << ": " << result.out;
  }
  // Half of the rows are gone, and only a run makes the file smaller.
  const double before = std::stod(value("file_bytes"));
  EXPECT_GT(before / 20'001, 200.0);
  EXPECT_LT(before / 20'001, 300.0);
  EXPECT_GE(std::stod(value("single.file_bytes")), before);
  EXPECT_LT(std::stod(value("run.file_bytes")), 0.6 * before);
}

TEST(SpillwayBenchRetention, PrintsATable) {
  const TempDir directory;
  const ProcessResult result = retention(directory, {"retention", "--rows", "1000"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("longest wait of the writer"));
  EXPECT_THAT(result.out, HasSubstr("1000 rows, 500 of them expired"));
}

TEST(SpillwayBenchRetention, RefusesATableTooSmallToMeasure) {
  const TempDir directory;
  const ProcessResult result = retention(directory, {"retention", "--rows", "999"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--rows"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace spillway::testing
