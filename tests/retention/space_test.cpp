// SPDX-License-Identifier: MIT
//
// Goal: the write-ahead log is moved into the file as far as readers let it be, and it is told how
// much they pin; free pages are given back in short steps where it is worth it, and only there.
// Method: real files, small ones with a small limit; a Database in between counts the steps, makes
// them last by a clock that stands still, and fails as told.
#include <spillway/sqlite_database.h>
#include <spillway/testing/fake_clock.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retention/space.h"
#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using namespace std::chrono_literals;
using spillway::testing::FakeClock;
using spillway::testing::open_file;
using spillway::testing::RawSqlite;
using spillway::testing::SqliteFile;
using std::chrono::microseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

namespace fs = std::filesystem;

constexpr std::int64_t kPageBytes = 16 * 1024;

std::int64_t bytes_of(const std::string& file) {
  return fs::exists(file) ? static_cast<std::int64_t>(fs::file_size(file)) : 0;
}

class WalTest : public SqliteFile {
 protected:
  static constexpr std::int64_t kMax = 64 * kPageBytes;

  WalTest() {
    open_file(path);
    writer = std::make_unique<RawSqlite>(path);
    writer->exec("PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF; CREATE TABLE t(x)");
    wal = std::move(Wal::open(path, kMax)).value();
  }
  /// So many pages and a few more.
  void write(int pages) {
    ASSERT_EQ(writer->exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                           "WHERE i < " +
                           std::to_string(pages) + ") INSERT INTO t SELECT zeroblob(16000) FROM n"),
              SQLITE_OK);
  }
  std::int64_t in_use() { return wal->bytes_in_use().value(); }
  std::int64_t log_bytes() { return bytes_of(path + "-wal"); }

  std::unique_ptr<RawSqlite> writer;
  std::unique_ptr<Wal> wal;
};

TEST_F(WalTest, IsOnlyLookedAtWhileItIsShort) {
  write(10);
  const std::int64_t before = log_bytes();
  ASSERT_GE(before, 10 * kPageBytes);
  EXPECT_EQ(in_use(), before);
  EXPECT_EQ(log_bytes(), before);
  EXPECT_LT(bytes_of(path), 10 * kPageBytes);  // Nothing was moved into it.
}

TEST_F(WalTest, IsEmptiedWhereNobodyLooksIntoIt) {
  write(50);
  ASSERT_GE(log_bytes(), 50 * kPageBytes);
  EXPECT_EQ(in_use(), 0);
  EXPECT_EQ(log_bytes(), 0);
  EXPECT_GE(bytes_of(path), 50 * kPageBytes);
}

// Wherever the reader began, the log grows as long as it reads: at the log's end too, where all is
// moved into the file and still none of it can be written over.
TEST_F(WalTest, TellsWhatAReaderPins) {
  struct Case {
    const char* name;
    int before;
    int after;
  };
  for (const Case& each : {Case{"in front of the log", 0, 40}, Case{"in the middle", 20, 20},
                           Case{"at the end", 40, 0}}) {
    SCOPED_TRACE(each.name);
    ASSERT_EQ(writer->value("PRAGMA wal_checkpoint(TRUNCATE)"), "0");
    write(each.before);
    RawSqlite reader(path);
    ASSERT_EQ(reader.exec("BEGIN; SELECT count(*) FROM t"), SQLITE_OK);
    write(each.after);

    const std::int64_t pinned = in_use();
    EXPECT_GE(pinned, 40 * kPageBytes);
    EXPECT_LE(pinned, log_bytes());
    write(40);
    EXPECT_GE(in_use(), 80 * kPageBytes);
    EXPECT_GE(log_bytes(), 80 * kPageBytes);

    ASSERT_EQ(reader.exec("COMMIT"), SQLITE_OK);
    EXPECT_EQ(in_use(), 0);
    EXPECT_EQ(log_bytes(), 0);
  }
}

