// SPDX-License-Identifier: MIT
//
// Goal: a body goes once to where it is meant to go, and what became of it is told as it was.
// Method: servers on loopback that answer, lead elsewhere, break off, or are not there.
#include "d1/d1_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/d1_http_fixture.h"
#include "tests/support/raw_http_server.h"
#include "tests/support/sanitizers.h"
#include "tests/support/scoped_environment.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace spillway {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using testing::always;
using ::testing::HasSubstr;
using testing::http_options;
using testing::kToken;
using ::testing::Not;
using testing::post;
using testing::RawConnection;
using testing::RawHttpServer;
using testing::ScopedEnvironment;

constexpr const char* kAnswer = "{\"success\":true}";

/// A port that nobody listens on: that of a server that has gone.
std::uint16_t closed_port() {
  const RawHttpServer server([](RawConnection&) {});
  return server.port();
}

// More than the buffers of a connection hold.
std::string huge_body() {
  std::string body;
  body.resize(20'000'000, 'x');
  return body;
}

void expect_failure(const HttpAnswer& answer, StatusCode code, Execution execution) {
  const Status& status = answer.transport;
  ASSERT_FALSE(status.is_ok());
  EXPECT_EQ(status.code(), code) << status.to_string();
  EXPECT_EQ(status.execution(), execution) << status.to_string();
  EXPECT_THAT(status.message(), AllOf(Not(HasSubstr("SECRET")), Not(HasSubstr("\n"))));
}

TEST(D1Http, SendsTheBodyWithTheTokenAndGivesTheAnswer) {
  RawHttpServer server(always(200, kAnswer, "Retry-After: 3\r\nRatelimit: \"x\";r=7;t=1\r\n"));
  D1Http http(http_options(server.port()));
  EXPECT_EQ(http.rate_limit(), std::nullopt);
  const HttpAnswer answer = post(http, "{\"sql\":\"x\"}");
  ASSERT_TRUE(answer.transport.is_ok()) << answer.transport.to_string();
  EXPECT_EQ(answer.http_status, 200);
  EXPECT_EQ(answer.body, kAnswer);
  EXPECT_EQ(answer.retry_after, seconds(3));
  ASSERT_TRUE(http.rate_limit().has_value());
  EXPECT_EQ(http.rate_limit()->remaining, 7);

  ASSERT_EQ(server.requests().size(), 1U);
  const testing::RawRequest request = server.requests()[0];
  EXPECT_THAT(request.head, ::testing::StartsWith("POST /client/v4/raw HTTP/1.1\r\n"));
  EXPECT_EQ(request.body, "{\"sql\":\"x\"}");
  EXPECT_EQ(request.header("authorization"), std::string("Bearer ") + kToken);
  EXPECT_EQ(request.header("content-type"), "application/json");
  EXPECT_THAT(request.header("user-agent"), ::testing::StartsWith("spillway/"));
}

TEST(D1Http, KeepsTheConnection) {
  RawHttpServer server(always(200, kAnswer));
  D1Http http(http_options(server.port()));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(post(http).transport.is_ok());
  }
  EXPECT_EQ(server.requests().size(), 20U);
  EXPECT_EQ(server.connections(), 1U);
}

TEST(D1Http, GivesAnyAnswerThatCameWholeAsItCame) {
  RawHttpServer server([](RawConnection& connection) {
    for (const int status : {200, 204, 400, 401, 413, 429, 500, 502, 504}) {
      connection.read_request();
      connection.answer(status, status == 204 ? "" : "<html>no</html>");
    }
  });
  D1Http http(http_options(server.port()));
  for (const int status : {200, 204, 400, 401, 413, 429, 500, 502}) {
    const HttpAnswer answer = post(http);
    EXPECT_TRUE(answer.transport.is_ok()) << answer.transport.to_string();
    EXPECT_EQ(answer.http_status, status);
    EXPECT_EQ(answer.body, status == 204 ? "" : "<html>no</html>");
  }
}

TEST(D1Http, SendsTwoMegabytesWithoutAskingFirst) {
  RawHttpServer server(always(200, kAnswer));
  D1Http http(http_options(server.port()));
  const std::string body(2'000'000, 'x');
  ASSERT_TRUE(post(http, body).transport.is_ok());
  EXPECT_EQ(server.requests().at(0).body, body);
  EXPECT_EQ(server.requests().at(0).header("expect"), "");
}

