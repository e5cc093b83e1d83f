// SPDX-License-Identifier: MIT
//
// Goal: a run of `spillway-retention` that is told to stop, killed or halted at any moment leaves a
// sound file, lets no other run in beside it, and is gone on with by the next one.
// Method: signals to the built program, at moments that the file itself tells: how many rows are
// left, and whether somebody holds its write lock.
#include <sqlite3.h>

#include "tests/cli/retention_fixture.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// It says 1 s and 2 s; a machine may be slow. Nothing else here takes so long.
constexpr seconds kAtOnce{20};

bool await(const std::function<bool()>& is_so) {
  const auto end = steady_clock::now() + kPatience;
  while (!is_so()) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

class RetentionLease : public RetentionFile {
 protected:
  void SetUp() override {
    make_table();
    add_expired(kExpired);
    add_fresh(kFresh);
  }

  // In so many steps that it is caught in the middle: they take some seconds at least.
  [[nodiscard]] ProcessOptions long_run(const std::string& chunk = "1") const {
    return on_file("run", {"--keep", "30d", "--json", "--chunk", chunk});
  }
  [[nodiscard]] bool wait_for_deleted(std::int64_t count) const {
    return await([&] { return kExpired - expired_rows() >= count; });
  }

  // Each row takes some milliseconds to go, all in one transaction.
  void make_deleting_slow() const {
    execute_sql(file(),
                "CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
                "n WHERE i < 500) SELECT i FROM n; CREATE TABLE slow(count); CREATE TRIGGER slow "
                "BEFORE DELETE ON logs BEGIN INSERT INTO slow SELECT count(*) FROM many AS a, many "
                "AS b; END");
  }
  [[nodiscard]] bool is_locked() const {
    sqlite3* opened = nullptr;
    sqlite3_open(file().c_str(), &opened);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, &sqlite3_close);
    return sqlite3_exec(opened, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_BUSY;
  }
  [[nodiscard]] bool is_leased() const {
    return query_number(file(), "SELECT count(*) FROM sqlite_schema WHERE name = 'logs_meta'") ==
               1 &&
           query_number(file(),
                        "SELECT count(*) FROM logs_meta WHERE key = 'retention_lease' AND "
                        "value ->> '$.until' > 1") == 1;
  }
  // In a chunk's transaction or in none. False: it has ended before.
  [[nodiscard]] bool halt(const Subprocess& process, bool in_transaction) const {
    while (process.halt()) {
      if (is_leased() && is_locked() == in_transaction) {
        return true;
      }
      process.send_signal(SIGCONT);
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  // Nine at once, by three names of the file; the exit codes.
  [[nodiscard]] std::vector<int> codes_of_nine_others() const {
    std::filesystem::create_symlink("x.db", file("link.db"));
    const std::vector<std::string> urls = {"sqlite:x.db", "sqlite:" + file().string(),
                                           "sqlite:link.db"};
    std::vector<std::unique_ptr<Subprocess>> others;
    for (std::size_t i = 0; i < 9; ++i) {
      others.push_back(std::make_unique<Subprocess>(
          program({"run", "--keep", "30d", "--db", urls[i % urls.size()]})));
    }
    std::vector<int> codes;
    codes.reserve(others.size());
    for (const auto& other : others) {
      codes.push_back(other->wait(kAtOnce, Subprocess::Stdin::kClose).exit_code);
    }
    return codes;
  }

  static constexpr int kExpired = 15'000;
  static constexpr int kFresh = 2'000;
};

TEST_F(RetentionLease, EndsAtOnceWhenItIsToldToAndTheNextRunGoesOn) {
  std::int64_t gone = 0;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Subprocess process(long_run());
    ASSERT_TRUE(wait_for_deleted(gone + 100)) << process.err();
    process.send_signal(number);
    const ProcessResult result = process.wait(kAtOnce, Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 5) << result.err;
    EXPECT_THAT(result.err,
                MatchesRegex("spillway-retention: logs in sqlite:x.db: [^\n]*signal[^\n]*\n"));
    gone += json_number(result.out, "$.deleted");
    EXPECT_EQ(kExpired - expired_rows(), gone) << "what it committed stays";
  }
  EXPECT_GT(expired_rows(), 0) << "it was not in the middle";
  const ProcessResult next = run_on_file();
  EXPECT_EQ(next.exit_code, 0) << "the lease was given back: " << next.err;
  EXPECT_EQ(json_number(next.out, "$.deleted"), kExpired - gone);
  EXPECT_EQ(rows(), kFresh);
}

TEST_F(RetentionLease, EndsAtOnceInAStatementThatTakesLong) {
  make_deleting_slow();
  Subprocess process(long_run("5000"));  // Half a minute, and on a slow machine more.
  ASSERT_TRUE(await([this] { return is_leased() && is_locked(); })) << process.err();
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait(kAtOnce, Subprocess::Stdin::kClose).exit_code, 5);
  EXPECT_EQ(expired_rows(), kExpired) << "half a chunk is none";
  EXPECT_FALSE(is_leased());
}

TEST_F(RetentionLease, IsGoneOnWithWhereARunWasKilled) {
  for (const int moment : {0, 20, 200}) {
    Subprocess process(long_run());
    ASSERT_TRUE(wait_for_deleted(moment == 0 ? 0 : kExpired - expired_rows() + moment));
    ASSERT_TRUE(await([this] { return is_leased(); }));
    process.send_signal(SIGKILL);
    EXPECT_EQ(process.wait(kPatience, Subprocess::Stdin::kClose).signal, SIGKILL);
    expect_integrity();
    EXPECT_EQ(run_on_file().exit_code, 3) << "nobody knows that it is dead";
    end_lease();
  }
  const std::int64_t left = expired_rows();
  EXPECT_GT(left, 0) << "it was not in the middle";
  const ProcessResult next = run_on_file();
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(json_number(next.out, "$.deleted"), left);
  EXPECT_EQ(rows(), kFresh);
  expect_integrity();
}

TEST_F(RetentionLease, GivesSpaceBackThatAnEarlierRunMadeFree) {
  EXPECT_EQ(run_on_file({"--max-written", "14990"}).exit_code, 5) << "ends before that";
  const auto bytes = std::filesystem::file_size(file());
  execute_sql(file(), "DELETE FROM logs WHERE seq <= " + std::to_string(kExpired));
  const ProcessResult next = run_on_file();
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(json_number(next.out, "$.deleted"), 0);
  EXPECT_GE(json_number(next.out, "$.reclaimed_bytes"), 1'000'000) << next.out;
  EXPECT_LT(std::filesystem::file_size(file()), bytes / 2);
  expect_integrity();
}

TEST_F(RetentionLease, HoldsNineOthersOffAndDeletesNothingOnceItWasOvertaken) {
  Subprocess holder(long_run());
  ASSERT_TRUE(wait_for_deleted(100)) << holder.err();
  ASSERT_TRUE(halt(holder, false)) << "it was not in the middle";
  const std::int64_t left = expired_rows();
  EXPECT_THAT(codes_of_nine_others(), ElementsAre(3, 3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_EQ(expired_rows(), left);

  end_lease();
  const ProcessResult next = run_on_file();
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(json_number(next.out, "$.deleted"), left);
  add_expired(500);
  holder.send_signal(SIGCONT);
  const ProcessResult result = holder.wait(kPatience, Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, MatchesRegex("spillway-retention: logs in sqlite:x.db: another run took "
                                       "over[^\n]*\n"));
  EXPECT_EQ(expired_rows(), 500);
  EXPECT_EQ(json_number(result.out, "$.deleted") + left, kExpired) << "nothing went twice";
  EXPECT_EQ(run_on_file().exit_code, 0) << "it has taken the lease from nobody";
}

}  // namespace
}  // namespace spillway::testing
