// SPDX-License-Identifier: MIT
//
// Goal: answers.jsonl is what D1's real engine answers.
// Method: record the answers anew and compare.
#include <gtest/gtest.h>

#include "tests/golden/golden_case.h"
#include "tests/support/real_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spillway::golden {
namespace {

using testing::RealD1;

TEST(RealAnswers, AreTheRecordedOnes) {
  if (!RealD1::is_available()) {
    GTEST_SKIP() << RealD1::absence();
  }
  const testing::TempDir folder;
  const testing::ProcessResult recording = testing::run(
      {.argv = {RealD1::node(), kFolder + "record.mjs", folder.path("answers.jsonl")}});
  ASSERT_EQ(recording.exit_code, 0) << recording.err;
  const std::vector<std::string> now = lines_of(folder.path("answers.jsonl"));
  const std::vector<std::string> recorded = lines_of(kFolder + "answers.jsonl");
  ASSERT_EQ(now.size(), recorded.size()) << "node tests/golden/record.mjs records them anew";
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(now[i], recorded[i]);
  }
}

}  // namespace
}  // namespace spillway::golden
