// SPDX-License-Identifier: MIT
//
// Record: one row of the log table, owning its texts, in the form that the table holds.
#pragma once

#include <spillway/record.h>

#include <cstdint>
#include <string>

namespace spillway {

struct Record {
  WallTime time;
  std::int64_t seq = 0;
  Level level = Level::kInfo;
  std::string context;
  std::string message;
  std::string fields;  ///< A JSON object; empty: NULL.
};

/// The most that the texts of one row may take together: a row of D1 has at most 2,000,000 bytes
/// (developers.cloudflare.com/d1/platform/limits), and its other columns take less than the
/// difference.
inline constexpr std::size_t kRowTextBytesMax = 1'999'000;

/// The row for a user's record: texts repaired, the context `spillway` moved out of our way, a
/// message that would make the row too large cut at a code point and its full length put into the
/// fields as `original_bytes`. Fields too large for the row are replaced by
/// {"original_fields_bytes":N}; a context is cut to 1,000 bytes.
[[nodiscard]] Record make_record(const RecordView& view, std::int64_t seq);

}  // namespace spillway
