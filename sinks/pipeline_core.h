// SPDX-License-Identifier: MIT
//
// PipelineCore: everything that the pipeline decides, as step(event, now) -> actions. Pure: no
// thread, clock, file or socket. The intake thread (pipeline.cpp) is a thin shell around it; tests
// drive it by hand.
//
// A record goes from the arrival queue into a batch, or is skipped: counted in the gap ledger. At
// most one batch is in flight. Batches that must go before anything new wait in `pending_`: one to
// be sent again, parts of one that was refused, one that is held through a pause.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/overload_policy.h>
#include <spillway/stats.h>
#include <spillway/status.h>

#include "sinks/arrival_queue.h"
#include "sinks/batch.h"
#include "sinks/batch_size.h"
#include "sinks/diagnostic_lines.h"
#include "sinks/gap.h"
#include "sinks/gate.h"
#include "sinks/token_bucket.h"
#include "table/log_table.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spillway {

/// Of a batch. A request to D1 costs a good deal more than its bytes, so there it carries more: as
/// much as one value of D1 holds.
inline constexpr std::size_t kBatchBytes = 1'000'000;
inline constexpr std::size_t kBatchBytesD1 = 2'000'000;

struct CoreOptions {
  OverloadPolicy overload = {};
  std::size_t batch_rows_max = 2'000;
  std::optional<std::size_t> batch_bytes_max = {};  ///< Empty: as above.
  std::chrono::milliseconds batch_age_max{200};
  std::chrono::milliseconds attempt_timeout{10'000};
  std::optional<RequestRate> request_rate = {};  ///< Empty: as the database asks for.
  std::uint64_t seed = 0;                        ///< For the jitter of re-sends.
};

// Events.

/// Records that were admitted to the queue, oldest first.
struct RecordsArrived {
  RecordQueue records;
};
/// Records that were not, because the queue was full, or that were lost in a queue in front of it.
struct RecordsShed {
  GapReason reason = GapReason::kQueueFull;
  LevelCounts by_level{};
  WallTime from{};
  WallTime to{};
};
/// The answer to the last Send.
struct SendDone {
  Status status;
  /// Its name in a sentence ("SQLite").
  std::string database = {};
  /// We stopped it, for a fork: the status says nothing of the database.
  bool is_interrupted = false;
  /// Empty: it could not be opened.
  std::optional<DatabaseTraits> traits = {};
  /// That it took: more than one when the table was prepared, or looked at after the insert.
  int requests = 1;
  /// What it did, if the status is ok.
  Inserted inserted = {};
};
/// Nothing happened but time.
struct Tick {};
/// What has arrived so far goes without waiting for a fuller batch.
struct FlushRequested {};
/// No records arrive any more. Finish, at the latest at `deadline`; if told again, at the earliest
/// one.
struct CloseRequested {
  SteadyTime deadline;
};
using Event =
    std::variant<RecordsArrived, RecordsShed, SendDone, Tick, FlushRequested, CloseRequested>;

// Actions.

/// How long an attempt may wait for a lock that another connection holds.
enum class LockWait : std::uint8_t {
  kNone,           ///< In a pause: the next slot comes soon.
  kUsual,          ///< As long as the database is set to.
  kUntilDeadline,  ///< At close: nobody comes back later.
};

struct Send {
  Rows rows;
  SteadyTime deadline;
  LockWait lock_wait = LockWait::kUsual;
};
struct Actions {
  std::optional<Send> send;
  /// When to call step again if nothing else happens before. Empty: never.
  std::optional<SteadyTime> wake_at;
  /// Lines for the operator.
  std::vector<std::string> diagnostics;
  /// The attempt in flight is to be given up; its SendDone is still expected.
  bool cancel_send = false;
  /// Closed: nothing will be sent any more.
  bool is_done = false;
};

class PipelineCore {
 public:
  explicit PipelineCore(const CoreOptions& options);
  PipelineCore(const PipelineCore&) = delete;
  PipelineCore& operator=(const PipelineCore&) = delete;

  /// Takes one event in and says what to do. `now` must not go backwards.
  Actions step(Event event, SteadyTime now);

  /// The account. Whatever steps were taken, its identity holds.
  [[nodiscard]] Stats stats() const;
  /// Every record up to this number is stored, or skipped and named in a stored gap row.
  [[nodiscard]] std::int64_t settled_through() const;
  /// Some records were skipped and their gap row was refused for good: they are settled, and
  /// named nowhere.
  [[nodiscard]] bool has_unreportable() const noexcept { return gaps_.has_refused(); }
  /// The number that was given out last.
  [[nodiscard]] std::int64_t last_seq() const noexcept { return seqs_.next - 1; }
  /// What waits in memory and is not in a batch yet.
  [[nodiscard]] const RecordQueue& queue() const noexcept { return queue_.records(); }
  [[nodiscard]] bool is_paused(SteadyTime now) const noexcept { return gate_.is_paused(now); }
  /// When rows were stored last; if the request rate holds back the next attempt, the time to which
  /// it does.
  [[nodiscard]] std::optional<SteadyTime> last_success() const noexcept { return last_success_; }
  /// The deadline of the attempt in flight, if nothing speaks against it: the one before it
  /// succeeded, or it is the first.
  [[nodiscard]] std::optional<SteadyTime> trusted_until() const noexcept {
    return in_flight_ && !has_failed_ ? std::optional(in_flight_deadline_) : std::nullopt;
  }

