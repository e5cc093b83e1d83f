// SPDX-License-Identifier: MIT
//
// Goal: processes that start together on a database without the table all find it made, once.
// Method: children that are let go together prepare the table on a new file and insert a row each.
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>

#include "table/log_table.h"
#include "tests/d1/children.h"
#include "tests/d1/sqlite_fixture.h"

namespace spillway {
namespace {

using ::testing::Each;

constexpr int kProcesses = 8;
constexpr int kRounds = 10;

std::string prepare_and_insert(const std::string& path, int number) {
  const SqliteOptions patient{.busy_timeout = std::chrono::seconds(20)};
  auto database = SqliteDatabase::open(path, OpenMode::kCreate, patient);
  if (!database) {
    return database.error().to_string();
  }
  const LogTable table = std::move(LogTable::named("logs")).value();
  if (Status status = table.prepare(**database, {}); !status.is_ok()) {
    return "prepare: " + status.to_string();
  }
  const Record record{
      .time = {}, .seq = 1, .level = Level::kInfo, .context = "c", .message = "m", .fields = {}};
  return table.insert(**database, number, std::span(&record, 1), {}).status().to_string();
}

class LogTableProcesses : public testing::SqliteFile {};

TEST_F(LogTableProcesses, PrepareTheTableTogether) {
  for (int round = 0; round < kRounds; ++round) {
    const std::string file = directory.path(std::to_string(round) + ".db");
    EXPECT_THAT(testing::run_children(kProcesses,
                                      [&](int number) { return prepare_and_insert(file, number); }),
                Each("ok"));
    const auto database = testing::open_file(file);
    EXPECT_EQ(testing::count_of(*database, "logs"), kProcesses);
    EXPECT_EQ(testing::count_of(*database, "logs_meta"), 1);
  }
}

}  // namespace
}  // namespace spillway
