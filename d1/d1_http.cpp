// SPDX-License-Identifier: MIT
#include "d1/d1_http.h"

#include "base/one_line.h"
#include "d1/base_url.h"
#include "d1/curl_failure.h"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace spillway {
namespace {

constexpr int kHttpServerError = 500;

// After so many the name is looked up anew and another connection made: what we talk to may no
// longer be what answers to that name.
constexpr int kFailuresOfConnectionMax = 3;

bool is_redirect(int http_status) noexcept { return http_status >= 300 && http_status < 400; }

// The host alone: the rest of the address may hold what is nobody's business.
std::string redirect_target(const std::string& location) {
  constexpr std::size_t kNameBytesMax = 253;  // Of a name in DNS.
  const std::string peer = peer_of_url(location);
  return peer.empty() ? "elsewhere" : "to " + one_line(peer.substr(0, kNameBytesMax));
}

Status refused_redirect(const TransferOutcome& outcome, const std::string& peer) {
  return Status(StatusCode::kConfig, peer + " redirects " +
                                         redirect_target(outcome.headers.location()) + " (HTTP " +
                                         std::to_string(outcome.http_status) +
                                         "); the token is not sent on, correct the base URL")
      .with_http_status(outcome.http_status);
}

HttpAnswer not_sent(StatusCode code, const char* why) { return {.transport = Status(code, why)}; }

}  // namespace

D1Http::~D1Http() { abandon_parents_transfer(); }

HttpAnswer D1Http::post(const std::string& body, SteadyTime end, const std::stop_token& cancel) {
  const SteadyTime now = options_.clock->steady_now();
  if (cancel.stop_requested()) {
    return not_sent(StatusCode::kCancelled, "cancelled before anything was sent");
  }
  if (end <= now) {  // Asked before subtracting: the earliest of all times has no distance.
    return not_sent(StatusCode::kCancelled, "the deadline had passed before anything was sent");
  }
  if (Status status = connect(); !status.is_ok()) {
    return {.transport = std::move(status)};
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
  HttpAnswer result = answer(transfer_->post(body, left, cancel));
  count(result);
  return result;
}

/// Makes what sends; the connection itself comes with the first request.
Status D1Http::connect() {
  abandon_parents_transfer();
  if (failures_in_a_row_ >= kFailuresOfConnectionMax) {
    transfer_.reset();
    failures_in_a_row_ = 0;
  }
  if (transfer_) {
    return {};
  }
  auto made = CurlTransfer::make(options_.transfer);
  if (!made) {
    return made.error();
  }
  transfer_ = *std::move(made);
  transfer_pid_ = ::getpid();
  return {};
}

HttpAnswer D1Http::answer(TransferOutcome outcome) {
  HttpAnswer answer;
  answer.transport = transport_status(outcome, options_.peer);
  if (!answer.transport.is_ok()) {
    return answer;
  }
  const WallTime now = options_.clock->wall_now();
  rate_limit_ = outcome.headers.rate_limit(now);
  if (is_redirect(outcome.http_status)) {
    answer.transport = refused_redirect(outcome, options_.peer);
    return answer;
  }
  answer.http_status = outcome.http_status;
  answer.retry_after = outcome.headers.retry_after(now);
  answer.body = std::move(outcome.body);
  return answer;
}

void D1Http::count(const HttpAnswer& answer) {
  const bool is_failure = !answer.transport.is_ok() || answer.http_status >= kHttpServerError;
  failures_in_a_row_ = is_failure ? failures_in_a_row_ + 1 : 0;
}

// In a forked child: closing the parent's connection in an orderly way (a TLS goodbye) would end it
// for the parent too.
void D1Http::abandon_parents_transfer() noexcept {
  if (transfer_ && transfer_pid_ != ::getpid()) {
    CurlTransfer::abandon(*transfer_.release());  // Leaked.
  }
}

}  // namespace spillway
