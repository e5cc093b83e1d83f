// SPDX-License-Identifier: MIT
#include "tests/support/raw_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace spillway::testing {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

int checked(int result, const char* what) {
  if (result < 0) {
    std::perror(what);
    std::abort();
  }
  return result;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t length_of_body(const RawRequest& request) {
  const std::string length = request.header("content-length");
  return length.empty() ? 0 : std::stoul(length);
}

}  // namespace

std::string RawRequest::header(std::string_view name) const {
  std::string lower_head = head;
  std::transform(head.begin(), head.end(), lower_head.begin(), lower);
  const std::string before = "\r\n" + std::string(name) + ":";
  std::size_t begin = lower_head.find(before);
  if (begin == std::string::npos) {
    return "";
  }
  begin = std::min(head.find_first_not_of(' ', begin + before.size()), head.size());
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

RawConnection::RawConnection(RawHttpServer& server, int socket, std::size_t number)
    : server_(server), socket_(socket), number_(number) {
  read_and_send_by(
      [socket](char* buffer, std::size_t size) {
        return static_cast<int>(::recv(socket, buffer, size, 0));
      },
      [socket](const char* bytes, std::size_t size) {
        return static_cast<int>(::send(socket, bytes, size, MSG_NOSIGNAL));
      });
}

void RawConnection::read_and_send_by(std::function<int(char*, std::size_t)> read,
                                     std::function<int(const char*, std::size_t)> send) {
  read_ = std::move(read);
  send_ = std::move(send);
}

std::optional<RawRequest> RawConnection::read_request() {
  std::size_t end = 0;
  while ((end = received_.find(kEndOfHead)) == std::string::npos) {
    if (!receive()) {
      return std::nullopt;
    }
  }
  RawRequest request;
  request.connection = number_;
  request.head = received_.substr(0, end);
  received_.erase(0, end + kEndOfHead.size());
  const std::size_t length = length_of_body(request);
  while (received_.size() < length) {
    if (!receive()) {
      return std::nullopt;
    }
  }
  request.body = received_.substr(0, length);
  received_.erase(0, length);
  server_.note(request);
  return request;
}

bool RawConnection::receive() {
  std::array<char, 65536> piece{};
  const int bytes = read_(piece.data(), piece.size());
  if (bytes > 0) {
    received_.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  return bytes > 0;
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = send_(bytes.data(), bytes.size());
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::answer(int status, std::string_view body, std::string_view headers) {
  std::string bytes = "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n";
  bytes.append(headers);
  bytes.append("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  return send(bytes.append(body));
}

bool RawConnection::wait(std::chrono::milliseconds time) { return server_.wait(time); }

void RawConnection::wait_for_end() {
  while (receive()) {
  }
}

void RawConnection::close_by_reset() const {
  const linger discard{.l_onoff = 1, .l_linger = 0};
  checked(::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &discard, sizeof discard), "SO_LINGER");
}

RawHttpServer::RawHttpServer(Script script) : script_(std::move(script)) {
  listener_ = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // As the sockets API wants it.
  socklen_t size = sizeof address;
  checked(::bind(listener_, generic, size), "bind");
  checked(::listen(listener_, SOMAXCONN), "listen");
  checked(::getsockname(listener_, generic, &size), "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

RawHttpServer::~RawHttpServer() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
    for (const int socket : sockets_) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }
  ::shutdown(listener_, SHUT_RDWR);  // accept(2) returns.
  acceptor_.join();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  ::close(listener_);
}

std::string RawHttpServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

std::size_t RawHttpServer::connections() const {
  const std::lock_guard lock(mutex_);
  return sockets_.size();
}

std::vector<RawRequest> RawHttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool RawHttpServer::await_requests(std::size_t count, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return requests_.size() >= count; });
}

void RawHttpServer::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (socket < 0 || is_ending_) {
      if (socket >= 0) {
        ::close(socket);
      }
      return;
    }
    begin(socket);
  }
}

void RawHttpServer::begin(int socket) {
  const std::size_t number = sockets_.size();
  sockets_.push_back(socket);
  threads_.emplace_back([this, socket, number] {
    RawConnection connection(*this, socket, number);
    script_(connection);
    const std::lock_guard lock(mutex_);
    ::close(socket);
    sockets_[number] = -1;  // The number may be another file's by now.
  });
}

void RawHttpServer::note(const RawRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  changed_.notify_all();
}

bool RawHttpServer::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return is_ending_; });
}

}  // namespace spillway::testing
