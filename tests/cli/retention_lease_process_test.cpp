// SPDX-License-Identifier: MIT
//
// Goal: of several runs on one file one works, and one that was stopped, ended or killed in the
// middle leaves what the next one needs, and deletes nothing once another has taken over.
// Method: the built program with short chunks, met by signals when some of its rows are gone.
#include "tests/cli/retention_fixture.h"

#include <spillway/clock.h>

#include <sqlite3.h>

#include <csignal>
#include <memory>
#include <string>

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kExpired = 3'000;
constexpr int kFresh = 1'000;

class RetentionLease : public RetentionFile {
 protected:
  void SetUp() override {
    make_table();
    add_expired(kExpired);
    add_fresh(kFresh);
  }

  /// A run that has deleted something and has still much to do.
  [[nodiscard]] std::unique_ptr<Subprocess> begun_run() const {
    auto process = std::make_unique<Subprocess>(on_file("run", {"--keep", "30d", "--chunk", "1"}));
    const SteadyTime give_up = Clock::system().steady_now() + kPatience;
    while (rows() == kExpired + kFresh && Clock::system().steady_now() < give_up) {
    }
    EXPECT_LT(rows(), kExpired + kFresh);
    return process;
  }

  /// Stops it while it is between two chunks: the lock that it needs for one is not to be had.
  void stop_between_chunks(const Subprocess& process) const {
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &opened), SQLITE_OK);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection(opened, sqlite3_close);
    sqlite3_busy_timeout(opened, 60'000);
    ASSERT_EQ(sqlite3_exec(opened, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    process.send_signal(SIGSTOP);
  }
};

TEST_F(RetentionLease, LetsOneRunWorkAndAStaleOneDeleteNothing) {
  const std::unique_ptr<Subprocess> holder = begun_run();
  stop_between_chunks(*holder);
  const std::int64_t before = rows();
  std::filesystem::create_symlink("x.db", file("link.db"));
  for (const std::string& name : {std::string("x.db"), file().string(), std::string("link.db")}) {
    const ProcessResult other = run(program({"run", "--db", "sqlite:" + name, "--keep", "30d"}));
    EXPECT_EQ(other.exit_code, 3) << other.err;
    EXPECT_THAT(other.err, HasSubstr("another run is at work"));
  }
  EXPECT_EQ(rows(), before);
  end_lease();
  EXPECT_EQ(run_on_file().exit_code, 0);
  EXPECT_EQ(rows(), kFresh);
  add_expired(50);
  holder->send_signal(SIGCONT);
  const ProcessResult stale = holder->wait(kPatience, Subprocess::Stdin::kClose);
  EXPECT_EQ(stale.exit_code, 3) << stale.err;
  EXPECT_THAT(stale.err, HasSubstr("another run took over"));
  EXPECT_EQ(rows(), kFresh + 50);
}

TEST_F(RetentionLease, EndsAtASignalAndKeepsWhatIsDone) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::unique_ptr<Subprocess> process = begun_run();
    process->send_signal(signal);
    const ProcessResult result = process->wait(kPatience, Subprocess::Stdin::kClose);
    EXPECT_EQ(result.exit_code, 5) << result.err;
    EXPECT_THAT(result.err, HasSubstr("stopped by a signal"));
    EXPECT_GT(expired_rows(), 0);
    EXPECT_EQ(run_on_file().exit_code, 0) << "the lease was given back";
    EXPECT_EQ(rows(), kFresh);
    add_expired(kExpired);
  }
}

TEST_F(RetentionLease, IsFreeAgainAfterAKill) {
  const std::unique_ptr<Subprocess> process = begun_run();
  process->send_signal(SIGKILL);
  EXPECT_EQ(process->wait(kPatience, Subprocess::Stdin::kClose).signal, SIGKILL);
  EXPECT_GT(expired_rows(), 0);
  EXPECT_EQ(run_on_file().exit_code, 3);
  end_lease();
  const ProcessResult next = run_on_file();
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(rows(), kFresh);
  expect_integrity();
}

}  // namespace
}  // namespace spillway::testing
