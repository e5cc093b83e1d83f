// SPDX-License-Identifier: MIT
//
// Goal: a request ends when its time is over or it is cancelled, whatever the server does or leaves
// undone, and a connection is not kept for too long.
// Method: servers that hang in each way, real time with room for a loaded machine.
#include "d1/d1_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/d1_http_fixture.h"
#include "tests/support/raw_http_server.h"
#include "tests/support/sanitizers.h"

#include <chrono>
#include <ostream>
#include <string>
#include <thread>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using testing::http_options;
using testing::post;
using testing::RawConnection;
using testing::RawHttpServer;

struct Hang {
  const char* name;
  RawHttpServer::Script script;
};

std::ostream& operator<<(std::ostream& out, const Hang& hang) { return out << hang.name; }

void drip(RawConnection& connection) {
  connection.read_request();
  connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
  while (connection.send("x") && connection.wait(seconds(5))) {
  }
}

void answer_without_end(RawConnection& connection) {
  connection.read_request();
  connection.send("HTTP/1.1 200 OK\r\n\r\n");
  while (connection.send("{\"success\":") && connection.wait(milliseconds(1))) {
  }
}

void send_headers_without_end(RawConnection& connection) {
  connection.read_request();
  connection.send("HTTP/1.1 200 OK\r\n");
  while (connection.send("X-More: 1\r\n") && connection.wait(milliseconds(1))) {
  }
}

class D1HttpHang : public ::testing::TestWithParam<Hang> {};

INSTANTIATE_TEST_SUITE_P(
    D1Http, D1HttpHang,
    ::testing::Values(Hang{"AcceptThenSilence", [](RawConnection& c) { c.wait_for_end(); }},
                      Hang{"RequestThenSilence",
                           [](RawConnection& c) {
                             c.read_request();
                             c.wait_for_end();
                           }},
                      Hang{"HeadersThenSilence",
                           [](RawConnection& c) {
                             c.read_request();
                             c.send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"succ");
                             c.wait_for_end();
                           }},
                      Hang{"OneBytePer5s", &drip}, Hang{"BodyWithoutEnd", &answer_without_end},
                      Hang{"HeadersWithoutEnd", &send_headers_without_end}),
    [](const auto& hang) { return std::string(hang.param.name); });

struct Timed {
  HttpAnswer answer;
  milliseconds time;
};

template <typename Call>
Timed timed(const Call& call) {
  const auto begin = steady_clock::now();
  HttpAnswer answer = call();
  return {std::move(answer), std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin)};
}

TEST_P(D1HttpHang, EndsAtTheTimeout) {
  RawHttpServer server(GetParam().script);
  D1Http http(http_options(server.port()));
  const Timed timeout = timed([&] { return post(http, "{}", milliseconds(400)); });
  EXPECT_EQ(timeout.answer.transport.code(), StatusCode::kLost)
      << timeout.answer.transport.to_string();
  EXPECT_EQ(timeout.answer.transport.execution(), Execution::kMaybe);
  EXPECT_GE(timeout.time, milliseconds(390));
  if (!testing::kHasSanitizer) {
    EXPECT_LT(timeout.time, milliseconds(1400));
  }
}

TEST_P(D1HttpHang, EndsWhenItIsCancelled) {
  RawHttpServer server(GetParam().script);
  D1Http http(http_options(server.port()));
  std::stop_source source;
  steady_clock::time_point cancelled;
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(100));
    cancelled = steady_clock::now();
    source.request_stop();
  });
  const HttpAnswer answer = post(http, "{}", seconds(60), source.get_token());
  const auto ended = steady_clock::now();
  canceller.join();
  EXPECT_EQ(answer.transport.code(), StatusCode::kLost) << answer.transport.to_string();
  EXPECT_THAT(answer.transport.message(), HasSubstr("cancelled"));
  if (!testing::kHasSanitizer) {
    EXPECT_LT(ended - cancelled, milliseconds(500));  // About 1 ms on an idle machine.
  }
}

// A full queue of connections that nobody accepts: the next one gets no answer to its first packet.
class SilentPort {
 public:
  SilentPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    for (int& filler : fillers_) {
      filler = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      static_cast<void>(::connect(filler, generic, size));
    }
  }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;
  ~SilentPort() {
    for (const int filler : fillers_) {
      ::close(filler);
    }
    ::close(listener_);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  int listener_ = -1;
  int fillers_[4] = {};
  std::uint16_t port_ = 0;
};

TEST(D1HttpTime, ConnectingEndsAtItsOwnTimeoutAndHasExecutedNothing) {
  const SilentPort silent;
  D1HttpOptions options = http_options(silent.port());
  options.transfer.connect_timeout = milliseconds(300);
  D1Http http(options);
  const Timed connecting = timed([&] { return post(http); });
  EXPECT_EQ(connecting.answer.transport.code(), StatusCode::kTransient)
      << connecting.answer.transport.to_string();
  EXPECT_EQ(connecting.answer.transport.execution(), Execution::kNo);
  EXPECT_GE(connecting.time, milliseconds(290));
  if (!testing::kHasSanitizer) {
    EXPECT_LT(connecting.time, milliseconds(1300));
  }
}

TEST(D1HttpTime, ACancelWhileConnectingHasSentNothing) {
  const SilentPort silent;
  D1Http http(http_options(silent.port()));
  std::stop_source source;
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(50));
    source.request_stop();
  });
  const HttpAnswer answer = post(http, "{}", seconds(60), source.get_token());
  canceller.join();
  EXPECT_EQ(answer.transport.code(), StatusCode::kCancelled) << answer.transport.to_string();
  EXPECT_EQ(answer.transport.execution(), Execution::kNo);
}

TEST(D1HttpTime, TwoMegabytesTakeNoDetour) {
  RawHttpServer server(testing::always(200, "{}"));
  D1Http http(http_options(server.port()));
  ASSERT_TRUE(post(http).transport.is_ok());
  const Timed sent = timed([&] { return post(http, std::string(2'000'000, 'x')); });
  EXPECT_TRUE(sent.answer.transport.is_ok());
  if (!testing::kHasSanitizer) {
    EXPECT_LT(sent.time, milliseconds(900));  // With an "Expect" libcurl would wait a second.
  }
}

TEST(D1HttpTime, AConnectionIsNotKeptForLongerThanItsLifetime) {
  RawHttpServer server(testing::always(200, "{}"));
  D1HttpOptions options = http_options(server.port());
  options.transfer.connection_lifetime = seconds(1);
  D1Http http(options);
  const auto end = steady_clock::now() + seconds(20);
  while (server.connections() < 2 && steady_clock::now() < end) {
    ASSERT_TRUE(post(http).transport.is_ok());
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(server.connections(), 2U);
  EXPECT_GT(server.requests().size(), 2U);  // For a while it was kept.
}

}  // namespace
}  // namespace spillway
