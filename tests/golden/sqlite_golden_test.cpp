// SPDX-License-Identifier: MIT
//
// Goal: whoever develops on SQLite meets on D1 the same results, changes and error texts.
// Method: SqliteDatabase runs the cases that D1's real engine has answered, in the same order. What
// differs has to be known, with its kind; what no longer differs has to be taken off the list.
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_case.h"
#include "tests/golden/known_differences.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

namespace spillway::golden {
namespace {

using ::testing::HasSubstr;

class SqliteGolden : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteDatabase::open(folder.path("golden.db"), OpenMode::kCreate);
    ASSERT_TRUE(opened) << opened.error().message();
    database = std::move(*opened);
  }

  testing::TempDir folder;
  std::unique_ptr<SqliteDatabase> database;
};

std::set<std::string_view> cases_expected_to_differ() {
  std::set<std::string_view> names;
  for (const Difference& difference : known_differences()) {
    if (difference.gone_with == 0 || sqlite3_libversion_number() < difference.gone_with) {
      EXPECT_TRUE(names.insert(difference.case_name).second) << difference.case_name << " twice";
    }
  }
  return names;
}

std::string shortened(const nlohmann::json& value) {
  constexpr std::size_t kMax = 600;
  return value.dump().substr(0, kMax);
}

TEST_F(SqliteGolden, AnswersAsD1DoesButForTheKnownDifferences) {
  std::set<std::string_view> known = cases_expected_to_differ();
  const std::vector<GoldenCase> cases = golden_cases();
  for (const GoldenCase& golden : cases) {
    const nlohmann::json answer = as_d1(database->execute(golden.statements, {}));
    const bool is_known = known.erase(golden.name) == 1;
    EXPECT_EQ(answer != golden.answer, is_known)
        << golden.name << (is_known ? ": no longer differs; take it off the list" : "")
        << "\nSQLite: " << shortened(answer) << "\nD1:     " << shortened(golden.answer);
  }
  EXPECT_THAT(known, ::testing::IsEmpty()) << "known differences without a case";
}

TEST(GoldenCases, AreManyAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const GoldenCase& golden : golden_cases()) {
    EXPECT_TRUE(names.insert(golden.name).second) << golden.name << " twice";
  }
  EXPECT_GE(names.size(), 200U);
}

TEST(KnownDifferences, AreExplainedAmongTheFacts) {
  std::ifstream file(SPILLWAY_SOURCE_DIR "/docs/facts.md");
  const std::string facts{std::istreambuf_iterator<char>(file), {}};
  for (const Difference& difference : known_differences()) {
    EXPECT_THAT(facts, HasSubstr("\n| " + std::string(difference.kind) + " |"))
        << difference.case_name;
  }
}

}  // namespace
}  // namespace spillway::golden
