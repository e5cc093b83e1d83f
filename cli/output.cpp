// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include "base/one_line.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace spillway {
namespace {

// The name of the whole process, set before anything is said.
std::string_view g_program = "spillway";

void reserve(int fd, int mode) noexcept {
  if (fcntl(fd, F_GETFD) < 0) {
    // Gives the lowest free number, which is `fd`. If it fails there is nothing better to do.
    static_cast<void>(::open("/dev/null", mode));
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

void say_why_not_written(int error) {
  say("cannot write to stdout: " + std::generic_category().message(error));
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
    say_why_not_written(error);
  }
  return error == 0;
}

Printed print_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    return Printed::kReaderGone;
  }
  if (error != 0) {
    say_why_not_written(error);
  }
  return error == 0 ? Printed::kAll : Printed::kFailed;
}

bool is_colour_wanted() {
  // The program has one thread when it looks, and changes no variable.
  const char* const no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  const char* const terminal = std::getenv("TERM");       // NOLINT(concurrency-mt-unsafe)
  const bool is_refused = no_colour != nullptr && *no_colour != '\0';
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return !is_refused && !is_dumb && isatty(STDOUT_FILENO) != 0;
}

void set_program_name(const char* name) noexcept { g_program = name; }

void say(const std::string& text) {
  // One write, so that lines of several processes do not mix. A failure has nowhere to be told.
  static_cast<void>(
      write_all(STDERR_FILENO, std::string(g_program) + ": " + one_line(text) + '\n'));
}

void say_out_of_memory() noexcept {
  static_cast<void>(write_all(STDERR_FILENO, g_program));
  static_cast<void>(write_all(STDERR_FILENO, ": out of memory\n"));
}

}  // namespace spillway
