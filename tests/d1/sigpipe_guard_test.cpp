// SPDX-License-Identifier: MIT
#include "d1/sigpipe_guard.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cerrno>

namespace spillway {
namespace {

// With SIGPIPE's default disposition, which ends the process.
class SigpipeGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    ASSERT_EQ(::sigaction(SIGPIPE, &by_default, &before), 0);
  }
  void TearDown() override { ASSERT_EQ(::sigaction(SIGPIPE, &before, nullptr), 0); }

  static void write_to_nobody() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    ::close(ends[1]);
  }

  static bool is_pending() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  static bool is_blocked() {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGPIPE) == 1;
  }

  struct sigaction before {};
};

TEST_F(SigpipeGuardTest, KeepsTheSignalAwayAndLeavesNoneBehind) {
  {
    const SigpipeGuard guard;
    write_to_nobody();
    write_to_nobody();
    EXPECT_TRUE(is_pending());
  }
  EXPECT_FALSE(is_pending());
  EXPECT_FALSE(is_blocked());
}

TEST_F(SigpipeGuardTest, LeavesASignalPendingThatWasThereBefore) {
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
  write_to_nobody();
  {
    const SigpipeGuard guard;
    write_to_nobody();
  }
  EXPECT_TRUE(is_pending());
  EXPECT_TRUE(is_blocked());
  int number = 0;
  sigwait(&sigpipe, &number);
  pthread_sigmask(SIG_UNBLOCK, &sigpipe, nullptr);
}

}  // namespace
}  // namespace spillway
