// SPDX-License-Identifier: MIT
#include "tests/support/real_d1.h"

#include <gtest/gtest.h>

#include "tests/support/subprocess.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string_view>

namespace spillway::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// Generous: it takes one second, but a machine under load may take many.
constexpr seconds kStartTimeout{60};
constexpr seconds kStopTimeout{20};
constexpr std::string_view kReady = "ready ";

const fs::path& gateway() {
  static const fs::path folder(SPILLWAY_GATEWAY_FOLDER);
  return folder;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): tests set none
  return value == nullptr ? std::string() : value;
}

bool is_installed() { return fs::exists(gateway() / "node_modules/miniflare/package.json"); }

std::string random_token() {
  std::random_device source;
  return "test-token-" + std::to_string(source()) + std::to_string(source());
}

std::unique_ptr<Subprocess> start(const std::string& token) {
  return std::make_unique<Subprocess>(ProcessOptions{
      .argv = {RealD1::node(), "local.mjs", "--databases", std::to_string(RealD1::kDatabasesMax)},
      .env = {{"GATEWAY_TOKEN", token}},
      .working_directory = gateway(),
  });
}

// Fatal, so that GoogleTest leaves the body of the test alone: a test that fails and is then
// skipped counts as not skipped.
void fail(const std::string& why) { FAIL() << why; }

// What follows "ready " on its line, or nothing if it does not come so far. The line is written at
// once.
std::string url_of(const Subprocess& process) {
  if (!process.wait_for_text(kReady, kStartTimeout) || !process.out().starts_with(kReady)) {
    return {};
  }
  const std::string out = process.out();
  return out.substr(kReady.size(), out.find('\n') - kReady.size());
}

}  // namespace

bool RealD1::is_available() {
  const std::string why_not = absence();
  if (!why_not.empty() && !variable("SPILLWAY_REQUIRE_REAL_D1").empty()) {
    fail(why_not);
  }
  return why_not.empty();
}

std::string RealD1::absence() {
  if (node().empty()) {
    return "there is no `node` for D1's real engine; ./dev gateway installs it";
  }
  return is_installed() ? "" : "D1's real engine is not installed; ./dev gateway does that";
}

std::string RealD1::node() {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / "node";
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return {};
}

RealD1* RealD1::of_this_program() {
  if (!is_available()) {
    return nullptr;
  }
  static RealD1 engine;
  if (engine.base_url_.empty()) {
    fail("D1's real engine does not start: " + engine.process_->err());
    return nullptr;
  }
  return &engine;
}

RealD1::RealD1() : token_(random_token()), process_(start(token_)), owner_(getpid()) {
  base_url_ = url_of(*process_);
}

RealD1::~RealD1() {
  if (getpid() != owner_) {
    // A child that a test has forked: the engine is its parent's.
    static_cast<void>(process_.release());
    return;
  }
  process_->send_signal(SIGTERM);
  if (process_->wait(kStopTimeout, Subprocess::Stdin::kKeepOpen).has_timed_out) {
    static_cast<void>(std::fputs("RealD1: the engine did not end when told to\n", stderr));
  }
}

std::string RealD1::take_database() {
  if (databases_taken_ == kDatabasesMax) {
    static_cast<void>(std::fputs("RealD1: no database is left; raise kDatabasesMax\n", stderr));
    std::abort();
  }
  const std::string number = std::to_string(databases_taken_++);
  return "00000000-0000-4000-8000-" + std::string(12 - number.size(), '0') + number;
}

}  // namespace spillway::testing
