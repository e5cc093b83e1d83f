// SPDX-License-Identifier: MIT
//
// Goal: a child that inherits a client neither uses nor ends its parent's connection.
// Method: fork with a connection that is kept, over plain TCP and over TLS, where a goodbye of the
// child's would end the parent's session.
#include "d1/d1_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/children.h"
#include "tests/d1/d1_http_fixture.h"
#include "tests/d1/self_signed.h"
#include "tests/d1/tls_session.h"

#include <memory>
#include <string>

namespace spillway {
namespace {

using testing::http_options;
using testing::post;
using testing::RawHttpServer;

std::string outcome_of(const HttpAnswer& answer) {
  return answer.transport.is_ok() ? "ok" : answer.transport.to_string();
}

TEST(D1HttpFork, TheChildMakesAConnectionOfItsOwn) {
  RawHttpServer server(testing::always(200, "{}"));
  D1Http http(http_options(server.port()));
  ASSERT_EQ(outcome_of(post(http, "parent 1")), "ok");
  const auto answers =
      testing::run_children(2, [&](int) { return outcome_of(post(http, "child")); });
  EXPECT_THAT(answers, ::testing::Each("ok"));
  ASSERT_EQ(outcome_of(post(http, "parent 2")), "ok");
  EXPECT_EQ(server.connections(), 3U);
  for (const testing::RawRequest& request : server.requests()) {
    EXPECT_EQ(request.connection == 0, request.body != "child") << request.body;
  }
}

// Else the server would not notice that the parent has closed it.
TEST(D1HttpFork, TheChildKeepsNoSocketOfItsParents) {
  RawHttpServer server(testing::always(200, "{}"));
  auto http = std::make_unique<D1Http>(http_options(server.port()));
  ASSERT_EQ(outcome_of(post(*http)), "ok");
  const auto count = [&] { return std::to_string(testing::sockets_to(server.port()).size()); };
  const auto after_destroying = testing::run_children(1, [&](int) {
    const std::string before = count();
    http.reset();
    return before + " then " + count();
  });
  EXPECT_THAT(after_destroying, ::testing::ElementsAre("1 then 0"));
  const auto after_a_request =
      testing::run_children(1, [&](int) { return outcome_of(post(*http)) + " with " + count(); });
  EXPECT_THAT(after_a_request, ::testing::ElementsAre("ok with 1"));
  EXPECT_EQ(outcome_of(post(*http)), "ok");
  EXPECT_EQ(server.connections(), 2U);
}

TEST(D1HttpFork, WhatTheChildDestroysStaysOpenForItsParent) {
  const testing::SelfSigned identity("IP:127.0.0.1");
  RawHttpServer server(testing::always_over_tls(identity));
  D1HttpOptions options = http_options(server.port());
  options.transfer.url = "https://" + options.peer + "/raw";
  options.transfer.ca_file = identity.certificate_file();
  auto http = std::make_unique<D1Http>(options);
  ASSERT_EQ(outcome_of(post(*http)), "ok");
  const auto answers = testing::run_children(1, [&](int) {
    http.reset();
    return std::string("done");
  });
  EXPECT_THAT(answers, ::testing::ElementsAre("done"));
  EXPECT_EQ(outcome_of(post(*http)), "ok");
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.connections(), 1U);
}

}  // namespace
}  // namespace spillway
