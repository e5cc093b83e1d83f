// SPDX-License-Identifier: MIT
#include "d1/d1_http.h"

#include "base/one_line.h"
#include "d1/api_token.h"
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

// The host alone: the rest of the address may hold what is nobody's business. The token goes before
// anything is cut, which might leave a part of it.
std::string redirect_target(const std::string& location, std::string_view token) {
  constexpr std::size_t kNameBytesMax = 253;  // Of a name in DNS.
  const std::string peer = without_token(peer_of_url(location), token);
  return peer.empty() ? "elsewhere" : "to " + one_line(peer.substr(0, kNameBytesMax));
}

Status refused_redirect(const TransferOutcome& outcome, const std::string& peer,
                        std::string_view token) {
  return Status(StatusCode::kConfig, peer + " redirects " +
                                         redirect_target(outcome.headers.location(), token) +
                                         " (HTTP " + std::to_string(outcome.http_status) +
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
  TransferOutcome outcome =
      transfer_->post(body, left, cancel,
                      connection_.must_be_fresh() ? ConnectionUse::kFresh : ConnectionUse::kKept);
  const bool may_be_stale = outcome.is_on_kept_connection && !outcome.has_answer_begun;
  HttpAnswer result = answer(std::move(outcome));
  count(result);
  choose_connection(result, may_be_stale);
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
  const WallTime now = options_.clock->wall_now();
  // What the server asks to wait counts, however little else of its answer came.
  answer.retry_after = outcome.headers.retry_after(now);
  answer.transport = transport_status(outcome, options_.peer).with_retry_after(answer.retry_after);
  if (!answer.transport.is_ok()) {
    return answer;
  }
  rate_limit_ = outcome.headers.rate_limit(now);
  if (is_redirect(outcome.http_status)) {
    answer.transport = refused_redirect(outcome, options_.peer, options_.transfer.token)
                           .with_retry_after(answer.retry_after);
    return answer;
  }
  answer.http_status = outcome.http_status;
  answer.token = options_.transfer.token;
  answer.body = std::move(outcome.body);
  return answer;
}

void D1Http::count(const HttpAnswer& answer) {
  const bool is_failure = !answer.transport.is_ok() || answer.http_status >= kHttpServerError;
  failures_in_a_row_ = is_failure ? failures_in_a_row_ + 1 : 0;
}

void D1Http::choose_connection(const HttpAnswer& answer, bool may_be_stale) {
  const SteadyTime now = options_.clock->steady_now();
  if (answer.transport.is_ok()) {
    connection_.on_answer(now);
  } else if (may_be_stale && answer.transport.code() != StatusCode::kCancelled) {
    connection_.on_broken(now);
  }
}

// In a forked child: closing the parent's connection in an orderly way (a TLS goodbye) would end it
// for the parent too.
void D1Http::abandon_parents_transfer() noexcept {
  if (transfer_ && transfer_pid_ != ::getpid()) {
    CurlTransfer::abandon(*transfer_.release());  // Leaked.
  }
}

}  // namespace spillway
