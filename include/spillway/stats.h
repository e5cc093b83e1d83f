// SPDX-License-Identifier: MIT
//
// Stats: the account of a log pipeline. Every record that was issued is in exactly one term:
//
//   issued = stored + queued + in_flight + in_doubt + spooled
//            + skipped (reported + pending) + dead_lettered
//
// A snapshot is taken by the thread that owns the state: the identity holds in every one of them.
#pragma once

#include <spillway/record.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spillway {

/// The index of records of which only the number is known, lost on their way to the pipeline.
inline constexpr std::size_t kUnknownLevel = kLevelCount;

/// Index: Level, and kUnknownLevel.
using LevelCounts = std::array<std::uint64_t, kLevelCount + 1>;

[[nodiscard]] constexpr std::uint64_t sum(const LevelCounts& counts) noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) {
    total += count;
  }
  return total;
}

struct Stats {
  /// Records that were given a sequence number, those that were shed or skipped too.
  std::uint64_t issued = 0;
  /// Known to be in the table.
  std::uint64_t stored = 0;
  /// Waiting to be sent, a held ERROR included.
  std::uint64_t queued = 0;
  /// Sent, no answer yet, and not in doubt.
  std::uint64_t in_flight = 0;
  /// Sent, fate unknown; will be sent again under the same key.
  std::uint64_t in_doubt = 0;
  /// Not stored, and named in a gap row that is known to be in the table.
  LevelCounts skipped_reported{};
  /// Not stored, and not yet named in one.
  LevelCounts skipped_pending{};
  /// In the local spool. 0 without a spool.
  std::uint64_t spooled = 0;
  /// Refused by the database for good and kept in the spool. 0 without a spool.
  std::uint64_t dead_lettered = 0;

  // Counted apart.

  /// Gap rows in the table.
  std::uint64_t own = 0;
  /// Calls after close(), and what count_lost told then: not issued, not stored.
  std::uint64_t after_close = 0;
  /// Calls from within the pipeline: a diagnostic callback or a Database that logs. Not issued, not
  /// stored: they would feed on themselves.
  std::uint64_t reentrant = 0;
  /// Times that writes began to pause.
  std::uint64_t pauses = 0;
  /// Attempts to write, with or without success.
  std::uint64_t attempts = 0;
  /// Times that a row was found in the table under its key with other contents than were sent. It
  /// counts as stored; docs/formats.md says how it can happen.
  std::uint64_t collisions = 0;

  /// Nothing waits any more: every record is stored, or named in a stored gap row.
  bool is_complete = false;

  /// Neither stored nor given up yet.
  [[nodiscard]] std::uint64_t undecided() const noexcept { return queued + in_flight + in_doubt; }

  [[nodiscard]] std::uint64_t skipped() const noexcept {
    return sum(skipped_reported) + sum(skipped_pending);
  }
};

}  // namespace spillway
