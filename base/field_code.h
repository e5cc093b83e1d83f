// SPDX-License-Identifier: MIT
//
// The code of encoded fields, as it goes from the thread that logs to the one that makes JSON of
// it. It never leaves the process: numbers are in the machine's own order, without alignment.
//
//   fields  = member…
//   member  = kName text value
//   value   = a tag, and what is said beside it below
//   object  = kObject member… kEnd
//   list    = kList value… kEnd
//   text    = length, bytes as they are
//   length  = one byte, or from 255 on the byte 255 and 4 bytes
//
// It is kept short: the memory of the queue, and what a call waits for, is mostly these bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spillway {

enum class FieldTag : std::uint8_t {
  kNull,
  kFalse,
  kTrue,
  kInteger8,   ///< std::int8_t
  kInteger32,  ///< std::int32_t
  kInteger,    ///< std::int64_t
  kUnsigned,   ///< std::uint64_t
  kFloat,      ///< float
  kDouble,     ///< double
  kTime,       ///< milliseconds since 1970, std::int64_t
  kDuration,   ///< a count, std::int64_t, of 10^-n seconds, n in one byte
  kText,       ///< text
  kTypeName,   ///< text: the name of a C++ type, as typeid has it
  kName,       ///< text; a value follows
  kObject,
  kList,
  kEnd
};

using FieldTextBytes = std::uint32_t;

/// From here on a length takes 5 bytes.
inline constexpr std::size_t kFieldLongText = 255;

/// Of a text with so many bytes, its tag and length.
[[nodiscard]] constexpr std::size_t field_head_bytes(std::size_t text_bytes) noexcept {
  return text_bytes < kFieldLongText ? 2 : 2 + sizeof(FieldTextBytes);
}

/// Objects and lists within each other, below the fields themselves.
inline constexpr int kFieldDepthMax = 32;

/// Longer texts fit into no row together with a message, and are not worth copying.
inline constexpr std::size_t kFieldTextBytesMax = 1'000'000;
inline constexpr std::size_t kFieldNameBytesMax = 1'000;
inline constexpr std::size_t kFieldsBytesMax = 16'000'000;

}  // namespace spillway