TEST_F(WalTest, DoesNotWaitForAWriter) {
  write(50);
  ASSERT_EQ(writer->exec("BEGIN IMMEDIATE; INSERT INTO t VALUES(1)"), SQLITE_OK);
  EXPECT_GE(in_use(), 50 * kPageBytes);
  EXPECT_GE(bytes_of(path), 50 * kPageBytes);  // What was committed is moved all the same.
  ASSERT_EQ(writer->exec("COMMIT"), SQLITE_OK);
  EXPECT_EQ(in_use(), 0);
}

TEST_F(WalTest, BelongsToTheFileThatALinkLeadsTo) {
  const std::string link = directory.path("link.db");
  fs::create_symlink(path, link);
  wal = std::move(Wal::open(link, kMax)).value();
  write(50);
  EXPECT_EQ(in_use(), 0);
  EXPECT_EQ(log_bytes(), 0);
}

TEST_F(WalTest, IsNotThereInOtherJournalModes) {
  const std::string other = directory.path("other.db");
  RawSqlite raw(other);
  ASSERT_EQ(raw.exec("CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(2000000))"), SQLITE_OK);
  wal = std::move(Wal::open(other, kMax)).value();
  EXPECT_EQ(in_use(), 0);
}

TEST_F(WalTest, CreatesNothing) {
  const std::string missing = directory.path("missing.db");
  EXPECT_EQ(Wal::open(missing).status().code(), StatusCode::kConfig);
  EXPECT_FALSE(fs::exists(missing));
}

/// Notes how many pages each step asks for, makes the step last, and fails at one as told.
class SteppedDatabase final : public Database {
 public:
  SteppedDatabase(Database& inner, FakeClock& clock) : inner_(inner), clock_(clock) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    constexpr std::string_view kStep = "PRAGMA incremental_vacuum(";
    for (const Statement& statement : statements) {
      if (!statement.sql.starts_with(kStep)) {
        continue;
      }
      if (const auto failure = failures.find(steps.size()); failure != failures.end()) {
        return failure->second;
      }
      steps.push_back(std::stoll(statement.sql.substr(kStep.size())));
      clock_.advance(a_page * steps.back());
    }
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

  std::vector<std::int64_t> steps;
  std::map<std::size_t, Status> failures;  // By the step's number.
  std::chrono::milliseconds a_page{0};

 private:
  Database& inner_;
  FakeClock& clock_;
};

class ReclaimTest : public SqliteFile {
 protected:
  /// A file of small pages, one for each row.
  void make(const std::string& auto_vacuum, int rows) {
    RawSqlite raw(path);
    ASSERT_EQ(raw.exec("PRAGMA page_size=1024; PRAGMA auto_vacuum=" + auto_vacuum +
                       "; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE t(id "
                       "INTEGER PRIMARY KEY, x); "
                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                       std::to_string(rows) + ") INSERT INTO t SELECT i, zeroblob(900) FROM n"),
              SQLITE_OK);
  }
  void open() {
    file = open_file(path, OpenMode::kExisting);
    database = std::make_unique<SteppedDatabase>(*file, clock);
  }
  void delete_rows(const std::string& which) {
    RawSqlite raw(path);
    ASSERT_EQ(raw.exec("DELETE FROM t WHERE id " + which), SQLITE_OK);
  }
  Result<Reclaimed> give_back(int steps_max = 1'000'000) {
    return reclaim(*database, clock, 50ms, {}, [&](microseconds took) {
      longest = std::max(longest, took);
      return --steps_max > 0;
    });
  }
  std::int64_t free_pages() {
    return std::get<std::int64_t>(spillway::testing::value_of(*file, "PRAGMA freelist_count"));
  }

  FakeClock clock;
  std::unique_ptr<SqliteDatabase> file;
  std::unique_ptr<SteppedDatabase> database;
  microseconds longest{0};
};

