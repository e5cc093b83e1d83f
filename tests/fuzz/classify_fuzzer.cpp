// SPDX-License-Identifier: MIT
//
// Any text as D1's error: the class does not depend on the prefixes and tails that come and go, and
// the message is fit to be shown.
#include "d1/classify.h"
#include "tests/fuzz/invariant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace spillway::fuzz {
namespace {

constexpr int kHttpStatuses[] = {200, 301, 400, 401, 403, 404, 413, 429, 500, 502, 504};

Status classified(const std::string& message, int http_status) {
  return classify({.errors = {{7500, message}}, .http_status = http_status});
}

void require_same_class(const Status& a, const Status& b, const char* promise) {
  require(a.code() == b.code() && a.execution() == b.execution() &&
              a.is_lasting() == b.is_lasting() && a.sqlite_code() == b.sqlite_code(),
          promise);
}

void require_fit_to_be_shown(const Status& status) {
  const std::string& message = status.message();
  require(!message.empty() && message.size() <= 256, "a message is short and never empty");
  require(std::none_of(message.begin(), message.end(),
                       [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }),
          "a message is one line");
  require(message.find("<html") == std::string::npos, "a message holds no HTML");
}

void run(const std::string& message, int http_status) {
  const Status status = classified(message, http_status);
  require(!status.is_ok(), "a failure is never a success");
  require(status.code() != StatusCode::kLost || status.execution() == Execution::kMaybe,
          "what is lost may have been executed");
  require_fit_to_be_shown(status);
  require_same_class(status, classified("D1_ERROR: " + message, http_status),
                     "a prefix changes nothing");
  require_same_class(status, classified("Error: NOSENTRY " + message, http_status),
                     "two prefixes change nothing");
  require_same_class(status, classified(message + " [code: 7500]", http_status),
                     "a tail changes nothing");
}

}  // namespace
}  // namespace spillway::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  if (size == 0) {
    return 0;
  }
  const int http_status =
      spillway::fuzz::kHttpStatuses[data[0] % std::size(spillway::fuzz::kHttpStatuses)];
  spillway::fuzz::run(std::string(data + 1, data + size), http_status);
  return 0;
}
