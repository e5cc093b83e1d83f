// SPDX-License-Identifier: MIT
//
// Goal: a guard never waits for a SIGPIPE that another thread has taken.
// Method: threads with a guard each, a SIGPIPE for the whole process, which is then pending for all
// of them, and all guards end at once; many times. The failure is a test that never ends.
#include "d1/sigpipe_guard.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <barrier>
#include <thread>
#include <vector>

namespace spillway {
namespace {

constexpr int kRounds = 2'000;
constexpr int kThreads = 6;

TEST(SigpipeGuardStress, ManyThreadsShareOneSignalOfTheProcess) {
  const SigpipeGuard for_all_threads;  // They inherit the mask; nobody but the guards gets it.
  std::barrier<> together(kThreads);
  const auto guard_often = [&](bool sends) {
    for (int round = 0; round < kRounds; ++round) {
      const SigpipeGuard guard;
      together.arrive_and_wait();  // All guards are there: to them the signal is a new one.
      if (sends) {
        ::kill(::getpid(), SIGPIPE);
      }
      together.arrive_and_wait();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back(guard_often, number == 0);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace spillway
