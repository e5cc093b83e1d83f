// SPDX-License-Identifier: MIT
//
// What a text of D1 says, taken alone. The texts are those that Cloudflare documents and those that
// users of the real service have reported; docs/failure-modes.md lists the classes.
//
// A text counts only as a whole, or by a beginning or an end that is documented to vary. A phrase
// inside another text means nothing: an error that quotes a log message would be taken for the
// error that the message speaks of.
#pragma once

#include <spillway/status.h>

#include <optional>
#include <string>
#include <string_view>

namespace spillway {

/// What a failure means.
struct Verdict {
  StatusCode code;
  Execution execution;
  bool is_lasting;
  int sqlite_code;  ///< Extended; 0: it is not SQLite's.
};

[[nodiscard]] constexpr Verdict not_executed(StatusCode code) noexcept {
  return {code, Execution::kNo, false, 0};
}

[[nodiscard]] constexpr Verdict maybe_executed(StatusCode code) noexcept {
  return {code, Execution::kMaybe, false, 0};
}

/// The class of `message`, with or without D1's prefixes ("D1_ERROR: ") and tails ("[code: 7500]",
/// ": SQLITE_ERROR"). Empty: the text is unknown.
[[nodiscard]] std::optional<Verdict> verdict_of_text(std::string_view message);

/// `message` as a Status may hold it: without those prefixes and tails, so that D1 says what SQLite
/// would; one line of valid UTF-8, at most 256 bytes. Empty if nothing is left, or if it is HTML.
[[nodiscard]] std::string presentable(std::string_view message);

}  // namespace spillway
