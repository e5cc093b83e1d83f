// SPDX-License-Identifier: MIT
//
// Goal: where exactly "most of a table" begins. What else the guards see, whole runs show.
#include "retention/guards.h"

#include <spillway/sqlite_database.h>

#include "base/time_text.h"
#include "table/log_schema.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace spillway::retention {
namespace {

using std::chrono::hours;

const WallTime kNow{hours(24) * 20'000};
WallTime guard_days_ago(int days) { return kNow - hours(24) * days; }

class ShareGuard : public ::testing::Test {
 protected:
  void SetUp() override {
    execute(create_statements("logs"));
    form = read_table_form(*database, {}, {}).value();
  }
  void execute(const std::vector<Statement>& statements) {
    const Status status = database->execute(statements, {}).status();
    ASSERT_TRUE(status.is_ok()) << status.to_string();
  }
  void make(int old, int young, const std::string& level_of_old = "'INFO'") {
    execute({{"DELETE FROM logs"}});
    for (const auto& [count, days] : {std::pair(old, 31), std::pair(young, 1)}) {
      execute({{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                std::to_string(count) + ") INSERT INTO logs SELECT '" +
                time_text(guard_days_ago(days)) + "', 1, i, " + level_of_old +
                ", 'app', 'text', NULL FROM n"}});
    }
  }
  bool is_refused(const Policy& policy, std::optional<std::int64_t> allow_delete = {}) {
    const std::optional<WallTime> newest = guard_days_ago(1);
    const auto refusal = share_guard(*database, form,
                                     {.policy = policy,
                                      .now = kNow,
                                      .allow_delete = allow_delete,
                                      .before = {},
                                      .newest = newest},
                                     {});
    EXPECT_TRUE(refusal) << refusal.status().to_string();
    return refusal && refusal->has_value();
  }

  testing::TempDir directory;
  std::unique_ptr<Database> database =
      SqliteDatabase::open(directory.path("log.db"), OpenMode::kCreate).value();
  TableForm form;
};

TEST_F(ShareGuard, MostIsMoreThanNineTenthsOfMoreThanAThousandRows) {
  const Policy keep{.keep = hours(24) * 30};
  struct Case {
    int old;
    int young;
    bool is_refused;
  };
  for (const Case& one :
       {Case{999, 1, false}, Case{1'000, 1, true}, Case{1'800, 200, false}, Case{1'801, 200, true},
        Case{1'800, 199, true}, Case{901, 108, false}, Case{20'000, 2'300, false}}) {
    make(one.old, one.young);
    EXPECT_EQ(is_refused(keep), one.is_refused) << one.old << " and " << one.young;
    // The same rows, by number.
    EXPECT_EQ(is_refused({.max_rows = one.young}), one.is_refused)
        << one.old << " and " << one.young;
    EXPECT_EQ(is_refused(keep, one.old - 1), one.is_refused);
    EXPECT_FALSE(is_refused(keep, one.old));
  }
}

TEST_F(ShareGuard, CountsByTheRuleOfEachLevel) {
  make(2'000, 1, "CASE WHEN i % 10 = 0 THEN 'AUDIT' ELSE 'info' END");
  Policy policy{.keep = hours(24) * 30, .levels = {{"AUDIT", Keep()}}};
  EXPECT_FALSE(is_refused(policy)) << "1,800 of 2,001";
  policy.levels = {{"AUDIT", hours(24) * 31}};
  EXPECT_FALSE(is_refused(policy)) << "exactly as old is not older";
  policy.levels = {{"AUDIT", hours(24) * 30}};
  EXPECT_TRUE(is_refused(policy));
  policy = {.levels = {{"INFO", hours(24) * 30}}, .max_rows = 100};
  EXPECT_TRUE(is_refused(policy)) << "by number";
  policy.max_rows = 300;
  EXPECT_FALSE(is_refused(policy));
}

}  // namespace
}  // namespace spillway::retention
