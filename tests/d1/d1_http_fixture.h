// SPDX-License-Identifier: MIT
//
// What the tests of D1Http have in common: a client for a server on loopback, and short forms.
#pragma once

#include <gtest/gtest.h>

#include "d1/d1_http.h"
#include "tests/support/raw_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace spillway::testing {

inline constexpr const char* kToken = "abc123SECRET";

/// For a server on 127.0.0.1.
inline D1HttpOptions http_options(std::uint16_t port) {
  D1HttpOptions options;
  options.peer = "127.0.0.1:" + std::to_string(port);
  options.transfer.url = "http://" + options.peer + "/client/v4/raw";
  options.transfer.token = kToken;
  return options;
}

inline HttpAnswer post(D1Http& http, const std::string& body = "{\"sql\":\"SELECT 1\"}",
                       std::chrono::milliseconds timeout = std::chrono::seconds(20),
                       const std::stop_token& cancel = {}) {
  return http.post(body, Clock::system().steady_now() + timeout, cancel);
}

/// Answers every request of a connection alike.
inline RawHttpServer::Script always(int status, const std::string& body,
                                    const std::string& headers = "") {
  return [=](RawConnection& connection) {
    while (connection.read_request()) {
      if (!connection.answer(status, body, headers)) {
        return;
      }
    }
  };
}

/// This process's sockets that are connected to `port`.
inline std::vector<int> sockets_to(std::uint16_t port) {
  constexpr int kDescriptorsMax = 1024;
  std::vector<int> found;
  for (int descriptor = 0; descriptor < kDescriptorsMax; ++descriptor) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    auto* const generic = reinterpret_cast<sockaddr*>(&peer);  // As the sockets API wants it.
    if (::getpeername(descriptor, generic, &size) == 0 && peer.sin_family == AF_INET &&
        ntohs(peer.sin_port) == port) {
      found.push_back(descriptor);
    }
  }
  return found;
}

/// Returns when the other side's closing of the idle connection to `port` has arrived here.
inline void await_close_by(std::uint16_t port) {
  for (const int descriptor : sockets_to(port)) {
    pollfd waited{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(::poll(&waited, 1, 10'000), 1);
  }
}

}  // namespace spillway::testing
