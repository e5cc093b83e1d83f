// SPDX-License-Identifier: MIT
//
// classify: the one place where what D1 answers becomes a Status. The table is
// docs/failure-modes.md's; failure_text.cpp knows the texts.
#pragma once

#include <spillway/status.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace spillway {

/// One error of Cloudflare's: {code, message}.
struct D1Error {
  int code = 0;  ///< 0: none.
  std::string message = {};
};

/// A failed request, as far as it was answered.
struct D1Failure {
  /// The error and what it says about its causes (`error_chain`), outermost first. May be empty.
  std::vector<D1Error> errors = {};
  int http_status = 0;
  std::optional<std::chrono::milliseconds> retry_after = {};
};

/// How many errors of a chain are looked at.
inline constexpr std::size_t kErrorChainMax = 8;

/// The Status of a failed request: never a success.
///
/// The first text of the chain that is known decides, whatever status and code came with it: D1
/// puts the code 7500 and HTTP 400 on everything. Where no text is known the first code that is
/// known decides, and then the status. The message is the first error's, of one line.
[[nodiscard]] Status classify(const D1Failure& failure);

}  // namespace spillway
