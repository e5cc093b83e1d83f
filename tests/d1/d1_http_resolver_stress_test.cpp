// SPDX-License-Identifier: MIT
//
// Goal: a name server that knows nothing or is silent delays nobody beyond his own time, and raises
// no signal.
// Method: this program has a getaddrinfo of its own, which libcurl then calls.
#include "d1/d1_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/d1/d1_http_fixture.h"
#include "tests/support/sanitizers.h"

#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The name server that does not answer until it is told to.
struct SilentServer {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_released = false;
  int asked = 0;
  int answered = 0;

  void wait() {
    std::unique_lock lock(mutex);
    ++asked;
    changed.wait(lock, [this] { return is_released; });
    ++answered;
    changed.notify_all();
  }
  void release_and_await_all() {
    std::unique_lock lock(mutex);
    is_released = true;
    changed.notify_all();
    changed.wait(lock, [this] { return answered == asked; });
  }
};

SilentServer& silent_server() {
  static SilentServer* const server = new SilentServer;  // Threads of libcurl may outlive main.
  return *server;
}

}  // namespace
}  // namespace spillway

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string_view host = name == nullptr ? "" : name;
  if (host == "silent.test") {
    spillway::silent_server().wait();
    return EAI_AGAIN;
  }
  return host == "unknown.test" ? EAI_NONAME : real(name, service, hints, result);
}

namespace spillway {
namespace {

D1HttpOptions options_for(const std::string& host) {
  D1HttpOptions options = testing::http_options(443);
  options.peer = host + ":443";
  options.transfer.url = "https://" + options.peer + "/raw";
  return options;
}

TEST(D1HttpResolver, ANameThatNobodyKnowsIsNamed) {
  D1Http http(options_for("unknown.test"));
  const Status status = testing::post(http).transport;
  EXPECT_EQ(status.code(), StatusCode::kTransient) << status.to_string();
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("cannot reach unknown.test:443"), HasSubstr("resolve")));
}

TEST(D1HttpResolver, ASilentNameServerHoldsNobodyUpAndRaisesNoSignal) {
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGALRM, nullptr, &before), 0);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      D1Http http(options_for("silent.test"));
      const auto begin = steady_clock::now();
      const Status status = testing::post(http, "{}", milliseconds(200)).transport;
      const auto time = steady_clock::now() - begin;
      EXPECT_EQ(status.code(), StatusCode::kTransient) << status.to_string();
      EXPECT_EQ(status.execution(), Execution::kNo);
      EXPECT_GE(time, milliseconds(190));
      if (!testing::kHasSanitizer) {
        EXPECT_LT(time, milliseconds(1200));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  struct sigaction after {};
  ASSERT_EQ(::sigaction(SIGALRM, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  EXPECT_EQ(::alarm(0), 0U);
}

TEST(D1HttpResolver, ACancelDoesNotWaitForASilentNameServer) {
  D1Http http(options_for("silent.test"));
  std::stop_source source;
  steady_clock::time_point cancelled;
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(50));
    cancelled = steady_clock::now();
    source.request_stop();
  });
  const Status status = testing::post(http, "{}", seconds(60), source.get_token()).transport;
  const auto ended = steady_clock::now();
  canceller.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.to_string();
  if (!testing::kHasSanitizer) {
    EXPECT_LT(ended - cancelled, milliseconds(500));  // About 1 ms on an idle machine.
  }
}

// Libcurl's threads clean up behind themselves when the server answers at last.
class ReleaseAtTheEnd : public ::testing::Environment {
 public:
  void TearDown() override { silent_server().release_and_await_all(); }
};

[[maybe_unused]] const ::testing::Environment* const kReleaser =
    ::testing::AddGlobalTestEnvironment(new ReleaseAtTheEnd);

}  // namespace
}  // namespace spillway
