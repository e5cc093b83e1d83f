// SPDX-License-Identifier: MIT
//
// D1Fault: what becomes of one request to the scripted D1, and the rules that choose one.
//
// A fault answers three questions: are the statements run, what is answered, and how do its bytes
// leave. So "lost after commit" is run, nothing, closed; "HTML after commit" is run, HTML, whole.
#pragma once

#include <spillway/clock.h>

#include "tests/support/d1_body.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway::testing {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// A request as it came in.
struct D1Request {
  SteadyTime arrived;
  int connection = 0;  ///< 1, 2, 3 … in the order in which they were opened.
  std::string method;
  std::string path;
  HttpHeaders headers;
  std::string body;
  std::vector<D1Statement> statements = {};
  std::string fault = {};  ///< The name of what became of it.

  /// The first header of that name, in any case; empty if there is none.
  [[nodiscard]] std::string header(std::string_view name) const;
  /// By the first word of its statements.
  [[nodiscard]] bool is_read_only() const;
};

struct D1Reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
};

struct D1Fault {
  enum class Run : std::uint8_t { kNow, kNever, kLater };
  enum class Leave : std::uint8_t {
    kWhole,
    kClose,    ///< The connection is closed, nothing was said.
    kReset,    ///< The same, with a TCP reset.
    kCut,      ///< Head and `bytes` of the body, then closed; Content-Length promised all of it.
    kSlow,     ///< The head, then a byte each `interval`.
    kEndless,  ///< A body that goes on, a byte each `interval`, until the client leaves.
    kHang,     ///< Nothing, until ScriptedD1::release; then closed.
  };
  enum class Hold : std::uint8_t { kNo, kBeforeRun, kAfterRun };

  std::string name = "pass";
  Run run = Run::kNow;
  D1Extent extent = {};
  /// In place of the true answer. Empty: the true one.
  std::optional<D1Reply> reply = {};
  HttpHeaders headers = {};  ///< In addition.
  bool does_echo = false;    ///< The request's headers go into the answer's message.
  Leave leave = Leave::kWhole;
  std::size_t bytes = 0;
  std::chrono::milliseconds interval{10};
  Hold hold = Hold::kNo;
  std::optional<std::chrono::milliseconds> hold_time = {};  ///< Empty: until ScriptedD1::release.

  /// The truth.
  static D1Fault pass() { return {}; }
  /// Not run; D1's error envelope.
  static D1Fault error(int status, int code, std::string_view message);
  /// Not run: "D1 DB is overloaded. Too many requests queued."
  static D1Fault overloaded();
  /// Not run; the account's rate limit, with Retry-After if it is not empty.
  static D1Fault rate_limited(std::string retry_after);
  /// Not run; this answer.
  static D1Fault answer(D1Reply reply);
  /// Not run; Location leads there.
  static D1Fault redirect(int status, std::string location);
  /// Not run: 401, with the request's headers in the message, as a careless proxy does it.
  static D1Fault echo();
  /// Run, but this is the answer.
  static D1Fault masked(D1Reply reply);
  /// Run only later, at ScriptedD1::run_late; this is the answer now.
  static D1Fault late(D1Reply reply);
  /// Read, then closed or reset, not run.
  static D1Fault lost_before(Leave leave = Leave::kClose);
  /// Run, then closed or reset.
  static D1Fault lost_after(Leave leave = Leave::kClose);
  /// Run; `bytes` of the body.
  static D1Fault cut(std::size_t bytes);
  static D1Fault slow(std::chrono::milliseconds interval);
  static D1Fault endless(std::chrono::milliseconds interval);
  /// Run or not, and never answered.
  static D1Fault hang(Run run);
  /// Run, each statement for itself: what was done before a failure stays.
  static D1Fault not_atomic();

  /// Copies with one thing changed.
  [[nodiscard]] D1Fault held(Hold where) const;
  [[nodiscard]] D1Fault delayed(Hold where, std::chrono::milliseconds time) const;
  [[nodiscard]] D1Fault with_header(std::string name, std::string value) const;
  /// No more than the first `count` statements are run.
  [[nodiscard]] D1Fault only_first(std::size_t count) const;
  [[nodiscard]] D1Fault named(std::string name) const;
};

[[nodiscard]] D1Reply html_reply(int status);

/// Chooses a fault for a request; called for one at a time, in the order in which they come.
using D1Rule = std::function<D1Fault(const D1Request&)>;

/// This fault for all requests that write.
[[nodiscard]] D1Rule refuse_writes(D1Fault fault);

struct D1Share {
  double share;  ///< Of 1.
  D1Fault fault;
};
/// Each request has one of the faults by chance, or none. The same seed gives the same faults.
[[nodiscard]] D1Rule by_chance(std::uint64_t seed, std::vector<D1Share> shares);

}  // namespace spillway::testing
