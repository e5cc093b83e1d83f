// SPDX-License-Identifier: MIT
//
// RealD1: the real D1 engine for tests. gateway/ runs it on 127.0.0.1; see its README.
//
//     RealD1* const d1 = RealD1::of_this_program();
//     if (d1 == nullptr) GTEST_SKIP() << RealD1::absence();
//
// It takes Node and what `./dev gateway` installs. A machine without them skips the test; where
// SPILLWAY_REQUIRE_REAL_D1 is set, as in `./dev ci`, that is a failure. CTest runs each test in a
// process of its own, and starting the engine takes about a second: register the file with
// ONE_PROCESS, and all its tests share one engine.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

namespace spillway::testing {

class Subprocess;

class RealD1 {
 public:
  /// Databases that one program can take; each makes the start 10 ms longer.
  static constexpr int kDatabasesMax = 128;

  /// The engine of this program: started by the first call, stopped at the end of the program,
  /// also when that is killed. Null where there is none; if there should be, the current test has
  /// failed then. Call it from a test, in the thread that runs it.
  [[nodiscard]] static RealD1* of_this_program();
  /// Why there is none, and how to get it.
  [[nodiscard]] static std::string absence();

  RealD1(const RealD1&) = delete;
  RealD1& operator=(const RealD1&) = delete;
  ~RealD1();

  /// As D1Options and CLOUDFLARE_API_BASE_URL take it: http://127.0.0.1:PORT/client/v4.
  [[nodiscard]] const std::string& base_url() const noexcept { return base_url_; }
  [[nodiscard]] const std::string& account_id() const noexcept { return account_id_; }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  /// The id of an empty database that nobody else in this program has.
  [[nodiscard]] std::string take_database();

 private:
  RealD1();

  std::string token_;
  std::string account_id_ = "test-account";
  std::string base_url_;
  std::unique_ptr<Subprocess> process_;
  pid_t owner_;
  int databases_taken_ = 0;
};

}  // namespace spillway::testing
