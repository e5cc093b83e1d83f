// SPDX-License-Identifier: MIT
//
// Goal: the database client that README.md shows does what a reader expects.
// Method: run it in an empty directory, twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <filesystem>

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

TEST(DatabaseClient, KeepsWhatItHasStored) {
  const TempDir directory;
  const ProcessOptions program{.argv = {SPILLWAY_EXAMPLE}, .working_directory = directory.path()};
  EXPECT_EQ(run(program).out, "chair of 2\n");
  const ProcessResult again = run(program);
  EXPECT_EQ(again.out, "chair of 4\nchair of 4\n");
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(again.exit_code, 0);
}

TEST(DatabaseClient, SaysWhyWhenTheDatabaseCannotBeUsed) {
  const TempDir directory;
  std::filesystem::create_directory(directory.path("shop.db"));
  const ProcessResult result =
      run({.argv = {SPILLWAY_EXAMPLE}, .working_directory = directory.path()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is a directory"));
}

}  // namespace
}  // namespace spillway::testing
