// SPDX-License-Identifier: MIT
#include "cli/input.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace spillway {
namespace {

// What a pipe holds at most by default; larger reads gain nothing.
constexpr std::size_t kBlockBytes = 64 * 1024;
using Block = std::array<char, kBlockBytes>;
using OnBlock = std::function<void(std::string_view)>;

// Waits until `fd` can be read or has ended, or a stop is asked for; true for the latter. If poll
// itself fails, the read that follows says why.
bool wait_for_input_or_stop(int fd, int stop_fd) noexcept {
  std::array<pollfd, 2> ready{pollfd{fd, POLLIN, 0}, pollfd{stop_fd, POLLIN, 0}};
  while (poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
  }
  return ready[1].revents != 0;
}

// Bytes read, 0 at the end, -1 with errno.
ssize_t read_some(int fd, char* bytes, std::size_t size) noexcept {
  ssize_t count = 0;
  do {
    count = read(fd, bytes, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

std::size_t bytes_waiting(int fd) noexcept {
  struct stat file = {};
  int bytes = 0;
  // For a regular file FIONREAD would answer all that is left of it.
  if (fstat(fd, &file) != 0 || S_ISREG(file.st_mode) || ioctl(fd, FIONREAD, &bytes) != 0) {
    return 0;
  }
  return static_cast<std::size_t>(std::max(bytes, 0));
}

// Asked once: a writer that keeps writing cannot keep the program from ending.
void drain(int fd, Block& block, const OnBlock& on_block) {
  std::size_t left = bytes_waiting(fd);
  while (left > 0 && is_readable_now(fd)) {
    const ssize_t count = read_some(fd, block.data(), std::min(left, block.size()));
    if (count <= 0) {
      return;
    }
    on_block({block.data(), static_cast<std::size_t>(count)});
    left -= static_cast<std::size_t>(count);
  }
}

}  // namespace

bool is_readable_now(int fd) noexcept {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

Status read_blocks(int fd, int stop_fd, const OnBlock& on_block) {
  const auto block = std::make_unique<Block>();
  while (true) {
    if (wait_for_input_or_stop(fd, stop_fd)) {
      drain(fd, *block, on_block);
      return {};
    }
    const ssize_t count = read_some(fd, block->data(), block->size());
    if (count == 0) {
      return {};
    }
    if (count > 0) {
      on_block({block->data(), static_cast<std::size_t>(count)});
    } else if (errno != EAGAIN) {
      return Status(StatusCode::kPermanent, std::generic_category().message(errno));
    }
  }
}

}  // namespace spillway
