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

#include <fstream>

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
    set_mode(directory_.path().string(), 0755);
  }

  static void set_mode(const std::string& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }

  // Makes a database that nobody has open: only the file itself is left.
  void make_file(mode_t mode) {
    ASSERT_TRUE(run(*testing::open_file(path_), {{"CREATE TABLE t(a)"}}).has_value());
    set_mode(path_, mode);
  }

  // What a user without rights gets.
  std::string answer_of_nobody(OpenMode mode) {
    return testing::run_children(1,
                                 [&](int) -> std::string {
                                   if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
                                     return "cannot become nobody";
                                   }
                                   return SqliteDatabase::open(path_, mode).status().to_string();
                                 })
        .front();
  }
};

constexpr const char* kOwner =
    "Permission denied; it belongs to uid 0, this process runs as uid 65534";

TEST_F(SqlitePermission, NamesTheFileThatMayNotBeWritten) {
  make_file(0644);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot write \"" + path_ + "\": " + kOwner);
  set_mode(path_, 0600);
  EXPECT_EQ(answer_of_nobody(OpenMode::kReadOnly),
            "config: cannot read \"" + path_ + "\": " + kOwner);
}

TEST_F(SqlitePermission, NamesTheDirectoryInWhichNothingMayBeCreated) {
  EXPECT_THAT(
      answer_of_nobody(OpenMode::kCreate),
      AllOf(StartsWith("config: cannot create files beside"),
            HasSubstr("in directory \"" + directory_.path().string() + '"'), HasSubstr(kOwner)));
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);
}

TEST_F(SqlitePermission, AWritableFileIsNotEnoughInADirectoryThatIsNot) {
  make_file(0666);
  EXPECT_THAT(answer_of_nobody(OpenMode::kExisting), HasSubstr("in directory"));
}

TEST_F(SqlitePermission, NamesASideFileThatAnotherUserLeftBehind) {
  make_file(0666);
  set_mode(directory_.path().string(), 0777);
  std::ofstream(path_ + "-wal") << "";
  set_mode(path_ + "-wal", 0600);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot write \"" + path_ + "-wal\": " + kOwner);
}

TEST_F(SqlitePermission, OpensWhatItMayWrite) {
  make_file(0666);
  set_mode(directory_.path().string(), 0777);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate), "ok");
}

TEST_F(SqlitePermission, SaysSoWhenTheDirectoryMayNotBeEntered) {
  make_file(0666);
  set_mode(directory_.path().string(), 0700);
  EXPECT_EQ(answer_of_nobody(OpenMode::kCreate),
            "config: cannot open \"" + path_ + "\": Permission denied");
}

}  // namespace
}  // namespace spillway
