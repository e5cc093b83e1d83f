// SPDX-License-Identifier: MIT
//
// Goal: any number of processes may start on one file at once, and none is turned away.
// Method: children that are let go together open a file that is not there (many rounds), or run
// transactions that read and then write; each says "ok" or what went wrong.
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>

#include "tests/d1/children.h"
#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

#include <chrono>

namespace spillway {
namespace {

using ::testing::Each;
using testing::RawSqlite;
using testing::run;
using testing::run_children;

constexpr int kProcesses = 8;

// Two cores that many processes share may be slow; that is not what is tested here.
const SqliteOptions kPatient{.busy_timeout = std::chrono::seconds(20)};

class SqliteManyProcesses : public testing::SqliteFile {};

std::string start_on(const std::string& path, int number) {
  auto database = SqliteDatabase::open(path, OpenMode::kCreate, kPatient);
  if (!database) {
    return "open: " + database.error().to_string();
  }
  const Status status = run(**database, {{"CREATE TABLE IF NOT EXISTS t(a)"},
                                         {"INSERT INTO t VALUES(?)", {{std::int64_t{number}}}}})
                            .status();
  return status.to_string();
}

TEST_F(SqliteManyProcesses, AllStartOnAFileThatIsNotThere) {
  constexpr int kRounds = 25;
  for (int round = 0; round < kRounds; ++round) {
    const std::string file = directory.path(std::to_string(round) + ".db");
    const auto answers =
        run_children(kProcesses, [&](int number) { return start_on(file, number); });
    ASSERT_THAT(answers, Each("ok"));
    RawSqlite raw(file);
    EXPECT_EQ(raw.value("SELECT count(DISTINCT a) FROM t"), std::to_string(kProcesses));
    EXPECT_EQ(raw.value("PRAGMA page_size"), "16384");
    EXPECT_EQ(raw.value("PRAGMA auto_vacuum"), "2");
    EXPECT_EQ(raw.value("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(raw.value("PRAGMA integrity_check"), "ok");
  }
}

std::string count_up(const std::string& path, int times) {
  auto database = SqliteDatabase::open(path, OpenMode::kExisting, kPatient);
  for (int i = 0; database && i < times; ++i) {
    const Status status =
        run(**database, {{"SELECT max(a) FROM t"}, {"INSERT INTO t SELECT max(a) + 1 FROM t"}})
            .status();
    if (!status.is_ok()) {
      return status.to_string();
    }
  }
  return database.status().to_string();
}

TEST_F(SqliteManyProcesses, TransactionsThatReadBeforeTheyWriteNeverMeetABusyFile) {
  constexpr int kTimes = 500;
  ASSERT_TRUE(run(*testing::open_file(path), {{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES(0)"}})
                  .has_value());
  EXPECT_THAT(run_children(2, [&](int) { return count_up(path, kTimes); }), Each("ok"));
  EXPECT_EQ(RawSqlite(path).value("SELECT max(a) FROM t"), std::to_string(2 * kTimes));
}

}  // namespace
}  // namespace spillway