TEST(D1Http, TakesALargeAnswerAndRefusesATooLargeOne) {
  const std::string large(3'000'000, 'x');
  RawHttpServer server(always(200, large));
  D1HttpOptions options = http_options(server.port());
  options.transfer.answer_bytes_max = large.size();
  D1Http enough(options);
  EXPECT_EQ(post(enough).body, large);

  options.transfer.answer_bytes_max = large.size() - 1;
  D1Http not_enough(options);
  const HttpAnswer answer = post(not_enough);
  expect_failure(answer, StatusCode::kTooBig, Execution::kMaybe);
  EXPECT_THAT(answer.transport.message(), HasSubstr("larger than 2999999 bytes"));
}

TEST(D1Http, EndsABodyThatHasNoLengthAndNoEnd) {
  RawHttpServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.send(std::string(65536, 'x'))) {
    }
  });
  D1HttpOptions options = http_options(server.port());
  options.transfer.answer_bytes_max = 10'000'000;
  D1Http http(options);
  expect_failure(post(http), StatusCode::kTooBig, Execution::kMaybe);
}

// Where a request may go.

class D1HttpRedirect : public ::testing::TestWithParam<int> {};

TEST_P(D1HttpRedirect, IsNotFollowed) {
  RawHttpServer other(always(200, kAnswer));
  RawHttpServer server(
      always(GetParam(), "", "Location: " + other.url("/x?token=SECRET#SECRET") + "\r\n"));
  D1Http http(http_options(server.port()));
  const HttpAnswer answer = post(http);
  expect_failure(answer, StatusCode::kConfig, Execution::kNo);
  EXPECT_EQ(answer.transport.http_status(), GetParam());
  EXPECT_THAT(answer.transport.message(),
              HasSubstr("redirects to 127.0.0.1:" + std::to_string(other.port()) + " (HTTP"));
  EXPECT_EQ(other.connections(), 0U);
  EXPECT_EQ(server.requests().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(D1Http, D1HttpRedirect, ::testing::Range(300, 309));

TEST(D1Http, SaysSoWhenARedirectLeadsNowhere) {
  RawHttpServer server(always(302, ""));
  D1Http http(http_options(server.port()));
  EXPECT_THAT(post(http).transport.message(), HasSubstr("redirects elsewhere (HTTP 302)"));
}

TEST(D1Http, ShowsNoPartOfTheTokenWhereTheHostOfARedirectIsCut) {
  std::size_t before = 0;
  RawHttpServer server([&before](RawConnection& connection) {
    while (connection.read_request()) {
      const std::string host = std::string(before, 'x') + kToken + ".net";
      connection.answer(302, "", "Location: https://" + host + "/\r\n");
    }
  });
  D1Http http(http_options(server.port()));
  for (before = 240; before < 255; ++before) {
    EXPECT_THAT(post(http).transport.message(), Not(HasSubstr("xa"))) << before;
  }
}

TEST(D1Http, AsksNoProxyForLoopback) {
  RawHttpServer proxy(always(200, "from the proxy"));
  const ScopedEnvironment environment({{"http_proxy", proxy.url()},
                                       {"https_proxy", proxy.url()},
                                       {"ALL_PROXY", proxy.url()},
                                       {"no_proxy", ""}});
  RawHttpServer server(always(200, kAnswer));
  D1Http http(http_options(server.port()));
  EXPECT_EQ(post(http).body, kAnswer);
  EXPECT_EQ(proxy.connections(), 0U);
}

D1HttpOptions options_for_elsewhere() {
  D1HttpOptions options = http_options(443);
  options.peer = "d1.test:443";
  options.transfer.url = "https://d1.test/client/v4/raw";
  options.transfer.must_go_direct = false;
  return options;
}

TEST(D1Http, GoesThroughTheProxyOfTheEnvironmentElsewhereAndKeepsTheTokenFromIt) {
  RawHttpServer proxy(always(403, "<html>no</html>"));
  const ScopedEnvironment environment({{"https_proxy", proxy.url()}, {"no_proxy", ""}});
  D1Http http(options_for_elsewhere());
  expect_failure(post(http), StatusCode::kTransient, Execution::kNo);
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0].head,
              AllOf(HasSubstr("CONNECT d1.test:443"), Not(HasSubstr("SECRET"))));
}

