// SPDX-License-Identifier: MIT
//
// D1Script: what the scripted D1 is to do, what it has seen, and the waiting in between.
//
// Shared by the connections' threads and the test; thread-safe.
#pragma once

#include "tests/support/d1_fault.h"
#include "tests/support/scripted_d1.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spillway::testing {

/// A request's lot.
struct D1Decision {
  D1Fault fault;
  /// Which releases end its waiting: those after this many.
  std::size_t releases = 0;
};

class D1Script {
 public:
  explicit D1Script(bool keeps_requests) : keeps_requests_(keeps_requests) {}

  void add(std::initializer_list<D1Fault> faults);
  void set_rule(D1Rule rule);
  void only_for(std::string text);
  void release();
  /// From now on nobody waits.
  void stop();

  /// Records the request and decides.
  [[nodiscard]] D1Decision take(D1Request request);
  void count_connection();
  void count_rows(std::int64_t rows);

  /// Blocks until the test releases the request, or `time` has passed. False: stopped.
  bool wait(const D1Decision& decision, std::optional<std::chrono::milliseconds> time);
  /// Blocks for that long. False: stopped.
  bool pause(std::chrono::milliseconds time);

  [[nodiscard]] std::vector<D1Request> requests() const;
  [[nodiscard]] bool wait_for_requests(std::size_t count, std::chrono::milliseconds timeout) const;
  [[nodiscard]] D1Counts counts() const;

 private:
  [[nodiscard]] D1Fault next(const D1Request& request);

  const bool keeps_requests_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<D1Fault> faults_;
  D1Rule rule_;
  std::string meant_;
  std::vector<D1Request> requests_;
  D1Counts counts_;
  std::size_t releases_ = 0;
  bool is_stopped_ = false;
};

}  // namespace spillway::testing
