// SPDX-License-Identifier: MIT
//
// SigpipeGuard: while it lives, this thread gets no SIGPIPE, whatever the process does with it.
//
// libcurl sends with MSG_NOSIGNAL, but not everything below it does: a TLS library that says
// goodbye to a peer that has gone may use plain write(2), in curl_easy_cleanup too. The process's
// own disposition is its own affair and stays as it is.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace spillway {

class SigpipeGuard {
 public:
  SigpipeGuard() noexcept {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = is_pending();
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &sigpipe_, &mask_before_) == 0;
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() {
    if (!is_blocked_) {
      return;
    }
    if (!was_pending_ && is_pending()) {  // Ours: else unblocking would deliver it.
      take_pending();
    }
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  [[nodiscard]] static bool is_pending() noexcept {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  // A signal that was sent to the whole process is pending for every thread, and only one gets it:
  // whoever comes late must not wait for another one.
  void take_pending() const noexcept {
#ifdef __APPLE__  // It has no sigtimedwait; there SIGPIPE is the writing thread's own.
    int number = 0;
    sigwait(&sigpipe_, &number);
#else
    const timespec at_once{};
    sigtimedwait(&sigpipe_, nullptr, &at_once);  // Fails if it is no longer there.
#endif
  }

  sigset_t sigpipe_{};
  sigset_t mask_before_{};
  bool was_pending_ = false;
  bool is_blocked_ = false;
};

}  // namespace spillway
