// SPDX-License-Identifier: MIT
//
// Goal: the program that docs/retries.md speaks of retries as a reader expects.
// Method: run it in an empty directory, twice, and with a database that cannot be used.
#include <gtest/gtest.h>

#include "tests/examples/unusable_database.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {
namespace {

constexpr const char* kOutput =
    "fetch user failed: restarting; attempt 1 of 5, again in 150 ms\n"
    "fetch user failed: restarting; attempt 2 of 5, again in 500 ms\n"
    "ada has 1 visit\n";

TEST(RetryExample, RidesOutARestartAndStoresItsVisitOnce) {
  const TempDir directory;
  const ProcessOptions program{.argv = {SPILLWAY_EXAMPLE}, .working_directory = directory.path()};
  for (int i = 0; i < 2; ++i) {
    const ProcessResult result = run(program);
    EXPECT_EQ(result.out, kOutput);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.exit_code, 0);
  }
}

TEST(RetryExample, SaysWhyWhenTheDatabaseCannotBeUsed) {
  expect_to_say_why(SPILLWAY_EXAMPLE, "visits.db");
}

}  // namespace
}  // namespace spillway::testing
