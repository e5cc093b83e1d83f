// SPDX-License-Identifier: MIT
#include "cli/stop_watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace spillway {

StopWatcher::StopWatcher(int stop_fd) : stop_fd_(stop_fd) {
  // Without descriptors left the thread would never end: then only waits see the signal.
  if (pipe(end_pipe_.data()) == 0) {
    for (const int end : end_pipe_) {
      fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    thread_ = std::thread([this] { watch(); });
  }
}

StopWatcher::~StopWatcher() {
  if (thread_.joinable()) {
    close(end_pipe_[1]);
    thread_.join();
    close(end_pipe_[0]);
  }
}

void StopWatcher::watch() noexcept {
  std::array<pollfd, 2> ready{pollfd{stop_fd_, POLLIN, 0}, pollfd{end_pipe_[0], POLLIN, 0}};
  while (poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
  }
  if (ready[0].revents != 0) {
    stop_.request_stop();
  }
}

bool StopWatcher::wait_for(std::chrono::milliseconds time) const noexcept {
  // Asked for nothing, poll still tells POLLERR: the other end of the pipe is closed.
  std::array<pollfd, 2> ready{pollfd{stop_fd_, POLLIN, 0}, pollfd{STDOUT_FILENO, 0, 0}};
  const auto timeout =
      static_cast<int>(std::min<std::int64_t>(time.count(), std::numeric_limits<int>::max()));
  // A signal that is not for us only makes the wait shorter.
  return poll(ready.data(), ready.size(), timeout) > 0;
}

}  // namespace spillway
