// SPDX-License-Identifier: MIT
//
// Goal: the database client that README.md shows does what a reader expects.
// Method: run it in an empty directory, twice.
#include <gtest/gtest.h>

#include "tests/examples/unusable_database.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {
namespace {

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
  expect_to_say_why(SPILLWAY_EXAMPLE, "shop.db");
}

}  // namespace
}  // namespace spillway::testing
