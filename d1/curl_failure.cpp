// SPDX-License-Identifier: MIT
#include "d1/curl_failure.h"

#include "base/one_line.h"

#include <string>

namespace spillway {
namespace {

bool is_about_trust(CURLcode code) noexcept {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return true;
    default:
      return false;
  }
}

// This libcurl cannot do what we ask of it, now or later.
bool is_lack_of_libcurl(CURLcode code) noexcept {
  return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_NOT_BUILT_IN ||
         code == CURLE_UNKNOWN_OPTION;
}

// So begins libcurl's text about the URL of a proxy that it does not understand, which holds all of
// it, password and all. Source: docs/facts.md, "HTTP".
bool is_about_proxy_url(const TransferOutcome& outcome) {
  return outcome.what.starts_with("Unsupported proxy");
}

// Libcurl may take a URL apart in another way than its writer meant, and have a part of the
// password for the host that it names. What it says of a proxy's answer holds nothing of that.
bool may_name_user(const TransferOutcome& outcome) {
  return outcome.may_name_user && !outcome.is_sent &&
         outcome.what.find("CONNECT") == std::string::npos;
}

std::string words_of(const TransferOutcome& outcome) {
  if (outcome.has_no_descriptor) {
    return "no file descriptor is free, this program has too many files open";
  }
  if (may_name_user(outcome)) {
    return curl_easy_strerror(outcome.code);
  }
  // A connection that died under a request; libcurl's words are about its own repeating.
  const bool is_unrepeated =
      outcome.code == CURLE_SEND_FAIL_REWIND || outcome.code == CURLE_ABORTED_BY_CALLBACK;
  return is_unrepeated ? "the connection broke" : one_line(outcome.what);
}

Status after_cancel(const TransferOutcome& outcome, const std::string& peer) {
  return outcome.is_sent
             ? Status(StatusCode::kLost, "cancelled while waiting for the answer of " + peer)
             : Status(StatusCode::kCancelled, "cancelled before all was sent to " + peer);
}

Status unusable_proxy(const std::string& peer) {
  return {StatusCode::kConfig,
          "cannot reach " + peer +
              ": libcurl cannot use the URL of the proxy that the environment names (https_proxy, "
              "ALL_PROXY); its scheme is http, https or socks5, and a character like #, / or @ in "
              "a user or password is written as %23, %2F or %40"};
}

Status before_sending(const TransferOutcome& outcome, const std::string& peer) {
  if (is_about_trust(outcome.code)) {
    return {StatusCode::kConfig,
            "no trusted connection to " + peer + ": " + words_of(outcome) +
                "; CURL_CA_BUNDLE or SSL_CERT_FILE names a file of certificates to trust"};
  }
  if (is_about_proxy_url(outcome)) {
    return unusable_proxy(peer);
  }
  const StatusCode code =
      is_lack_of_libcurl(outcome.code) ? StatusCode::kConfig : StatusCode::kTransient;
  return {code, "cannot reach " + peer + ": " + words_of(outcome)};
}

Status after_sending(const TransferOutcome& outcome, const std::string& peer) {
  if (outcome.is_answer_too_large || outcome.code == CURLE_FILESIZE_EXCEEDED) {
    return Status(StatusCode::kTooBig, "the answer of " + peer + " is larger than " +
                                           std::to_string(outcome.answer_bytes_max) + " bytes")
        .with_execution(Execution::kMaybe);
  }
  return {StatusCode::kLost, "no whole answer from " + peer + ": " + words_of(outcome)};
}

}  // namespace

Status transport_status(const TransferOutcome& outcome, std::string_view peer) {
  const std::string name(peer);
  if (outcome.is_cancelled) {
    return after_cancel(outcome, name);
  }
  if (outcome.is_out_of_memory) {
    return Status(StatusCode::kInternal, "out of memory")
        .with_execution(outcome.is_sent ? Execution::kMaybe : Execution::kNo);
  }
  if (outcome.code != CURLE_OK) {
    return outcome.is_sent ? after_sending(outcome, name) : before_sending(outcome, name);
  }
  // libcurl is content with headers that break off, and in some versions with none at all.
  if (outcome.http_status == 0 || !outcome.headers.are_whole()) {
    return {StatusCode::kLost, "no whole answer from " + name + ": the connection ended"};
  }
  return {};
}

}  // namespace spillway
