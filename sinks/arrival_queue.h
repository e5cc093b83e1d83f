// SPDX-License-Identifier: MIT
//
// ArrivalQueue: the records that wait on the intake thread, with the sequence numbers and the time
// at which they arrived. Numbers and times are kept once for each arrival, not for each record.
// Pure; not thread-safe.
#pragma once

#include <spillway/clock.h>

#include "sinks/record_queue.h"

#include <cstdint>
#include <deque>
#include <utility>

namespace spillway {

class ArrivalQueue {
 public:
  /// Takes all records; they get the numbers from `first_seq` on.
  void arrive(RecordQueue&& records, std::int64_t first_seq, SteadyTime now) {
    if (!records.is_empty()) {
      arrivals_.push_back({first_seq, records.records(), now});
      queue_.append(std::move(records));
    }
  }

  [[nodiscard]] RecordView front() const noexcept { return queue_.front(); }
  [[nodiscard]] std::int64_t front_seq() const noexcept { return arrivals_.front().next_seq; }
  [[nodiscard]] SteadyTime front_arrived_at() const noexcept { return arrivals_.front().at; }

  void pop() noexcept {
    queue_.pop();
    Arrival& arrival = arrivals_.front();
    ++arrival.next_seq;
    if (--arrival.left == 0) {
      arrivals_.pop_front();
    }
  }

  [[nodiscard]] const RecordQueue& records() const noexcept { return queue_; }
  [[nodiscard]] bool is_empty() const noexcept { return queue_.is_empty(); }

 private:
  struct Arrival {
    std::int64_t next_seq;  ///< Of the oldest record that is left.
    std::size_t left;
    SteadyTime at;
  };

  RecordQueue queue_;
  std::deque<Arrival> arrivals_;
};

}  // namespace spillway
