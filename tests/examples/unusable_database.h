// SPDX-License-Identifier: MIT
//
// What every example does whose database cannot be used.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <filesystem>
#include <string>

namespace spillway::testing {

/// `database`: the name of the file that the program opens where it runs.
inline void expect_to_say_why(const std::string& program, const std::string& database) {
  const TempDir directory;
  std::filesystem::create_directory(directory.path(database));
  const ProcessResult result = run({.argv = {program}, .working_directory = directory.path()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, ::testing::HasSubstr("is a directory"));
}

}  // namespace spillway::testing
