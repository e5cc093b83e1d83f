// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include "base/one_line.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace spillway {
namespace {

void reserve(int fd, int mode) noexcept {
  if (fcntl(fd, F_GETFD) < 0) {
    // Gives the lowest free number, which is `fd`. If it fails there is nothing better to do.
    static_cast<void>(open("/dev/null", mode));
  }
}

void wait_until_writable(int fd) noexcept {
  pollfd ready{fd, POLLOUT, 0};
  static_cast<void>(poll(&ready, 1, -1));
}

// 0 or the errno. A pipe or terminal that another program made non-blocking is waited for.
int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_until_writable(fd);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void reserve_standard_files() noexcept {
  reserve(STDIN_FILENO, O_WRONLY);
  reserve(STDOUT_FILENO, O_RDONLY);
  reserve(STDERR_FILENO, O_RDONLY);
}

bool write_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0) {
    say("cannot write to stdout: " + std::generic_category().message(error));
  }
  return error == 0;
}

void say(const std::string& text) {
  // One write, so that lines of several processes do not mix. A failure has nowhere to be told.
  static_cast<void>(write_all(STDERR_FILENO, "spillway: " + one_line(text) + '\n'));
}

}  // namespace spillway
