// SPDX-License-Identifier: MIT
#include "d1/base_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace spillway {
namespace {

// Libcurl's own parser: with another one, the host that we check might not be the one it calls.
class ParsedUrl {
 public:
  explicit ParsedUrl(const std::string& url) {
    handle_.reset(curl_url());
    error_ =
        handle_ ? curl_url_set(handle_.get(), CURLUPART_URL, url.c_str(), 0) : CURLUE_OUT_OF_MEMORY;
  }

  [[nodiscard]] CURLUcode error() const noexcept { return error_; }

  /// Empty: it has no such part.
  [[nodiscard]] std::string part(CURLUPart part, unsigned flags = 0) const {
    char* text = nullptr;
    if (curl_url_get(handle_.get(), part, &text, flags) != CURLUE_OK) {
      return {};
    }
    const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
    return text;
  }

 private:
  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> handle_{nullptr, &curl_url_cleanup};
  CURLUcode error_ = CURLUE_OK;
};

// `host` as libcurl gives it: other ways to write an IPv4 address (127.1, 0x7f000001) are in the
// usual form by now, and IPv6 has brackets.
bool is_literal_loopback(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  in6_addr v6{};
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has_brackets && ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1 &&
         std::memcmp(&v6, &in6addr_loopback, sizeof v6) == 0;
}

bool is_plain_ascii(char c) noexcept { return c > ' ' && c < 0x7f; }

Status unusable_base_url(const std::string& name, const std::string& why) {
  return {StatusCode::kInvalidArgument, name + ' ' + why};
}

Status check_base_url_text(const std::string& url, const std::string& name) {
  if (!std::all_of(url.begin(), url.end(), is_plain_ascii)) {
    return unusable_base_url(name, "has a blank, a control character or one outside ASCII in it");
  }
  if (url.find('@') != std::string::npos) {
    return unusable_base_url(name, "has user-info (…@) in it; a token is given in another way");
  }
  if (url.find_first_of("?#") != std::string::npos) {
    return unusable_base_url(name, "has a query or a fragment; write it up to the path");
  }
  return {};
}

std::string peer_of(const ParsedUrl& url) {
  return url.part(CURLUPART_HOST) + ':' + url.part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

BaseUrl as_base_url(const ParsedUrl& url) {
  BaseUrl base;
  base.text = url.part(CURLUPART_URL);
  base.text.erase(base.text.find_last_not_of('/') + 1);
  base.peer = peer_of(url);
  base.is_https = url.part(CURLUPART_SCHEME) == "https";
  base.is_loopback =
      is_literal_loopback(url.part(CURLUPART_HOST)) && url.part(CURLUPART_ZONEID).empty();
  return base;
}

}  // namespace

Result<BaseUrl> parse_base_url(const std::string& url, const std::string& name) {
  if (Status status = check_base_url_text(url, name); !status.is_ok()) {
    return status;
  }
  const ParsedUrl parsed(url);
  if (parsed.error() == CURLUE_BAD_PORT_NUMBER) {
    return unusable_base_url(name, "has a bad port; it is a number from 0 to 65535");
  }
  if (parsed.error() != CURLUE_OK) {
    return unusable_base_url(
        name, std::string("is not an https URL: ") + curl_url_strerror(parsed.error()));
  }
  BaseUrl base = as_base_url(parsed);
  if (!std::all_of(base.text.begin(), base.text.end(), is_plain_ascii)) {  // Was %D1, say.
    return unusable_base_url(name, "has a character in its host that no host name has");
  }
  // "%31" becomes "1", which would be read as the address 0.0.0.1.
  if (as_base_url(ParsedUrl(base.text)).text != base.text) {
    return unusable_base_url(name, "has an encoded host that can be read in two ways");
  }
  if (!base.is_https && parsed.part(CURLUPART_SCHEME) != "http") {
    return unusable_base_url(name, "is neither an https nor an http URL");
  }
  if (!base.is_https && !base.is_loopback) {
    return unusable_base_url(name, "needs https: http would send the token in the clear to " +
                                       base.peer + " (it is for 127.0.0.1 and [::1] only)");
  }
  return base;
}

std::string peer_of_url(const std::string& url) {
  const ParsedUrl parsed(url);
  return parsed.error() == CURLUE_OK ? peer_of(parsed) : std::string();
}

}  // namespace spillway
