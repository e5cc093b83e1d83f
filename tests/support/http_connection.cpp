// SPDX-License-Identifier: MIT
#include "tests/support/http_connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace spillway::testing {
namespace {

void set_option(int fd, int level, int option, const auto& value) {
  static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

// What is in the socket, but at least one byte. 0: the client has left.
ssize_t receive(int fd, char* out, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::recv(fd, out, size, 0);
  } while (got < 0 && errno == EINTR);
  return std::max<ssize_t>(got, 0);
}

}  // namespace

HttpConnection::HttpConnection(int fd, int number) : fd_(fd), number_(number) {
  // Children of the test must not hold the connection open.
  static_cast<void>(::fcntl(fd, F_SETFD, FD_CLOEXEC));
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

HttpConnection::~HttpConnection() {
  if (end_ == End::kReset) {
    set_option(fd_, SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
  } else {
    wake();
  }
  ::close(fd_);
}

void HttpConnection::wake() const { ::shutdown(fd_, SHUT_RDWR); }

bool HttpConnection::wait_for_request() {
  if (read_ == unread_.size()) {
    std::array<char, 16 * 1024> buffer;
    unread_.assign(buffer.data(),
                   static_cast<std::size_t>(receive(fd_, buffer.data(), buffer.size())));
    read_ = 0;
  }
  return !unread_.empty();
}

ssize_t HttpConnection::read(char* out, std::size_t size) {
  if (!wait_for_request()) {
    return 0;
  }
  const std::size_t count = unread_.copy(out, size, read_);
  read_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t HttpConnection::write(const char* bytes, std::size_t size) {
  if (does_keep_) {
    answer_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  return send({bytes, size}) ? static_cast<ssize_t>(size) : -1;
}

std::string HttpConnection::take_answer() {
  does_keep_ = false;
  return std::exchange(answer_, {});
}

bool HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = number_;
}

void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

}  // namespace spillway::testing