TEST(D1Http, NamesAProxyThatIsNotThere) {
  const std::string port = std::to_string(closed_port());
  const ScopedEnvironment environment(
      {{"https_proxy", "http://127.0.0.1:" + port}, {"no_proxy", ""}});
  D1Http http(options_for_elsewhere());
  const HttpAnswer answer = post(http);
  expect_failure(answer, StatusCode::kTransient, Execution::kNo);
  EXPECT_THAT(answer.transport.message(),
              AllOf(HasSubstr("cannot reach d1.test:443"), HasSubstr("127.0.0.1 port " + port)));
}

TEST(D1Http, ShowsNothingOfAProxysUserAndPassword) {
  const std::string at = "@127.0.0.1:" + std::to_string(closed_port());
  const struct {
    std::string url;
    StatusCode code;
  } cases[] = {
      {"http://user:p#SECRET" + at, StatusCode::kConfig},
      {"ftp://user:SECRET" + at, StatusCode::kConfig},
      {"http://user:1/SECRET" + at, StatusCode::kTransient},
      {"http://SECRET/user" + at, StatusCode::kTransient},
      {"http://user:SECRET" + at, StatusCode::kTransient},
  };
  for (const auto& each : cases) {
    const ScopedEnvironment environment({{"https_proxy", each.url}, {"no_proxy", ""}});
    D1Http http(options_for_elsewhere());
    const HttpAnswer answer = post(http);
    expect_failure(answer, each.code, Execution::kNo);
    EXPECT_THAT(answer.transport.message(), Not(HasSubstr("user port"))) << each.url;
  }
}

