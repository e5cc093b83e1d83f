// SPDX-License-Identifier: MIT
//
// D1Http: sends one JSON body to D1 and gives what became of it. All that is said about the network
// in d1_database.h holds here: where a request may go, how long it may take, what is kept.
//
// Used by one thread at a time. A process that was forked makes connections of its own.
#pragma once

#include <spillway/clock.h>
#include <spillway/d1_database.h>

#include "d1/connection_choice.h"
#include "d1/curl_transfer.h"
#include "d1/http_answer.h"

#include <sys/types.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spillway {

struct D1HttpOptions {
  TransferOptions transfer;
  std::string peer;  ///< For messages: "api.cloudflare.com:443".
  const Clock* clock = &Clock::system();
};

class D1Http {
 public:
  explicit D1Http(D1HttpOptions options) : options_(std::move(options)) {}
  D1Http(const D1Http&) = delete;
  D1Http& operator=(const D1Http&) = delete;
  ~D1Http();

  /// One request, never repeated. Blocks until `end` at most. An answer that leads elsewhere (3xx)
  /// is not followed, and is kConfig. After a kept connection has broken under a request, new ones
  /// are made for a while (ConnectionChoice). Any other answer that came whole is a success here.
  [[nodiscard]] HttpAnswer post(const std::string& body, SteadyTime end,
                                const std::stop_token& cancel);

  /// Of the last answer.
  [[nodiscard]] const std::optional<D1RateLimit>& rate_limit() const noexcept {
    return rate_limit_;
  }

 private:
  [[nodiscard]] Status connect();
  [[nodiscard]] HttpAnswer answer(TransferOutcome outcome);
  void count(const HttpAnswer& answer);
  void choose_connection(const HttpAnswer& answer, bool may_be_stale);
  void abandon_parents_transfer() noexcept;

  D1HttpOptions options_;
  std::unique_ptr<CurlTransfer> transfer_;
  pid_t transfer_pid_ = 0;
  int failures_in_a_row_ = 0;
  ConnectionChoice connection_;
  std::optional<D1RateLimit> rate_limit_;
};

}  // namespace spillway
