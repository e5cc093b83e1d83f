// SPDX-License-Identifier: MIT
//
// HttpConnection: a server's side of one TCP connection, as cpp-httplib's stream.
//
// What cpp-httplib writes once `keep_answer` was called stays here: the scripted D1 decides how,
// and whether, it leaves. Used by the connection's own thread; `wake` by any.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::testing {

class HttpConnection final : public httplib::Stream {
 public:
  enum class End : std::uint8_t { kClose, kReset };

  /// Takes the socket over. `number` is what others call the connection.
  HttpConnection(int fd, int number);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection() override;

  [[nodiscard]] int number() const noexcept { return number_; }

  /// Blocks until there is something to read. False: the client has left, or `wake` was called.
  [[nodiscard]] bool wait_for_request();
  void keep_answer() noexcept { does_keep_ = true; }
  /// What was kept. From now on what is written is sent again.
  [[nodiscard]] std::string take_answer();
  /// False: the client has left.
  bool send(std::string_view bytes);
  /// How the destructor ends the connection.
  void set_end(End end) noexcept { end_ = end; }
  /// Ends all waiting for the client, for good.
  void wake() const;

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* out, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  /// The port is the connection's number: by it the handlers know theirs.
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return fd_; }

 private:
  const int fd_;
  const int number_;
  End end_ = End::kClose;
  bool does_keep_ = false;
  std::string answer_;
  std::string unread_;  // Received, and not yet asked for from `read_` on.
  std::size_t read_ = 0;
};

}  // namespace spillway::testing