// No file descriptor can be had but the three that every program has, whoever closes one meanwhile.
class NoFileDescriptor {
 public:
  NoFileDescriptor() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = STDERR_FILENO + 1;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoFileDescriptor(const NoFileDescriptor&) = delete;
  NoFileDescriptor& operator=(const NoFileDescriptor&) = delete;
  ~NoFileDescriptor() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(D1Http, SaysThatNoFileDescriptorIsFree) {
  if (testing::kHasSanitizer) {
    GTEST_SKIP() << "the check of virtual calls opens pipes of its own";
  }
  RawHttpServer server(always(200, kAnswer, "Connection: close\r\n"));
  D1Http http(http_options(server.port()));
  ASSERT_TRUE(post(http).transport.is_ok());
  const NoFileDescriptor none;
  const HttpAnswer answer = post(http);
  expect_failure(answer, StatusCode::kTransient, Execution::kNo);
  EXPECT_THAT(answer.transport.message(), HasSubstr("no file descriptor is free"));
}

TEST(D1Http, LeavesNoSocketOpenForProgramsThatAreStarted) {
  RawHttpServer server(always(200, kAnswer));
  D1Http http(http_options(server.port()));
  ASSERT_TRUE(post(http).transport.is_ok());
  const std::vector<int> sockets = testing::sockets_to(server.port());
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_EQ(::fcntl(sockets[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// What breaks.

TEST(D1Http, SaysThatNothingWasExecutedWhenNobodyListens) {
  const std::uint16_t port = closed_port();
  D1Http http(http_options(port));
  const HttpAnswer answer = post(http);
  expect_failure(answer, StatusCode::kTransient, Execution::kNo);
  EXPECT_THAT(answer.transport.message(),
              HasSubstr("cannot reach 127.0.0.1:" + std::to_string(port)));
}

TEST(D1Http, SaysThatAllMayHaveBeenExecutedWhenTheAnswerIsCutOrDoesNotCome) {
  const std::string_view answers[] = {
      "",                                                 // An end without an answer.
      "HTTP/1.1 200 OK\r\nConte",                         // In the headers.
      "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",  // In the body.
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\"",
      "SSH-2.0-OpenSSH_9.2\r\n",
  };
  for (const bool is_reset : {false, true}) {
    for (const std::string_view bytes : answers) {
      RawHttpServer server([&](RawConnection& connection) {
        connection.read_request();
        connection.send(bytes);
        if (is_reset) {
          connection.close_by_reset();
        }
      });
      D1Http http(http_options(server.port()));
      expect_failure(post(http), StatusCode::kLost, Execution::kMaybe);
      EXPECT_EQ(server.requests().size(), 1U) << bytes;
    }
  }
}

TEST(D1Http, KeepsWhatACutAnswerAsksToWait) {
  for (const char* head : {"HTTP/1.1 503 X\r\nRetry-After: 6\r\nContent-Length: 500\r\n\r\n{\"succ",
                           "HTTP/1.1 503 X\r\nRetry-After: 6\r\nX-Cut",
                           "HTTP/1.1 302 X\r\nRetry-After: 6\r\nContent-Length: 0\r\n\r\n"}) {
    RawHttpServer server([head](RawConnection& connection) {
      connection.read_request();
      connection.send(head);
    });
    D1Http http(http_options(server.port()));
    EXPECT_EQ(post(http).transport.retry_after(), seconds(6)) << head;
  }
}

TEST(D1Http, IsSureThatNothingWasExecutedOfABodyThatWasNotTakenWhole) {
  RawHttpServer server([](RawConnection& connection) { connection.close_by_reset(); });
  D1Http http(http_options(server.port()));
  expect_failure(post(http, huge_body()), StatusCode::kTransient, Execution::kNo);
}

TEST(D1Http, GivesTheAnswerThatComesBeforeAllWasSent) {
  RawHttpServer server([](RawConnection& connection) {
    connection.answer(413, "too large", "Connection: close\r\n");
    connection.wait_for_end();
  });
  D1Http http(http_options(server.port()));
  const HttpAnswer answer = post(http, huge_body());
  ASSERT_TRUE(answer.transport.is_ok()) << answer.transport.to_string();
  EXPECT_EQ(answer.http_status, 413);
}

// libcurl by itself would send it again over a second connection and tell of a success.
TEST(D1Http, SendsNothingTwiceWhenAKeptConnectionBreaksAfterTheRequest) {
  for (const std::size_t size : {20U, 100'000U, 3'000'000U}) {
    for (const bool is_reset : {false, true}) {
      RawHttpServer server([&](RawConnection& connection) {
        connection.read_request();
        connection.answer(200, kAnswer);
        if (connection.read_request() && is_reset) {
          connection.close_by_reset();
        }
      });
      D1Http http(http_options(server.port()));
      ASSERT_TRUE(post(http).transport.is_ok());
      const HttpAnswer answer = post(http, std::string(size, 'x'));
      expect_failure(answer, StatusCode::kLost, Execution::kMaybe);
      EXPECT_EQ(server.requests().size(), 2U) << size;
      EXPECT_TRUE(post(http).transport.is_ok());  // And goes on over a new one.
    }
  }
}

TEST(D1Http, TakesANewConnectionWhenTheServerHasClosedTheIdleOne) {
  RawHttpServer server([](RawConnection& connection) {
    connection.read_request();
    connection.answer(200, kAnswer);  // And closes it, without saying so in a header.
  });
  D1Http http(http_options(server.port()));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(post(http).transport.is_ok());
    testing::await_close_by(server.port());
  }
  EXPECT_EQ(server.requests().size(), 20U);
}

// Each connection takes one request more than it answers, as where it is closed a moment after an
// answer: every second request would be lost.
TEST(D1Http, KeepsNoConnectionForAWhileOnceAKeptOneHasBroken) {
  RawHttpServer server([](RawConnection& connection) {
    connection.read_request();
    connection.answer(200, kAnswer);
    connection.read_request();
  });
  D1Http http(http_options(server.port()));
  ASSERT_TRUE(post(http).transport.is_ok());
  expect_failure(post(http), StatusCode::kLost, Execution::kMaybe);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(post(http).transport.is_ok());
  }
  EXPECT_EQ(server.requests().size(), 7U) << "none was sent again";
}

TEST(D1Http, MakesANewConnectionAfterThreeFailures) {
  RawHttpServer server(always(500, "no"));
  D1Http http(http_options(server.port()));
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(post(http).http_status, 500);
  }
  EXPECT_EQ(server.connections(), 3U);
}

// What is not begun.

TEST(D1Http, SendsNothingWhenItIsTooLateOrCancelled) {
  RawHttpServer server(always(200, kAnswer));
  D1Http http(http_options(server.port()));
  std::stop_source source;
  source.request_stop();
  expect_failure(post(http, "{}", seconds(1), source.get_token()), StatusCode::kCancelled,
                 Execution::kNo);
  expect_failure(post(http, "{}", seconds(0)), StatusCode::kCancelled, Execution::kNo);
  expect_failure(post(http, "{}", seconds(-1)), StatusCode::kCancelled, Execution::kNo);
  expect_failure(http.post("{}", SteadyTime::min(), {}), StatusCode::kCancelled, Execution::kNo);
  EXPECT_EQ(server.connections(), 0U);
}

}  // namespace
}  // namespace spillway
