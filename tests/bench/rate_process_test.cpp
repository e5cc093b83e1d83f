// SPDX-License-Identifier: MIT
//
// Goal: `spillway-bench rate` brings its rows into either kind of database both ways, tells both
// rates, and leaves nothing there. Method: run the program with few rows and read its JSON by
// SQLite; how fast it was is not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/support/scripted_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Environment = std::vector<std::pair<std::string, std::string>>;

ProcessResult rate(const std::string& db, const Environment& env = {}) {
  return run(
      {.argv = {SPILLWAY_BENCH, "--json", "rate", "--db", db, "--rows", "100", "--runs", "1"},
       .env = env});
}

void expect_rates(const ProcessResult& result) {
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  RawSqlite sqlite(":memory:");
  const auto value = [&](const std::string& path) {
    return sqlite.value("SELECT json_extract('" + result.out + "', '$." + path + "')");
  };
  EXPECT_EQ(value("runs"), "1");
  EXPECT_EQ(value("goal"), "10");
  for (const char* number : {"rows_per_second.spillway", "rows_per_second.plain", "quotient"}) {
    EXPECT_GT(std::stod(value(number)), 0.0) << number << ": " << result.out;
  }
}

TEST(SpillwayBenchRate, MeasuresBothWaysIntoAFile) {
  const TempDir directory;
  const std::string file = directory.path("rate.db");
  expect_rates(rate("sqlite:" + file));
  EXPECT_EQ(RawSqlite(file).value("SELECT count(*) FROM sqlite_schema"), "0");
}

TEST(SpillwayBenchRate, MeasuresBothWaysIntoD1) {
  ScriptedD1 d1;
  expect_rates(rate(d1.url(), {{"CLOUDFLARE_API_TOKEN", d1.options().token},
                               {"CLOUDFLARE_API_BASE_URL", d1.base_url()}}));
  EXPECT_EQ(d1.value("SELECT count(*) FROM sqlite_schema"), "0");
  // The plain way takes 200 requests for its 2,800 rows.
  const std::vector<D1Request> requests = d1.requests();
  const auto begins = [&](const std::string& text) {
    return std::count_if(requests.begin(), requests.end(), [&](const D1Request& request) {
      return !request.statements.empty() && request.statements[0].sql.starts_with(text);
    });
  };
  EXPECT_EQ(begins("INSERT INTO bench_plain"), 200);
  EXPECT_GE(begins("INSERT INTO \"bench_pipeline\"("), 1);
  EXPECT_LE(begins("INSERT INTO \"bench_pipeline\"("), 3);
}

TEST(SpillwayBenchRate, SaysWhyItCannotMeasure) {
  EXPECT_EQ(rate("mysql://x").exit_code, 2);
  const ScriptedD1 d1;
  const ProcessResult refused = rate(
      d1.url(), {{"CLOUDFLARE_API_TOKEN", "guess"}, {"CLOUDFLARE_API_BASE_URL", d1.base_url()}});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("auth"));
}

}  // namespace
}  // namespace spillway::testing
