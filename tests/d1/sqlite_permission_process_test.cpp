// SPDX-License-Identifier: MIT
//
// Goal: who may not use a file is told which file, why, and whose it is.
// Method: a child gives up root's rights and opens files that root has prepared.
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/d1/children.h"
#include "tests/d1/sqlite_fixture.h"

#include <filesystem>
#include <fstream>
#include <functional>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::run;
using ::testing::StartsWith;

constexpr uid_t kNobody = 65534;

class SqlitePermission : public testing::SqliteFile {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can become another user";
    }
    set_mode(directory.path().string(), 0755);
  }

  static void set_mode(const std::string& file, mode_t mode) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
  }

  // Makes a database that nobody has open: only the file itself is left.
  void make_file(mode_t mode) {
    ASSERT_TRUE(run(*testing::open_file(path), {{"CREATE TABLE t(a)"}}).has_value());
    set_mode(path, mode);
  }

  // What a user without rights gets from `use`.
  static std::string as_nobody(const std::function<Status()>& use) {
    return testing::run_children(1,
                                 [&](int) -> std::string {
                                   if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
                                     return "cannot become nobody";
                                   }
                                   return use().to_string();
                                 })
        .front();
  }
  std::string answer_of_nobody(OpenMode mode) {
    return as_nobody([&] { return SqliteDatabase::open(path, mode).status(); });
  }

  // A link to the file, in a directory that only root may write.
  std::string link_in_a_closed_directory() {
    const std::string closed = directory.path("closed");
    std::filesystem::create_directory(closed);
    std::filesystem::create_symlink(path, closed + "/link.db");
    set_mode(closed, 0755);
    return closed + "/link.db";
  }
};

constexpr const char* kOwner =
    "Permission denied; it belongs to uid 0, this process runs as uid 65534";

TEST_F(SqlitePermission, NamesTheFileThatMayNotBeWritten) {
  make_file(0644);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot write \"" + path + "\": " + kOwner);
  set_mode(path, 0600);
  EXPECT_EQ(answer_of_nobody(OpenMode::kReadOnly),
            "config: cannot read \"" + path + "\": " + kOwner);
}

TEST_F(SqlitePermission, NamesTheDirectoryInWhichNothingMayBeCreated) {
  EXPECT_THAT(
      answer_of_nobody(OpenMode::kCreate),
      AllOf(StartsWith("config: cannot create files beside"),
            HasSubstr("in directory \"" + directory.path().string() + '"'), HasSubstr(kOwner)));
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(SqlitePermission, AWritableFileIsNotEnoughInADirectoryThatIsNot) {
  make_file(0666);
  EXPECT_THAT(answer_of_nobody(OpenMode::kExisting), HasSubstr("in directory"));
}

TEST_F(SqlitePermission, NamesASideFileThatAnotherUserLeftBehind) {
  make_file(0666);
  set_mode(directory.path().string(), 0777);
  std::ofstream(path + "-wal") << "";
  set_mode(path + "-wal", 0600);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot write \"" + path + "-wal\": " + kOwner);
}

TEST_F(SqlitePermission, SaysWhatAReaderOfAFileInWalModeNeeds) {
  make_file(0644);
  EXPECT_THAT(answer_of_nobody(OpenMode::kReadOnly),
              AllOf(StartsWith("config: cannot read \"" + path + "\": it is in WAL mode"),
                    HasSubstr("read as the user who writes it")));
}

TEST_F(SqlitePermission, OpensWhatItMayWrite) {
  make_file(0666);
  set_mode(directory.path().string(), 0777);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate), "ok");
}

TEST_F(SqlitePermission, WritesThroughALinkWhoseOwnDirectoryIsClosed) {
  make_file(0666);
  set_mode(directory.path().string(), 0777);
  const std::string link = link_in_a_closed_directory();
  EXPECT_EQ(as_nobody([&] {
              auto database = SqliteDatabase::open(link, OpenMode::kExisting);
              return database ? run(**database, {{"INSERT INTO t VALUES(1)"}}).status()
                              : database.error();
            }),
            "ok");
  EXPECT_EQ(testing::count_of(*testing::open_file(path), "t"), 1);
}

TEST_F(SqlitePermission, LooksBesideTheFileAndNotBesideTheLink) {
  make_file(0666);
  const std::string link = link_in_a_closed_directory();
  set_mode(directory.path("closed"), 0777);
  const auto answer = [&] {
    return as_nobody([&] { return SqliteDatabase::open(link, OpenMode::kExisting).status(); });
  };
  EXPECT_EQ(answer(), "config: cannot create files beside \"" + link + "\" in directory \"" +
                          directory.path().string() + "\": " + kOwner);
  std::ofstream(path + "-journal") << "";
  set_mode(path + "-journal", 0600);
  EXPECT_EQ(answer(), "config: cannot write \"" + path + "-journal\": " + kOwner);
}

TEST_F(SqlitePermission, SaysSoWhenTheDirectoryMayNotBeEntered) {
  make_file(0666);
  set_mode(directory.path().string(), 0700);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot open \"" + path + "\": Permission denied");
}

}  // namespace
}  // namespace spillway
