// SPDX-License-Identifier: MIT
//
// Goal: the bench says of each candidate what it took and what became of its records.
// Method: run the program for a moment and read its JSON by SQLite. What it measures in so short a
// time on a machine with other work is worth nothing, and is not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/subprocess.h"

#include <string>
#include <vector>

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProcessResult bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {SPILLWAY_BENCH, "--runs", "2", "--rounds", "5"});
  return run({.argv = arguments});
}

TEST(SpillwayBench, PrintsOneJsonObject) {
  const ProcessResult result = bench({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  RawSqlite sqlite(":memory:");
  const auto value = [&](const std::string& path) {
    return sqlite.value("SELECT json_extract('" + result.out + "', '$." + path + "')");
  };
  EXPECT_EQ(value("runs"), "2");
  // 2 runs of 25 bursts to warm up and 5 that count, of 20 calls each.
  EXPECT_EQ(value("candidates[0].records.logged"), "1200");
  EXPECT_EQ(value("candidates[1].records"), R"({"logged":1200,"stored":1200,"skipped":0})");
  EXPECT_EQ(value("candidates[3].records.logged"), "1200");
  for (const char* candidate : {"0", "1", "2", "3"}) {
    EXPECT_GT(std::stod(value(std::string("candidates[") + candidate + "].p50_ns")), 0.0);
  }
  EXPECT_EQ(value("quotients[0].name"), "sink / async");
  EXPECT_EQ(value("quotients[1].name"), "locked / healthy");
}

TEST(SpillwayBench, AccountsForTheRecordsOfALockedDatabase) {
  const ProcessResult result = bench({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // One record of each run came before the lock.
  EXPECT_EQ(RawSqlite(":memory:")
                .value("SELECT r->>'logged' || ' ' || (r->>'stored' + (r->>'skipped')) "
                       "FROM (SELECT json_extract('" +
                       result.out + "', '$.candidates[2].records') AS r)"),
            "1202 1202");
}

TEST(SpillwayBench, PrintsATable) {
  const ProcessResult result = bench({});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("spdlog async, null sink"));
  EXPECT_THAT(result.out, HasSubstr("sink / async"));
}

}  // namespace
}  // namespace spillway::testing