 private:
  /// Of rows that are let go.
  enum class Errors : std::uint8_t { kHoldOldest, kSkipAll };

  void take(RecordsArrived& event, SteadyTime now);
  void take(RecordsShed& event, SteadyTime now);
  void take(SendDone& event, SteadyTime now);
  void take(Tick&, SteadyTime) {}
  void take(FlushRequested&, SteadyTime) { flush_through_ = last_seq(); }
  void take(CloseRequested& event, SteadyTime now);

  void adapt_to(const DatabaseTraits& database);
  void on_inserted(const Batch& batch, const Inserted& inserted, SteadyTime now);
  void settle_rows(const Batch& batch, std::vector<std::int64_t> missing, SteadyTime now);
  void note_doubt(Batch& batch, const Status& failure);
  void on_failed(Batch batch, const Status& failure, SteadyTime now);
  [[nodiscard]] PauseRule rule_of(const Batch& batch, const Status& failure) const;
  void halve(const Batch& batch);
  void split_or_refuse(const Batch& batch, const Status& failure, SteadyTime now);
  void refuse(const Batch& batch, std::size_t index, std::string_view why, SteadyTime now);
  void begin_pause(const PauseRule& rule, const Status& failure, bool is_held, SteadyTime now);
  void let_go_of_pending(GapReason reason, Errors errors, SteadyTime now);
  std::optional<Batch> skip_rows(const Batch& batch, GapReason reason, Errors errors,
                                 SteadyTime now);

  void skip(GapReason reason, Level level, WallTime time, std::int64_t seq, SteadyTime now);
  void skip_front(GapReason reason, SteadyTime now);
  void decide_arrivals_in_pause(SteadyTime now);

  std::optional<Send> choose_send(SteadyTime now);
  std::optional<Send> choose_send_in_pause(SteadyTime now);
  std::optional<Send> choose_send_when_open(SteadyTime now);
  std::optional<Send> send_pending(SteadyTime now);
  std::optional<Send> send(Batch batch, SteadyTime now);
  [[nodiscard]] LockWait lock_wait(SteadyTime now) const noexcept;
  Batch build_batch(SteadyTime now);
  void fill_from_queue(std::vector<Record>& rows);
  [[nodiscard]] SteadyTime may_send_at() const noexcept;
  [[nodiscard]] bool tells_of_error_next() const noexcept;
  [[nodiscard]] bool is_batch_full() const noexcept;
  [[nodiscard]] std::optional<SteadyTime> batch_due_at(SteadyTime now) const;
  [[nodiscard]] bool is_urgent() const noexcept;
  [[nodiscard]] std::chrono::milliseconds gap_age() const noexcept;

  [[nodiscard]] std::optional<SteadyTime> next_wake(SteadyTime now) const;
  [[nodiscard]] std::optional<SteadyTime> next_opportunity(SteadyTime now) const;
  [[nodiscard]] std::optional<SteadyTime> next_opportunity_in_pause(SteadyTime now) const;
  void finish_closing(SteadyTime now, Actions& actions);
  void give_up(SteadyTime now);

  const CoreOptions options_;
  SeqCounter seqs_;
  ArrivalQueue queue_;
  GapLedger gaps_;
  OverloadGate gate_;
  TokenBucket bucket_;
  BatchSize batch_size_;
  std::deque<Batch> pending_;
  std::optional<Batch> in_flight_;
  SteadyTime in_flight_since_;
  SteadyTime in_flight_deadline_;
  bool has_failed_ = false;  ///< The last attempt that had an answer of the database.

  int resends_ = 0;  ///< Of the batch in front, since its first failure.
  SteadyTime resend_at_ = SteadyTime::min();
  std::uint64_t random_state_;
  std::int64_t flush_through_ = 0;
  std::string database_ = "Database";

  std::optional<SteadyTime> close_deadline_;
  bool is_done_ = false;
  // One attempt each in spite of a pause, granted by close.
  bool may_try_pending_ = false;
  bool may_try_gaps_ = false;

  std::uint64_t stored_ = 0;
  std::uint64_t own_ = 0;
  std::uint64_t pauses_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t collisions_ = 0;
  std::optional<SteadyTime> last_success_;
  std::optional<SteadyTime> paused_since_;  ///< Until the first success after the pause.
  DiagnosticLines diagnostics_;
};

}  // namespace spillway
