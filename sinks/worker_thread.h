// SPDX-License-Identifier: MIT
//
// Threads of the library's own, started so that they stay out of the application's way: they take
// none of its signals and can be told apart in `top -H` and in a debugger.
#pragma once

#include <pthread.h>

#include <csignal>
#include <functional>
#include <thread>
#include <utility>

namespace spillway {

/// Starts a thread that runs `body`. Throws std::system_error when there is none to be had.
inline std::thread start_worker_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // A new thread inherits the mask.
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (...) {  // Thrown on once the caller's mask is back.
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace spillway
