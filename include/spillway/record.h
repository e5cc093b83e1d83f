// SPDX-License-Identifier: MIT
//
// Level and RecordView: one log record as the caller hands it over.
//
// A view owns nothing: its texts need to live only until the call that takes it returns. What a
// record becomes in the table is said in docs/formats.md.
#pragma once

#include <spillway/clock.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

/// In rising order of severity.
enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kCritical };

inline constexpr std::size_t kLevelCount = 6;

/// The level as the table holds it: TRACE DEBUG INFO WARN ERROR CRITICAL.
[[nodiscard]] std::string_view to_string(Level level) noexcept;

/// The level that a word means, in any case: the six names, and what syslog and others say:
/// information, notice = INFO, warning = WARN, err = ERROR, crit, fatal, alert, emerg, emergency,
/// panic = CRITICAL. Empty: no level's word.
[[nodiscard]] std::optional<Level> parse_level(std::string_view word) noexcept;

struct RecordView {
  /// Of the log call. Years 0000 to 9999; outside of that it is clamped.
  WallTime time{};
  Level level = Level::kInfo;
  /// The logger's name. `spillway` is ours: a user's is stored as `spillway_`.
  std::string_view context = {};
  /// Any bytes. Stored as UTF-8: invalid bytes as U+FFFD, NUL as U+2400.
  std::string_view message = {};
  /// A JSON object, or empty for none. Not checked: queries that look into the fields of a row with
  /// anything else fail.
  std::string_view fields = {};
  /// Bytes of the whole message when `message` is only its beginning; 0 when it is all there.
  std::uint64_t message_bytes = 0;
  /// What encode_fields made (field.h), in place of `fields`: JSON is made of it on the pipeline's
  /// own thread. When it is not empty, `fields` counts for nothing.
  std::string_view encoded_fields = {};
};

}  // namespace spillway
