// SPDX-License-Identifier: MIT
//
// Walk: goes through one segment of a table chunk by chunk, and deletes in each what the rules let
// go.
//
// A chunk is a range of the key, so that equal times cannot make it longer. It is one transaction:
// the lease's fence, then one DELETE for each rule, which asks the age again. What the database
// finds too much is halved; a row that it does not let go at all, because of a trigger or a foreign
// key, is found by halving too, passed and counted. A chunk that may have been executed is simply
// executed again.
#pragma once

#include <spillway/database.h>

#include "retention/archive.h"
#include "retention/chunk_size.h"
#include "retention/end.h"
#include "retention/lease.h"
#include "retention/pace.h"
#include "retention/patient_database.h"
#include "retention/run.h"
#include "retention/segment.h"
#include "retention/space.h"
#include "retention/table_form.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spillway::retention {

/// What a chunk did.
struct Chunk {
  std::map<std::string, std::int64_t> deleted_by = {};  ///< By the rule's name.
  std::map<std::string, std::int64_t> kept = {};        ///< As Report::kept.
  std::int64_t deleted = 0;
  std::chrono::microseconds held{0};  ///< How long others had to wait for it.
};

class Walk {
 public:
  /// All that is referred to must outlive the walk.
  struct Parts {
    PatientDatabase& database;
    const TableForm& form;
    Lease& lease;
    const World& world;
    ChunkSize& size;
    Pace& pace;
    Wal* wal = nullptr;
    Archive* archive = nullptr;
    ExecuteOptions limits = {};
    WallTime now = {};
    /// Look at what stays in each range, and count it by class.
    bool counts_kept = false;
  };

  Walk(Parts parts, Segment segment) : parts_(std::move(parts)), segment_(std::move(segment)) {}

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// The next chunk, in which at most `rows_max` rows go, or why there is none.
  [[nodiscard]] std::variant<Chunk, Verdict> next(std::int64_t rows_max);
  /// Whether the rest of the segment holds a row that the rules let go.
  [[nodiscard]] Result<bool> has_more();
  /// The key of the last row that the walk has passed; empty: none yet, or it is done.
  [[nodiscard]] const std::optional<Row>& place() const noexcept { return segment_.range.beyond; }
  [[nodiscard]] const Segment& segment() const noexcept { return segment_; }

 private:
  /// A part of the segment.
  struct Part {
    Range range;
    bool is_last;  ///< Nothing of the segment is behind it.
  };
  [[nodiscard]] Result<Part> part_of(std::int64_t rows);
  /// As much of it as has at most `rows_max` rows that go, however many stay.
  [[nodiscard]] Result<Part> narrowed(Part part, std::int64_t rows_max);
  [[nodiscard]] Result<std::optional<Row>> nth_key(const Condition& where, std::int64_t n);
  [[nodiscard]] Result<Chunk> delete_in(const Range& range);
  [[nodiscard]] std::vector<Statement> deletion(const Range& range,
                                                const std::vector<std::int64_t>& archived) const;
  void tell(const std::vector<StatementResult>& answers, Chunk& chunk) const;
  [[nodiscard]] Status archive_rows(const Range& range, std::vector<std::int64_t>& counts);
  [[nodiscard]] Result<std::vector<StatementResult>> execute(std::vector<Statement> statements,
                                                             bool is_idempotent);
  [[nodiscard]] Status count_kept(const Range& range, std::int64_t rows, Chunk& chunk);
  /// Empty: try again, with `rows_` perhaps smaller.
  [[nodiscard]] std::optional<Verdict> after_failure(const Status& failure, std::int64_t rows);
  [[nodiscard]] std::optional<Verdict> after_broken_fence(const Status& failure);
  /// After an answer that was lost: what was archived is confirmed if the rows are gone, and else
  /// dropped, once nothing can delete them any more.
  [[nodiscard]] Status settle_archive(const Range& range);
  [[nodiscard]] Result<bool> has_expired(const Range& range);
  [[nodiscard]] Condition expired_by_any() const;
  void pass(const Part& part);

  Parts parts_;
  Segment segment_;
  std::optional<std::int64_t> cap_;  // While a row is looked for that the table does not let go.
  std::int64_t archived_ = 0;        // Rows of the chunk that was archived last.
  int losses_ = 0;                   // Answers lost in a row.
  int mismatches_ = 0;               // Chunks in a row that were not what had been archived.
  bool is_passing_ = false;          // The next chunk is a single row that has to stay.
  bool is_done_ = false;
};

}  // namespace spillway::retention
