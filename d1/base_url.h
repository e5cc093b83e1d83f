// SPDX-License-Identifier: MIT
//
// BaseUrl: where the API is, checked: the token is sent there and nowhere else.
#pragma once

#include <spillway/status.h>

#include <string>
#include <string_view>

namespace spillway {

struct BaseUrl {
  std::string text;  ///< As libcurl understood it, without a slash at its end.
  std::string peer;  ///< For messages: "api.cloudflare.com:443".
  bool is_https = true;
  bool is_loopback = false;  ///< The host is written as an address in 127.0.0.0/8, or as [::1].
};

/// kInvalidArgument: no http or https URL; http to anything but a literal loopback address (a name
/// may come to mean another machine, and "http://127.0.0.1@host" does); user-info, a query or a
/// fragment. The message begins with `name` and shows the host at most: the rest may hold a secret.
[[nodiscard]] Result<BaseUrl> parse_base_url(const std::string& url, const std::string& name);

/// The host and port of any URL that libcurl knows, "example.com:443". Empty: it is none.
[[nodiscard]] std::string peer_of_url(const std::string& url);

}  // namespace spillway
