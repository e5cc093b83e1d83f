// SPDX-License-Identifier: MIT
//
// Goal: when the system gives the file no more room, the caller is told so, nothing of the call is
// left, and the same connection works as soon as there is room.
// Method: a child limits the size of its files (RLIMIT_FSIZE), and lifts the limit again.
#include <spillway/sqlite_database.h>

#include <sys/resource.h>

#include "tests/d1/children.h"
#include "tests/d1/sqlite_fixture.h"

#include <csignal>
#include <string>

namespace spillway {
namespace {

using testing::run;

class SqliteFull : public testing::SqliteFile {};

void limit_files_to(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

std::string fill_and_go_on(const std::string& path) {
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));  // Or the write kills instead of failing.
  const auto database = testing::open_file(path);
  std::string story = run(*database, {{"CREATE TABLE t(a)"}}).status().to_string();
  limit_files_to(200'000);
  const Status full =
      run(*database, {{"INSERT INTO t VALUES(1)"}, {"INSERT INTO t VALUES(zeroblob(1000000))"}})
          .status();
  story += '|' + std::string(to_string(full.code())) +
           (full.execution() == Execution::kNo ? " no" : " maybe");
  limit_files_to(RLIM_INFINITY);
  story += '|' + run(*database, {{"INSERT INTO t VALUES(1)"}}).status().to_string();
  return story + '|' + std::to_string(testing::count_of(*database, "t"));
}

TEST_F(SqliteFull, IsToldAndGoesOnWhenThereIsRoomAgain) {
  const auto answers = testing::run_children(1, [&](int) { return fill_and_go_on(path); });
  EXPECT_EQ(answers.front(), "ok|storage_full no|ok|1");
}

}  // namespace
}  // namespace spillway
