// SPDX-License-Identifier: MIT
//
// The program's two voices: data on stdout, talk on stderr.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

/// Opens what of stdin, stdout and stderr was closed at start so that its use fails. Otherwise the
/// next file opened, the database, would take the place and get our output. Call it first.
void reserve_standard_files() noexcept;

/// Writes all of `text` to stdout. False if that failed; then a line on stderr says why.
[[nodiscard]] bool write_out(std::string_view text);

/// One line on stderr: "spillway: " and `text`, in which control characters become spaces.
void say(const std::string& text);

}  // namespace spillway
