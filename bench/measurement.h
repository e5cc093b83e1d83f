// SPDX-License-Identifier: MIT
//
// How long a log call takes for the thread that logs.
//
// A burst of calls is timed as a whole, for one call is not much longer than a look at the clock.
// After each burst comes a pause in which whatever works behind the call can finish: what is
// measured is the call, not the throughput. All candidates take part in each round, in a new order
// each time, so that the machine's moods meet all of them; a run has many rounds, and there are
// several runs, each with new candidates.
#pragma once

#include "bench/candidate.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace spillway::bench {

struct MeasurementOptions {
  int runs = 5;
  int rounds = 500;
  int calls = 20;  ///< In a burst.
  std::chrono::microseconds pause = std::chrono::milliseconds(2);
};

/// Of the bursts of one run: nanoseconds a call.
struct RunFigures {
  double p50 = 0;
  double p99 = 0;
};

struct Measurement {
  std::string_view name;
  std::vector<RunFigures> runs;
  Account account;  ///< Of all runs together.
};

/// One for each of `kinds`, in their order. Files go into directories in `directory`.
[[nodiscard]] std::vector<Measurement> measure(std::span<const CandidateKind> kinds,
                                               const MeasurementOptions& options,
                                               const std::filesystem::path& directory);

/// The middle one; of an even number the mean of the two in the middle. Not of none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace spillway::bench
