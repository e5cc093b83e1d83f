// SPDX-License-Identifier: MIT
//
// Pipeline: takes log records from any thread and brings them into a table, whatever happens to the
// database.
//
// `accept` copies the record and returns. Two threads of the pipeline's own do the rest: the intake
// thread batches, decides and counts; the shipper thread makes one attempt at a time to write.
// While the database is overloaded the OverloadPolicy decides what is still written; what is not is
// counted and named in a row of its own, the gap row.
//
// - Delivery: every accepted record is stored exactly once or named in a count; a crash loses what
//   is in memory.
// - Ordering: by (writer, seq), the order of calls within a thread.
// - Blocking: accept never waits for the database; flush and close at most for their timeout.
// - Memory: queue_bytes_max and queue_records_max, and one batch in flight.
// - Back-pressure: none; a full queue sheds by level. wait_for_room is for those that can wait.
// - Counters: Stats.
// - Fork: parent and child may both go on. Before a fork the attempt under way is stopped (at most
//   2 s) and the database let go; each opens its own anew. What is queued stays the parent's. The
//   child begins with nothing, threads and a `writer` of its own (docs/lifecycle.md).
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/overload_policy.h>
#include <spillway/record.h>
#include <spillway/stats.h>
#include <spillway/status.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct PipelineOptions {
  // What changes behaviour.

  /// The table; `TABLE_meta` is created beside it. 1 to 64 bytes, no NUL; quoted wherever it is
  /// used.
  std::string table = "logs";

  OverloadPolicy overload = OverloadPolicy::reference();

  /// How long the destructor waits for what is still queued. `close` takes its own. 0 to 1 h.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(5);

  /// Takes the pipeline's own diagnostics, one line each, without newline: a pause began, rows were
  /// refused, what was left at close. Called on the intake thread, which stands still meanwhile: it
  /// must return soon. What it logs into this pipeline is only counted (Stats::reentrant); flush
  /// and close return at once there. A forked child has a copy of it. At the very
  /// end of the process, when what it needs may be destroyed, stderr is used instead. An exception
  /// is swallowed. Empty: a line on stderr, "spillway: …".
  std::function<void(std::string_view)> on_diagnostic = {};

  // What changes only performance. The defaults are good for most programs.

  /// Memory for records that wait. Records are shed by level as it fills: up to INFO from half,
  /// WARN from four fifths, ERROR and above when it is full. 64 KiB to 16 GiB.
  std::size_t queue_bytes_max = std::size_t{64} << 20;
  /// The same bound as a count. 100 to 2^31.
  std::size_t queue_records_max = 262'144;

  /// A batch is sent when it has this many rows … 1 to 100,000
  std::size_t batch_rows_max = 2'000;
  /// … or this many bytes (a larger single record goes alone) … 1,000 to 2,000,000. Empty:
  /// 1,000,000; for D1 2,000,000.
  std::optional<std::size_t> batch_bytes_max = {};
  /// … or when its oldest record is this old; ERROR and above at once. 0 to 1 min.
  std::chrono::milliseconds batch_age_max = std::chrono::milliseconds(200);

  /// The deadline of one attempt to write. 10 ms to 10 min.
  std::chrono::milliseconds attempt_timeout = std::chrono::seconds(10);

  /// At most so many requests: while writes wait for one, batches grow. The last of a `burst` of 2
  /// or more is kept for ERROR. Empty: as the database asks for, which is no limit for SQLite, and
  /// for D1 2 a second and 5 at once: an account that makes over 1,200 API calls in 5 minutes is
  /// blocked for the next 5. {0, 0}: no limit, where the database is not behind that API.
  /// per_second from 0.001 to 100,000, burst from 1 to 100,000.
  std::optional<RequestRate> request_rate = {};

  /// For tests. It must outlive the pipeline.
  const Clock* clock = &Clock::system();
};

class Pipeline {
 public:
  /// Starts the two threads and returns at once: the database is opened when there is something to
  /// write. `factory` is called on the shipper thread, again after a failure that may have broken
  /// the connection and after a fork, and never concurrently. It gets no deadline, so it should
  /// take no longer than an attempt may: a close leaves it behind, and a fork waits 2 s for it. The
  /// database is destroyed on the shipper thread or, before a fork, on the thread that forks; there
  /// it must not let go of another pipeline. kInvalidArgument: an option is out of its bounds
  /// (named), or `factory` is empty. kInternal: no thread to be had.
  [[nodiscard]] static Result<std::unique_ptr<Pipeline>> start(DatabaseFactory factory,
                                                               PipelineOptions options = {});

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  /// close(close_timeout), unless close was called. No other call may still be running. On one of
  /// the pipeline's own threads (a callback held the last reference) it does not wait; what is left
  /// is still sent.
  ~Pipeline();

  /// Takes a copy of `record`. Any thread, at any time; waits for no I/O. True if the record was
  /// queued; false if it was shed because the queue is full (counted, named in a gap row), or came
  /// after close or from within the pipeline (counted in `after_close` and `reentrant`). The first
  /// call in a forked child starts its threads.
  bool accept(const RecordView& record) noexcept;

  /// Counts records that were lost on their way here, such as those that an asynchronous logger's
  /// queue overwrote: they become a gap row, with the level UNKNOWN. `records`: below 2^53 in all.
  /// `from` and `to`, not before it: about when. Any thread; waits for no I/O.
  void count_lost(std::uint64_t records, WallTime from, WallTime to) noexcept;

  /// Returns when `record` would be queued, or as soon as waiting is of no use: it is not worth it
  /// (is_worth_waiting), the record is too large for the queue, or the pipeline is closed. For
  /// programs that can wait, such as one that copies a file in.
  void wait_for_room(const RecordView& record) noexcept;

  /// True while writes go well: they are not paused, and the last successful one (at first: the
  /// start) is under a second ago, not counting for how long the request rate held the next one
  /// back; or an attempt is under way, within its deadline, and the one before it did not fail.
  [[nodiscard]] bool is_worth_waiting() const noexcept;

  /// Sends what was accepted before this call without waiting for a fuller batch, and returns when
  /// all of it is stored, or skipped and named in a stored gap row, at the latest after `timeout`.
  /// `is_complete` of the answer says whether. A timeout of 0 wakes the pipeline and returns at
  /// once; below 0 is 0, more than a year is a year. During a pause nothing is sent earlier because
  /// of this.
  Stats flush(std::chrono::milliseconds timeout) noexcept;

  /// Stops accepting, sends what is left and ends the threads; returns when nothing more can be
  /// done, at the latest shortly after `timeout`. In a pause the held batch and the gap rows get
  /// one attempt each. What is left then is counted as skipped or in doubt, and told in one
  /// diagnostic. `timeout` as in flush. Of several calls the earliest deadline counts; each returns
  /// the account at its end. On one of the pipeline's own threads it does not wait.
  Stats close(std::chrono::milliseconds timeout) noexcept;

  /// The account as of the last event.
  [[nodiscard]] Stats stats() const noexcept;

 private:
  class State;
  explicit Pipeline(State& state);
  [[nodiscard]] State* state() noexcept;
  [[nodiscard]] State* state_of_child(State* inherited) noexcept;

  std::atomic<State*> state_;
};

}  // namespace spillway
