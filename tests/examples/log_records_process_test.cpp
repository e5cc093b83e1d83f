// SPDX-License-Identifier: MIT
//
// Goal: the program that README.md shows does what a reader expects.
// Method: run it in an empty directory and read its table by SQLite's own library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/examples/unusable_database.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {
namespace {

using ::testing::IsEmpty;

TEST(LogRecords, StoresItsRecord) {
  const TempDir directory;
  const ProcessResult result =
      run({.argv = {SPILLWAY_EXAMPLE}, .working_directory = directory.path()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, IsEmpty());
  RawSqlite logs(directory.path("logs.db"));
  EXPECT_EQ(logs.value("SELECT json_group_array(json_array(level, context, message, fields)) "
                       "FROM logs"),
            R"([["INFO","checkout","order placed","{\"order\":42}"]])");
  EXPECT_EQ(logs.value("SELECT created_at LIKE '20__-__-__T__:__:__.___Z' FROM logs"), "1");
}

TEST(LogRecords, SaysWhyWhenTheDatabaseCannotBeUsed) {
  expect_to_say_why(SPILLWAY_EXAMPLE, "logs.db");
}

}  // namespace
}  // namespace spillway::testing
