// SPDX-License-Identifier: MIT
#include "tests/support/d1_fault.h"

#include "base/random.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace spillway::testing {
namespace {

// The first word of a statement, in capitals. Comments in front of it do not occur in our tests.
std::string first_word(std::string_view sql) {
  std::string word;
  for (const char letter : sql.substr(std::min(sql.size(), sql.find_first_not_of(" \t\r\n")))) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) {
      break;
    }
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return word;
}

std::string envelope(int code, std::string_view message) {
  std::string json = R"({"result":[],"success":false,"errors":[{"code":)" + std::to_string(code);
  json += R"(,"message":)";
  append_js_text(message, json);
  return json + R"(}],"messages":[]})";
}

}  // namespace

std::string D1Request::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return header.first.size() == name.size() &&
           strncasecmp(header.first.data(), name.data(), name.size()) == 0;
  });
  return found == headers.end() ? std::string() : found->second;
}

bool D1Request::is_read_only() const {
  constexpr std::array<std::string_view, 5> kReading = {"SELECT", "VALUES", "WITH", "PRAGMA",
                                                        "EXPLAIN"};
  return std::all_of(statements.begin(), statements.end(), [&](const D1Statement& statement) {
    return std::find(kReading.begin(), kReading.end(), first_word(statement.sql)) != kReading.end();
  });
}

D1Fault D1Fault::error(int status, int code, std::string_view message) {
  return answer({status, envelope(code, message)}).named("error");
}

// Source of the status: the release notes of D1, 2024-06-17.
D1Fault D1Fault::overloaded() {
  return error(429, 7500, "D1 DB is overloaded. Too many requests queued.").named("overloaded");
}

D1Fault D1Fault::rate_limited(std::string retry_after) {
  D1Fault fault = error(429, 971, "Please wait and consider throttling your request speed");
  if (!retry_after.empty()) {
    fault.headers.emplace_back("Retry-After", std::move(retry_after));
  }
  return fault.named("rate_limited");
}

D1Fault D1Fault::answer(D1Reply reply) {
  return {.name = "answer", .run = Run::kNever, .reply = std::move(reply)};
}

D1Fault D1Fault::redirect(int status, std::string location) {
  return answer({status, ""}).with_header("Location", std::move(location)).named("redirect");
}

D1Fault D1Fault::echo() {
  D1Fault fault = error(401, 10000, "Authentication error").named("echo");
  fault.does_echo = true;
  return fault;
}

D1Fault D1Fault::masked(D1Reply reply) { return {.name = "masked", .reply = std::move(reply)}; }

D1Fault D1Fault::late(D1Reply reply) {
  return {.name = "late", .run = Run::kLater, .reply = std::move(reply)};
}

D1Fault D1Fault::lost_before(Leave leave) {
  return {.name = "lost_before", .run = Run::kNever, .leave = leave};
}

D1Fault D1Fault::lost_after(Leave leave) { return {.name = "lost_after", .leave = leave}; }

D1Fault D1Fault::cut(std::size_t bytes) {
  return {.name = "cut", .leave = Leave::kCut, .bytes = bytes};
}

D1Fault D1Fault::slow(std::chrono::milliseconds interval) {
  return {.name = "slow", .leave = Leave::kSlow, .interval = interval};
}

D1Fault D1Fault::endless(std::chrono::milliseconds interval) {
  return {.name = "endless", .leave = Leave::kEndless, .interval = interval};
}

D1Fault D1Fault::hang(Run run) { return {.name = "hang", .run = run, .leave = Leave::kHang}; }

D1Fault D1Fault::not_atomic() { return {.name = "not_atomic", .extent = {.is_atomic = false}}; }

D1Fault D1Fault::held(Hold where) const {
  D1Fault copy = *this;
  copy.hold = where;
  return copy;
}

D1Fault D1Fault::delayed(Hold where, std::chrono::milliseconds time) const {
  D1Fault copy = held(where);
  copy.hold_time = time;
  return copy;
}

D1Fault D1Fault::with_header(std::string header, std::string value) const {
  D1Fault copy = *this;
  copy.headers.emplace_back(std::move(header), std::move(value));
  return copy;
}

D1Fault D1Fault::only_first(std::size_t count) const {
  D1Fault copy = *this;
  copy.extent.statements_max = count;
  return copy;
}

D1Fault D1Fault::named(std::string new_name) const {
  D1Fault copy = *this;
  copy.name = std::move(new_name);
  return copy;
}

D1Reply html_reply(int status) {
  return {status,
          "<!DOCTYPE html>\n<html><head><title>" + std::to_string(status) +
              "</title></head><body><h1>Something between us went wrong</h1>" +
              std::string(6000, ' ') + "</body></html>\n",
          "text/html"};
}

D1Rule refuse_writes(D1Fault fault) {
  return [fault = std::move(fault)](const D1Request& request) {
    return request.is_read_only() ? D1Fault::pass() : fault;
  };
}

D1Rule by_chance(std::uint64_t seed, std::vector<D1Share> shares) {
  const auto state = std::make_shared<std::uint64_t>(seed);  // A std::function is copied.
  return [state, shares = std::move(shares)](const D1Request& /*request*/) {
    double left = next_unit_random(*state);
    for (const D1Share& share : shares) {
      left -= share.share;
      if (left < 0) {
        return share.fault;
      }
    }
    return D1Fault::pass();
  };
}

}  // namespace spillway::testing
