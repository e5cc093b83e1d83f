// SPDX-License-Identifier: MIT
//
// HttpAnswer: what became of one HTTP request, as far as the client needs to know it.
#pragma once

#include <spillway/status.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct HttpAnswer {
  /// Success: an answer arrived whole. Else why not, classified (kTransient: no connection came
  /// about; kLost: the request may have been executed; kConfig: TLS), with the Retry-After of what
  /// came, and the rest means nothing.
  Status transport = {};
  int http_status = 0;
  std::string body = {};
  /// Of the header Retry-After, in either of its forms. Empty: absent, or not to be understood.
  std::optional<std::chrono::milliseconds> retry_after = {};
  /// What the request was allowed with. No text of the answer may show it; lives as long as D1Http.
  std::string_view token = {};
};

}  // namespace spillway
