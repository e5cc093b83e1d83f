// SPDX-License-Identifier: MIT
//
// Gap rows: what was skipped, counted by reason and level, on its way into the table. Pure.
//
// A record that is not stored is counted in the open gap of its reason. An open gap is sealed into
// a row of the next batch; while that row's fate is unknown its counts stand still, and later skips
// go into a successor. The row stored, the counts are reported; certainly not stored, the gap opens
// again and takes in its successor.
#pragma once

#include <spillway/stats.h>

#include "table/record.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

enum class GapReason : std::uint8_t {
  kOverload,
  kRateLimited,
  kUnreachable,
  kQuota,
  kSchema,
  kStorageFull,
  kAuth,
  kConfig,
  kPermanent,
  kQueueFull,
  kOverrun,  ///< Lost in the queue of an asynchronous logger, in front of the pipeline.
  kRefused,
  kClosed,  ///< Left over at close: told as a diagnostic, never a row.
};

inline constexpr std::size_t kGapReasonCount = 13;

/// As it stands in the row's fields.
[[nodiscard]] std::string_view to_string(GapReason reason) noexcept;

/// "SQLite was busy", "D1 refused writes (auth)": what a pause of this reason says of the database.
[[nodiscard]] std::string describe_pause(GapReason reason, std::string_view database);

/// Hands out sequence numbers, to records and to gap rows from the same counter.
struct SeqCounter {
  std::int64_t next = 1;
  std::int64_t for_gaps = 0;  ///< How many of them went to gap rows.

  std::int64_t take_for_gap() noexcept {
    ++for_gaps;
    return next++;
  }
};

/// Records that were skipped together.
struct SkippedRecords {
  LevelCounts by_level{};
  WallTime from;  ///< Earliest and latest time of a skipped record.
  WallTime to;
  std::int64_t first_seq = 0;
  std::int64_t last_seq = 0;

  [[nodiscard]] static SkippedRecords one(Level level, WallTime time, std::int64_t seq) noexcept;
  void merge(const SkippedRecords& other) noexcept;
  /// Level ERROR or above.
  [[nodiscard]] bool has_error() const noexcept;
};

struct Gap {
  GapReason reason = GapReason::kOverload;
  /// The row's own number; 0 while the predecessor's fate is open and so this gap may yet become
  /// part of it.
  std::int64_t seq = 0;
  SkippedRecords skipped;
  SteadyTime opened_at;
};

/// The row that reports the gap: sorts just behind the latest skipped record. `database`: its name
/// in a sentence.
[[nodiscard]] Record make_gap_record(const Gap& gap, std::string_view database);

class GapLedger {
 public:
  explicit GapLedger(SeqCounter& seqs) noexcept : seqs_(seqs) {}

  /// Counts skipped records into the open gap of `reason`, opening one if need be.
  void skip(GapReason reason, const SkippedRecords& records, SteadyTime now);

  /// When the first open gap is to be sent: at once, but a flood (a queue full, or overrun) waits
  /// for `age`, so that a flood that comes and goes gives few rows. Empty: there is none to send.
  [[nodiscard]] std::optional<SteadyTime> due_at(std::chrono::milliseconds age) const noexcept;
  /// Takes the open gaps that are due at `now`.
  [[nodiscard]] std::vector<Gap> seal(SteadyTime now, std::chrono::milliseconds age);

  /// What became of a sealed gap's row. Each seal ends with stored, refused or reopen; in_doubt may
  /// come before.
  void stored(const Gap& gap) noexcept;
  void in_doubt(const Gap& gap) noexcept;
  void reopen(const Gap& gap);
  /// The database takes this row under no circumstances: its counts stay unreported.
  void refused(const Gap& gap) noexcept;

  [[nodiscard]] const LevelCounts& skipped() const noexcept { return skipped_; }
  [[nodiscard]] const LevelCounts& reported() const noexcept { return reported_; }
  /// The lowest number of a record in a gap that is open; empty: none is.
  [[nodiscard]] std::optional<std::int64_t> first_open_seq() const noexcept;
  /// An open gap counts a record of level ERROR or above.
  [[nodiscard]] bool has_open_error() const noexcept;
  [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }
  /// " (12 while SQLite was busy, 3 left in the queue)": the open gaps, for a diagnostic. Empty:
  /// there are none.
  [[nodiscard]] std::string describe_open(std::string_view database) const;

 private:
  struct Slot {
    std::optional<Gap> open;
    bool has_sealed = false;  ///< A sealed gap of this reason may come back.
  };
  Slot& slot(GapReason reason) noexcept { return slots_[static_cast<std::size_t>(reason)]; }
  void release(GapReason reason) noexcept;

  SeqCounter& seqs_;
  std::array<Slot, kGapReasonCount> slots_;
  LevelCounts skipped_{};
  LevelCounts reported_{};
  bool has_refused_ = false;
};

}  // namespace spillway
