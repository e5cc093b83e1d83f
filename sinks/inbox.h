// SPDX-License-Identifier: MIT
//
// Inbox: what all threads put in and the intake thread takes out: records, the shipper's answer,
// requests.
//
// One mutex, held for a copy at most, never across I/O. A record wakes the intake thread only when
// there is a reason to: an ERROR, a good part of a batch, or a pipeline that has nothing else to
// wake up for.
#pragma once

#include <spillway/clock.h>
#include <spillway/record.h>

#include "sinks/admission.h"
#include "sinks/pipeline_core.h"
#include "sinks/record_queue.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace spillway {

struct Mail {
  RecordQueue records;
  std::uint64_t flush_requests = 0;  ///< So far.
  std::optional<SteadyTime> close_deadline;
  std::optional<SendDone> answer;
  RecordsShed shed{.reason = GapReason::kQueueFull};
  RecordsShed overrun{.reason = GapReason::kOverrun};
};

struct InboxOptions {
  QueueFill limit;
  std::size_t wake_records = 500;
  std::size_t wake_bytes = 250'000;
  /// How long records may lie here unnoticed.
  std::chrono::milliseconds collect_max{200};
};

class Inbox {
 public:
  Inbox(const InboxOptions& options, const Clock& clock);

  // Any thread.

  /// See Pipeline.
  bool accept(const RecordView& record) noexcept;
  void wait_for_room(const RecordView& record) noexcept;
  [[nodiscard]] bool is_worth_waiting() const noexcept;
  void count_lost(std::uint64_t records, WallTime from, WallTime to) noexcept;

  void answer(SendDone answer);
  /// Gives the number of the request, from 1.
  std::uint64_t request_flush();
  /// From now on nothing is accepted. Of several deadlines the earliest counts. From within accept
  /// (an allocator that closes) it does nothing.
  void request_close(SteadyTime deadline);
  [[nodiscard]] std::uint64_t calls_after_close() const noexcept { return after_close_.load(); }
  [[nodiscard]] std::uint64_t reentrant_calls() const noexcept { return reentrant_.load(); }

  // Calls from within.

  /// Makes this thread one of the pipeline's own: what it logs is counted and not accepted.
  void own_this_thread() noexcept;
  /// True on these threads, and inside of a call, which must not wait for them.
  [[nodiscard]] bool is_own_thread() const noexcept;

  // The intake thread.

  /// Waits until there is something that deserves attention or `wake_at` has come, and takes all
  /// there is.
  [[nodiscard]] Mail wait(std::optional<SteadyTime> wake_at);
  /// How much the intake thread still keeps of what it took, and until when it is worth waiting for
  /// room.
  void set_downstream(QueueFill fill, SteadyTime worth_waiting_until);

 private:
  [[nodiscard]] QueueFill fill() const noexcept;
  [[nodiscard]] bool has_room(const RecordView& record) const noexcept;
  [[nodiscard]] bool deserves_attention() const noexcept;
  bool put_in(const RecordView& taken) noexcept;
  bool push(const RecordView& record) noexcept;
  void wake_if_needed() noexcept;
  [[nodiscard]] std::optional<SteadyTime> earliest_wake(std::optional<SteadyTime> wake_at) const;

  const InboxOptions options_;
  const Clock& clock_;

  // What accept touches comes first and close together: of a call after a while of silence, most is
  // waiting for memory.
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  bool is_intake_waiting_ = false;
  bool is_idle_ = true;  ///< The intake thread found no records when it last looked.
  QueueFill downstream_;
  std::uint64_t flush_requests_taken_ = 0;
  Mail mail_;
  std::condition_variable attention_;
  std::condition_variable room_;
  SteadyTime worth_waiting_until_;
  SteadyTime close_deadline_ = SteadyTime::max();
  std::atomic<std::uint64_t> after_close_{0};
  std::atomic<std::uint64_t> reentrant_{0};
  int waiting_for_room_ = 0;
};

}  // namespace spillway
