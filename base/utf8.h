// SPDX-License-Identifier: MIT
//
// UTF-8, and text as the table may hold it: valid UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

/// What stands for an ill-formed part: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// The beginning of some bytes: one code point, or one maximal ill-formed part.
struct Utf8Part {
  std::size_t bytes;
  bool is_well_formed;
};

/// What `bytes`, which must not be empty, begins with, by Unicode 15, table 3-7.
[[nodiscard]] Utf8Part first_utf8_part(std::string_view bytes) noexcept;

/// True for well-formed UTF-8, U+0000 included.
[[nodiscard]] bool is_valid_utf8(std::string_view bytes) noexcept;

/// True for well-formed UTF-8 that holds no U+0000.
[[nodiscard]] bool is_storable_text(std::string_view bytes) noexcept;

/// Appends `bytes` to `out` so that the result is storable: each maximal ill-formed part becomes
/// one U+FFFD (as the WHATWG decoder and Unicode's recommendation have it), U+0000 becomes U+2400,
/// all else is unchanged. At most `bytes_max` bytes are appended; the cut falls between code
/// points. Returns true if all of it fitted.
bool append_storable_text(std::string_view bytes, std::size_t bytes_max, std::string& out);

}  // namespace spillway
