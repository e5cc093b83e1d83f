// SPDX-License-Identifier: MIT
//
// Goal: clients come and go in many threads without harm to each other or to an application that
// uses libcurl itself.
// Method: 16 threads make, use and destroy clients while others transfer by libcurl alone, which is
// to work afterwards too. The sanitizers look on.
#include <curl/curl.h>
#include <gtest/gtest.h>

#include "d1/d1_http.h"
#include "tests/d1/d1_http_fixture.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace spillway {
namespace {

using testing::http_options;
using testing::post;
using testing::RawHttpServer;

constexpr std::size_t kThreads = 16;
constexpr std::size_t kClientsPerThread = 25;
constexpr std::size_t kRequestsPerClient = 2;

std::size_t discard(char*, std::size_t size, std::size_t count, void*) { return size * count; }

CURLcode transfer_of_the_application(const std::string& url) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &discard);
  return curl_easy_perform(easy.get());
}

TEST(D1HttpThreads, ComeAndGoBesideTheApplicationsOwnTransfers) {
  RawHttpServer server(testing::always(200, "{}"));
  std::atomic<bool> is_over = false;
  std::vector<std::thread> application;
  application.reserve(2);
  for (int i = 0; i < 2; ++i) {
    application.emplace_back([&] {
      do {
        EXPECT_EQ(transfer_of_the_application(server.url("/own")), CURLE_OK);
      } while (!is_over);
    });
  }
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::size_t client = 0; client < kClientsPerThread; ++client) {
        D1Http http(http_options(server.port()));
        for (std::size_t request = 0; request < kRequestsPerClient; ++request) {
          const HttpAnswer answer = post(http);
          EXPECT_TRUE(answer.transport.is_ok()) << answer.transport.to_string();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  is_over = true;
  for (std::thread& thread : application) {
    thread.join();
  }
  std::size_t posts = 0;
  for (const testing::RawRequest& request : server.requests()) {
    posts += request.head.starts_with("POST") ? 1U : 0U;
  }
  EXPECT_EQ(posts, kThreads * kClientsPerThread * kRequestsPerClient);
  EXPECT_EQ(transfer_of_the_application(server.url("/own")), CURLE_OK);
}

}  // namespace
}  // namespace spillway
