// SPDX-License-Identifier: MIT
//
// What SqliteDatabase::open makes of the file that a path names.
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/d1/raw_sqlite.h"
#include "tests/d1/sqlite_fixture.h"

#include <filesystem>
#include <fstream>

namespace spillway {
namespace {

using testing::count_of;
using ::testing::HasSubstr;
using testing::open_file;
using testing::RawSqlite;
using testing::run;
using testing::value_of;

class SqliteFileTest : public testing::SqliteFile {
 protected:
  static Status refusal_of(const std::string& file, OpenMode mode = OpenMode::kCreate) {
    const auto database = SqliteDatabase::open(file, mode);
    EXPECT_FALSE(database.has_value()) << file;
    return database.status();
  }

  static void write_file(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

TEST_F(SqliteFileTest, GivesANewFileItsPageSizeVacuumModeAndWal) {
  const auto database = open_file(path);
  ASSERT_TRUE(run(*database, {{"CREATE TABLE t(a)"}}).has_value());
  RawSqlite other(path);
  EXPECT_EQ(other.value("PRAGMA page_size"), "16384");
  EXPECT_EQ(other.value("PRAGMA auto_vacuum"), "2");  // INCREMENTAL
  EXPECT_EQ(other.value("PRAGMA journal_mode"), "wal");
}

TEST_F(SqliteFileTest, TakesAFileOfNoBytesForANewOne) {
  write_file(path, "");
  const auto database = open_file(path, OpenMode::kExisting);
  EXPECT_EQ(value_of(*database, "PRAGMA journal_mode"), Value("wal"));
  EXPECT_EQ(value_of(*database, "PRAGMA page_size"), Value(std::int64_t{16384}));
}

TEST_F(SqliteFileTest, FinishesAFileWhoseMakerDiedBeforeTheSwitchToWal) {
  RawSqlite(path).exec("PRAGMA page_size=16384; PRAGMA auto_vacuum=INCREMENTAL");
  ASSERT_EQ(RawSqlite(path).value("PRAGMA page_count"), "1");
  const auto database = open_file(path);
  EXPECT_EQ(value_of(*database, "PRAGMA journal_mode"), Value("wal"));
}

TEST_F(SqliteFileTest, KeepsWhatAnExistingFileHas) {
  RawSqlite(path).exec(
      "PRAGMA page_size=4096; PRAGMA journal_mode=DELETE; CREATE TABLE t(a);"
      "INSERT INTO t VALUES(7)");
  {
    const auto database = open_file(path);
    EXPECT_EQ(value_of(*database, "PRAGMA journal_mode"), Value("delete"));
    EXPECT_EQ(value_of(*database, "SELECT a FROM t"), Value(std::int64_t{7}));
  }
  EXPECT_EQ(RawSqlite(path).value("PRAGMA page_size"), "4096");
  EXPECT_EQ(RawSqlite(path).value("PRAGMA auto_vacuum"), "0");
}

TEST_F(SqliteFileTest, SyncsAsTheDurabilitySays) {
  const auto process = open_file(path);
  EXPECT_EQ(value_of(*process, "PRAGMA synchronous"), Value(std::int64_t{1}));
  const auto power = open_file(path, OpenMode::kCreate, {.durability = Durability::kPower});
  EXPECT_EQ(value_of(*power, "PRAGMA synchronous"), Value(std::int64_t{2}));
}

TEST_F(SqliteFileTest, TrustsNoSchemaAndMapsNoMemory) {
  const auto database = open_file(path);
  EXPECT_EQ(value_of(*database, "PRAGMA trusted_schema"), Value(std::int64_t{0}));
  EXPECT_EQ(value_of(*database, "PRAGMA mmap_size"), Value(std::int64_t{0}));
}

TEST_F(SqliteFileTest, EnforcesForeignKeysAsD1Does) {
  const auto database = open_file(path);
  EXPECT_EQ(value_of(*database, "PRAGMA foreign_keys"), Value(std::int64_t{1}));
}

TEST_F(SqliteFileTest, NeverInterpretsThePath) {
  const std::filesystem::path old_directory = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  for (const char* name : {":memory:", "file:x.db", "file:y.db?mode=memory", " "}) {
    EXPECT_TRUE(SqliteDatabase::open(name, OpenMode::kCreate).has_value()) << name;
    EXPECT_TRUE(std::filesystem::exists(directory.path(name))) << name;
  }
  std::filesystem::current_path(old_directory);
}

TEST_F(SqliteFileTest, RefusesNoPathAndOneWithNul) {
  EXPECT_EQ(refusal_of("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal_of(path + std::string("\0x", 2)).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(SqliteFileTest, CreatesNothingWhenTheFileHasToExist) {
  for (const OpenMode mode : {OpenMode::kExisting, OpenMode::kReadOnly}) {
    const Status status = refusal_of(path, mode);
    EXPECT_EQ(status.code(), StatusCode::kConfig);
    EXPECT_EQ(status.message(), "cannot open \"" + path + "\": no such file");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(SqliteFileTest, NamesTheDirectoryThatIsMissing) {
  const Status status = refusal_of(directory.path("no/x.db"));
  EXPECT_EQ(status.code(), StatusCode::kConfig);
  EXPECT_THAT(status.message(), HasSubstr("directory \"" + directory.path("no") +
                                          "\" does not exist; create it first"));
}

TEST_F(SqliteFileTest, RefusesADirectoryAPipeAndAPathThroughAFile) {
  EXPECT_THAT(refusal_of(directory.path().string()).message(), HasSubstr("is a directory"));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(path).message(), HasSubstr("is not a regular file"));
  const Status status = refusal_of(path + "/x.db");
  EXPECT_EQ(status.code(), StatusCode::kConfig);
  EXPECT_THAT(status.message(), HasSubstr("Not a directory"));
}

TEST_F(SqliteFileTest, OpensWhatASymbolicLinkLeadsTo) {
  const std::string link = directory.path("link.db");
  ASSERT_TRUE(run(*open_file(path), {{"CREATE TABLE t(a)"}}).has_value());
  std::filesystem::create_symlink(path, link);
  const auto database = open_file(link);
  ASSERT_TRUE(run(*database, {{"INSERT INTO t VALUES(1)"}}).has_value());
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(link + "-wal"));
  EXPECT_EQ(RawSqlite(path).value("SELECT count(*) FROM t"), "1");
}

TEST_F(SqliteFileTest, SaysThatASymbolicLinkLeadsNowhereAndCreatesNothing) {
  const std::string link = directory.path("link.db");
  std::filesystem::create_symlink(path, link);
  for (const OpenMode mode : {OpenMode::kCreate, OpenMode::kExisting, OpenMode::kReadOnly}) {
    const Status status = refusal_of(link, mode);
    EXPECT_EQ(status.code(), StatusCode::kConfig);
    EXPECT_EQ(status.message(), "cannot open \"" + link + "\": it is a symbolic link to \"" + path +
                                    "\", which does not exist");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SqliteFileTest, RefusesAFileOfSomethingElseAndLeavesItAlone) {
  for (const std::string& bytes : {std::string("x"), std::string("Dear diary,\n"),
                                   std::string(100'000, 'x'), std::string(512, '\0')}) {
    write_file(path, bytes);
    for (const OpenMode mode : {OpenMode::kCreate, OpenMode::kReadOnly}) {
      const Status status = refusal_of(path, mode);
      EXPECT_EQ(status.code(), StatusCode::kConfig) << bytes.size() << ' ' << status.to_string();
      EXPECT_EQ(status.message(), '"' + path + "\" is not an SQLite database");
    }
    EXPECT_EQ(std::filesystem::file_size(path), bytes.size());
  }
}

TEST_F(SqliteFileTest, SaysWhenTheFileWasRemovedSoThatNoRowIsWrittenIntoNothing) {
  auto database = open_file(path);
  ASSERT_TRUE(run(*database, {{"CREATE TABLE t(a)"}}).has_value());
  std::filesystem::remove(path);
  const Status status = run(*database, {{"INSERT INTO t VALUES(1)"}}).status();
  EXPECT_EQ(status.code(), StatusCode::kTransient);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.message(), "the database file was removed or replaced");

  // As the pipeline does: the old one is closed, the new one starts with an empty file.
  database = nullptr;
  database = open_file(path);
  EXPECT_TRUE(run(*database, {{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES(1)"}}).has_value());
  EXPECT_EQ(count_of(*database, "t"), 1);
  EXPECT_EQ(value_of(*database, "PRAGMA integrity_check"), Value("ok"));
}

TEST_F(SqliteFileTest, SaysWhenAnotherFileTookThePlace) {
  const std::string aside = directory.path("aside.db");
  const auto database = open_file(path);
  ASSERT_TRUE(run(*database, {{"CREATE TABLE t(a)"}}).has_value());
  std::filesystem::rename(path, aside);
  open_file(path);
  EXPECT_EQ(run(*database, {{"INSERT INTO t VALUES(1)"}}).status().code(), StatusCode::kTransient);
  std::filesystem::rename(aside, path);
  EXPECT_TRUE(run(*database, {{"INSERT INTO t VALUES(1)"}}).has_value());
}

// What a log rotation by hand does: the rows of the write-ahead log go along.
TEST_F(SqliteFileTest, LeavesWhatWasCommittedInAFileThatWasMoved) {
  const std::string aside = directory.path("aside.db");
  auto database = open_file(path);
  ASSERT_TRUE(run(*database, {{"CREATE TABLE t(a)"}, {"INSERT INTO t VALUES(1)"}}).has_value());
  std::filesystem::rename(path, aside);
  database = nullptr;
  open_file(path);  // Takes the name, and with it whatever log was left beside it.
  EXPECT_EQ(RawSqlite(aside).value("SELECT count(*) FROM t"), "1");
}

TEST_F(SqliteFileTest, OpensAFileWhileAnotherHoldsItsWriteLock) {
  open_file(path);
  RawSqlite other(path);
  ASSERT_EQ(other.exec("CREATE TABLE t(a); BEGIN IMMEDIATE"), SQLITE_OK);
  EXPECT_TRUE(SqliteDatabase::open(path, OpenMode::kCreate, {.busy_timeout = {}}).has_value());
}

TEST_F(SqliteFileTest, OpensANewFileThatAnotherIsStillWriting) {
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN IMMEDIATE; CREATE TABLE t(a)"), SQLITE_OK);
  const auto database = open_file(path, OpenMode::kCreate, {.busy_timeout = {}});
  EXPECT_EQ(run(*database, {{"CREATE TABLE u(a)"}}).status().code(), StatusCode::kOverload);
  ASSERT_EQ(other.exec("COMMIT"), SQLITE_OK);
  EXPECT_TRUE(run(*database, {{"CREATE TABLE u(a)"}, {"SELECT a FROM t"}}).has_value());
}

TEST_F(SqliteFileTest, CallsAFileThatCannotEvenBeReadBusyAndNotBroken) {
  RawSqlite(path).exec("PRAGMA journal_mode=DELETE; CREATE TABLE t(a)");
  RawSqlite other(path);
  ASSERT_EQ(other.exec("BEGIN EXCLUSIVE"), SQLITE_OK);
  const auto database = SqliteDatabase::open(path, OpenMode::kCreate, {.busy_timeout = {}});
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code(), StatusCode::kOverload);
  EXPECT_EQ(database.error().message(), "cannot open \"" + path + "\": database is locked");
}

}  // namespace
}  // namespace spillway
