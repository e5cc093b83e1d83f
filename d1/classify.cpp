// SPDX-License-Identifier: MIT
#include "d1/classify.h"

#include "d1/failure_text.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace spillway {
namespace {

// Codes that mean one thing only. 7500 is not among them.
// Source: docs/facts.md, "Errors".
std::optional<Verdict> verdict_of_code(int code) {
  switch (code) {
    case 971:
    case 10100:
      return not_executed(StatusCode::kRateLimited);
    case 9106:
    case 10000:
      return not_executed(StatusCode::kAuth);
    case 7003:
    case 7403:
    case 7404:
      return not_executed(StatusCode::kConfig);
    case 7400:
      return not_executed(StatusCode::kPermanent);
    default:
      return std::nullopt;
  }
}

Verdict verdict_of_http_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return not_executed(StatusCode::kAuth);
    case 413:
      return not_executed(StatusCode::kTooBig);
    case 429:
      return not_executed(StatusCode::kOverload);
    default:
      break;
  }
  switch (status / 100) {
    case 3:
      return not_executed(StatusCode::kConfig);
    case 4:
      return not_executed(StatusCode::kPermanent);
    default:
      return maybe_executed(StatusCode::kLost);  // Also 200 without success.
  }
}

using Errors = std::span<const D1Error>;

Errors looked_at(const D1Failure& failure) {
  return Errors(failure.errors).first(std::min(failure.errors.size(), kErrorChainMax));
}

Verdict verdict_of(Errors errors, int http_status) {
  for (const D1Error& error : errors) {
    if (const std::optional<Verdict> verdict = verdict_of_text(error.message)) {
      return *verdict;
    }
  }
  for (const D1Error& error : errors) {
    if (const std::optional<Verdict> verdict = verdict_of_code(error.code)) {
      return *verdict;
    }
  }
  return verdict_of_http_status(http_status);
}

std::string message_of(Errors errors, int http_status) {
  std::string message = errors.empty() ? std::string() : presentable(errors.front().message);
  return message.empty() ? "unknown error (HTTP " + std::to_string(http_status) + ")" : message;
}

Status with_verdict(const Verdict& verdict, std::string message) {
  const Status status = Status(verdict.code, std::move(message))
                            .with_execution(verdict.execution)
                            .with_sqlite_code(verdict.sqlite_code);
  return verdict.is_lasting ? status.with_lasting() : status;
}

// The Status of errors.front() with the rest as its causes.
Status chain_of(Errors errors, int http_status) {
  Status status;
  for (std::size_t at = errors.size(); at-- > 0;) {
    const Errors one = errors.subspan(at, 1);
    status = with_verdict(verdict_of(one, http_status), message_of(one, http_status))
                 .with_d1_code(errors[at].code)
                 .with_cause(status);
  }
  return status;
}

}  // namespace

Status classify(const D1Failure& failure) {
  const Errors errors = looked_at(failure);
  Status status =
      with_verdict(verdict_of(errors, failure.http_status), message_of(errors, failure.http_status))
          .with_http_status(failure.http_status);
  if (!errors.empty()) {
    status = status.with_d1_code(errors.front().code)
                 .with_cause(chain_of(errors.subspan(1), failure.http_status));
  }
  return status.with_retry_after(failure.retry_after);
}

}  // namespace spillway
