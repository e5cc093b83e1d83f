// SPDX-License-Identifier: MIT
//
// HttpAnswer: what became of one HTTP request, as far as the client needs to know it.
#pragma once

#include <spillway/status.h>

#include <chrono>
#include <optional>
#include <string>

namespace spillway {

struct HttpAnswer {
  /// Success: an answer arrived whole. Else why not, classified (kTransient: no connection came
  /// about; kLost: the request may have been executed; kConfig: TLS), and the rest means nothing.
  Status transport = {};
  int http_status = 0;
  std::string body = {};
  /// Of the header Retry-After, in either of its forms. Empty: absent, or not to be understood.
  std::optional<std::chrono::milliseconds> retry_after = {};
};

}  // namespace spillway
