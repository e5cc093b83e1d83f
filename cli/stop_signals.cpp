// SPDX-License-Identifier: MIT
#include "cli/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace spillway {
namespace {

constexpr std::array<int, 3> kStopSignals{SIGTERM, SIGINT, SIGHUP};

// A signal handler can be reached by nothing but globals. Written before the handler is installed.
int g_wake_fd = -1;

// A pipe instead of a flag: no signal can fall between looking at it and waiting.
extern "C" void on_stop_signal(int) {
  const int saved = errno;
  for (const int number : kStopSignals) {
    struct sigaction current = {};
    sigaction(number, nullptr, &current);
    if (current.sa_handler == &on_stop_signal) {
      static_cast<void>(std::signal(number, SIG_DFL));
    }
  }
  // The pipe is empty, so that this cannot fail.
  static_cast<void>(!write(g_wake_fd, "", 1));
  errno = saved;
}

void install(int number) noexcept {
  struct sigaction before = {};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction action = {};
  action.sa_handler = &on_stop_signal;
  action.sa_flags = SA_RESTART;  // Only the wait for input is to notice, by the pipe.
  for (const int other : kStopSignals) {
    sigaddset(&action.sa_mask, other);
  }
  sigaction(number, &action, nullptr);
}

}  // namespace

Result<int> install_stop_signals() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return Status(StatusCode::kInternal,
                  "cannot create a pipe: " + std::generic_category().message(errno));
  }
  for (const int end : ends) {
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  g_wake_fd = ends[1];
  for (const int number : kStopSignals) {
    install(number);
  }
  return ends[0];
}

}  // namespace spillway