TEST_F(ReclaimTest, MakesTheFileSmallInBoundedSteps) {
  make("INCREMENTAL", 8'000);
  const std::int64_t peak = bytes_of(path);
  ASSERT_GE(peak, 8'000 * 1024);
  delete_rows("<= 7600");
  open();
  const Reclaimed reclaimed = give_back().value();
  EXPECT_TRUE(reclaimed.is_complete);
  EXPECT_THAT(reclaimed.note, IsEmpty());
  EXPECT_EQ(free_pages(), 0);
  ASSERT_FALSE(database->steps.empty());
  EXPECT_EQ(database->steps.front(), 64);
  EXPECT_THAT(database->steps, AllOf(Each(Le(400)), Contains(400)));
  file.reset();  // The last one to close moves the log into the file.
  EXPECT_LE(bytes_of(path), peak / 5);
  EXPECT_EQ(reclaimed.bytes, peak - bytes_of(path));
  EXPECT_EQ(RawSqlite(path).value("PRAGMA integrity_check"), "ok");
}

TEST_F(ReclaimTest, TakesStepsOfTheTargetTime) {
  make("INCREMENTAL", 3'000);
  delete_rows("<= 2900");
  open();
  database->a_page = 1ms;
  EXPECT_TRUE(give_back().value().is_complete);
  ASSERT_FALSE(database->steps.empty());
  EXPECT_EQ(longest, 64ms);  // The first step's, which cannot know.
  database->steps.erase(database->steps.begin());
  EXPECT_THAT(database->steps, AllOf(Contains(50), Each(Le(50))));
}

TEST_F(ReclaimTest, LeavesAFileAloneThatIsNotWorthIt) {
  struct Case {
    const char* name;
    const char* auto_vacuum;
    int rows;
    const char* goes;
  };
  for (const Case& each : {Case{"five rows", "INCREMENTAL", 2'000, "<= 5"},
                           Case{"less than a tenth", "INCREMENTAL", 15'000, "<= 1400"},
                           Case{"less than 1 MiB", "INCREMENTAL", 1'000, "<= 900"},
                           Case{"five rows of a file that keeps its pages", "NONE", 2'000, "<= 5"},
                           Case{"given back at each commit", "FULL", 3'000, "<= 2000"}}) {
    SCOPED_TRACE(each.name);
    fs::remove(path);
    make(each.auto_vacuum, each.rows);
    delete_rows(each.goes);
    open();
    const Reclaimed reclaimed = give_back().value();
    EXPECT_EQ(reclaimed.bytes, 0);
    EXPECT_TRUE(reclaimed.is_complete);
    EXPECT_THAT(reclaimed.note, IsEmpty());
    EXPECT_THAT(database->steps, IsEmpty());
    file.reset();
  }
}

TEST_F(ReclaimTest, SaysWhatAFileKeepsThatWasMadeOtherwise) {
  make("NONE", 3'000);
  delete_rows("<= 2000");
  open();
  const Reclaimed reclaimed = give_back().value();
  EXPECT_EQ(reclaimed.bytes, 0);
  EXPECT_THAT(reclaimed.note, AllOf(HasSubstr(std::to_string(free_pages() * 1024) + " bytes"),
                                    HasSubstr("later rows"), HasSubstr("VACUUM")));
  EXPECT_THAT(database->steps, IsEmpty());
}

TEST_F(ReclaimTest, EndsWhereItIsToldToAndTheNextRunGoesOn) {
  make("INCREMENTAL", 3'000);
  delete_rows("<= 2900");
  open();
  const std::int64_t free = free_pages();
  const Reclaimed first = give_back(1).value();
  EXPECT_FALSE(first.is_complete);
  EXPECT_THAT(database->steps, ElementsAre(64));
  EXPECT_GE(first.bytes, 64 * 1024);
  EXPECT_GE(free_pages(), free - 66);

  // No failures: the database has too much to do, or there is no time left.
  for (const StatusCode code :
       {StatusCode::kOverload, StatusCode::kTransient, StatusCode::kCancelled}) {
    database->failures = {{database->steps.size() + 1, Status(code, "not now")}};
    const Reclaimed next = give_back().value();
    EXPECT_FALSE(next.is_complete);
    EXPECT_GE(next.bytes, 64 * 1024);
  }
  database->failures = {{database->steps.size(), Status(StatusCode::kStorageFull, "disk full")}};
  EXPECT_EQ(give_back().status().code(), StatusCode::kStorageFull);

  database->failures.clear();
  EXPECT_TRUE(give_back().value().is_complete);
  EXPECT_EQ(free_pages(), 0);
}

}  // namespace
}  // namespace spillway::retention
