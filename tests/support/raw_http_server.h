// SPDX-License-Identifier: MIT
//
// RawHttpServer: a server on 127.0.0.1 that answers what a script says, byte by byte. For what a
// well-behaved HTTP server cannot do: hang, cut an answer, reset a connection.
//
//   RawHttpServer server([](RawConnection& connection) {
//     while (connection.read_request()) {
//       connection.answer(200, "{}");
//     }
//   });
//
// The script runs once for each connection, on a thread of that connection's own. When it returns
// the connection is closed. The destructor ends all scripts: their reads and waits return at once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spillway::testing {

struct RawRequest {
  std::size_t connection = 0;  ///< The number of the connection it came over: 0, 1, 2 …
  std::string head;            ///< Request line and headers, without the empty line.
  std::string body;

  /// The value of a header, whose name is given in lower case. Empty: there is none.
  [[nodiscard]] std::string header(std::string_view name) const;
};

class RawHttpServer;

class RawConnection {
 public:
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  /// 0 for the first one that came.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

  /// The next request, headers and body. Empty: the client, or the test, has ended.
  std::optional<RawRequest> read_request();
  /// False: the client has closed the connection.
  bool send(std::string_view bytes);
  /// An answer with a length and these further headers ("Name: value\r\n" each).
  bool answer(int status, std::string_view body, std::string_view headers = "");
  /// True after this time; false at once when the test ends.
  bool wait(std::chrono::milliseconds time);
  /// Until the client closes the connection or the test ends.
  void wait_for_end();
  /// Everything goes through these from now on, which answer as read(2) and write(2): for TLS.
  void read_and_send_by(std::function<int(char*, std::size_t)> read,
                        std::function<int(const char*, std::size_t)> send);
  [[nodiscard]] int socket() const noexcept { return socket_; }
  /// From now on closing is a reset (RST), not an orderly end.
  void close_by_reset() const;

 private:
  friend class RawHttpServer;
  RawConnection(RawHttpServer& server, int socket, std::size_t number);
  [[nodiscard]] bool receive();

  RawHttpServer& server_;
  const int socket_;
  const std::size_t number_;
  std::function<int(char*, std::size_t)> read_;
  std::function<int(const char*, std::size_t)> send_;
  std::string received_;
};

class RawHttpServer {
 public:
  using Script = std::function<void(RawConnection&)>;

  /// Listens when it is made. Aborts the test program when there is no port to be had.
  explicit RawHttpServer(Script script);
  RawHttpServer(const RawHttpServer&) = delete;
  RawHttpServer& operator=(const RawHttpServer&) = delete;
  ~RawHttpServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// "http://127.0.0.1:PORT" and `path`.
  [[nodiscard]] std::string url(std::string_view path = "") const;

  [[nodiscard]] std::size_t connections() const;
  /// All that came whole, of all connections.
  [[nodiscard]] std::vector<RawRequest> requests() const;
  /// True as soon as there have been `count` requests; false if that takes longer than `timeout`.
  [[nodiscard]] bool await_requests(std::size_t count, std::chrono::milliseconds timeout) const;

 private:
  friend class RawConnection;
  void accept_all();
  void begin(int socket);
  void note(const RawRequest& request);
  [[nodiscard]] bool wait(std::chrono::milliseconds time);

  const Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool is_ending_ = false;
  std::vector<int> sockets_;  // One for each connection; -1 once it is closed.
  std::vector<std::thread> threads_;
  std::vector<RawRequest> requests_;

  std::thread acceptor_;
};

}  // namespace spillway::testing
