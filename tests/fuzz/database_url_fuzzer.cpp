// SPDX-License-Identifier: MIT
//
// Any text as the URL of a database and as the address of the API: what is taken is safe to use,
// and what is refused is refused on one line.
#include "d1/base_url.h"
#include "d1/database_url.h"
#include "tests/fuzz/invariant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace spillway::fuzz {
namespace {

bool is_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

void require_refusal(const Status& status) {
  require(status.code() == StatusCode::kInvalidArgument, "a wrong URL is the caller's error");
  require(is_one_line(status.message()), "a refusal is one line");
}

void run_database_url(const std::string& text) {
  require(is_one_line(shown_database_url(text)), "a URL is shown on one line");
  const Result<DatabaseUrl> url = parse_database_url(text);
  if (!url) {
    require_refusal(url.status());
    return;
  }
  if (const auto* d1 = std::get_if<D1Url>(&*url)) {
    require(is_d1_id(d1->database_id), "an id is safe in the path of a request");
    require(d1->account_id.empty() || is_d1_id(d1->account_id),
            "an account is safe in the path of a request");
  } else {
    require(text.starts_with("sqlite:"), "a file is named by its scheme");
  }
}

void run_base_url(const std::string& text) {
  const Result<BaseUrl> url = parse_base_url(text, "the URL");
  if (!url) {
    require_refusal(url.status());
    return;
  }
  require(url->is_https || url->is_loopback, "a token leaves the machine over TLS only");
  require(url->text.find('@') == std::string::npos, "no user-info is taken");
  require(is_one_line(url->text) && is_one_line(url->peer), "an address is one line");
  const Result<BaseUrl> again = parse_base_url(url->text, "the URL");
  require(again && again->text == url->text && again->peer == url->peer,
          "an address that was taken is taken again, as it is");
}

}  // namespace
}  // namespace spillway::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  const std::string text(data, data + size);
  spillway::fuzz::run_database_url(text);
  spillway::fuzz::run_base_url(text);
  return 0;
}
