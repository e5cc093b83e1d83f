// SPDX-License-Identifier: MIT
#include "bench/measurement.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>

namespace spillway::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Samples = std::vector<double>;

/// At first memory is allocated and the table made: that is not what a call costs.
constexpr int kWarmUpRounds = 25;

/// The value that at least `share` of `samples` do not exceed.
double quantile(Samples samples, double share) {
  assert(!samples.empty());
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

/// Nanoseconds a call.
double timed_burst(Candidate& candidate, int calls) {
  const SteadyClock::time_point start = SteadyClock::now();
  candidate.burst(calls);
  const std::chrono::duration<double, std::nano> taken = SteadyClock::now() - start;
  return taken.count() / calls;
}

/// Candidates that take part in a run together, and what was measured of each.
class Run {
 public:
  Run(std::span<const CandidateKind> kinds, const MeasurementOptions& options,
      const std::filesystem::path& directory)
      : options_(options), order_(kinds.size()), samples_(kinds.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (const CandidateKind& kind : kinds) {
      const auto own = directory / std::to_string(candidates_.size());
      std::filesystem::create_directories(own);
      candidates_.push_back(kind.make(own));
    }
  }

  void measure() {
    for (int round = 0; round < kWarmUpRounds; ++round) {
      play_round();
    }
    for (Samples& samples : samples_) {
      samples.clear();
    }
    for (int round = 0; round < options_.rounds; ++round) {
      play_round();
    }
  }

  [[nodiscard]] RunFigures figures(std::size_t candidate) const {
    const Samples& samples = samples_[candidate];
    return {.p50 = quantile(samples, 0.50), .p99 = quantile(samples, 0.99)};
  }

  [[nodiscard]] Account close(std::size_t candidate) { return candidates_[candidate]->close(); }

 private:
  void play_round() {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const std::size_t candidate : order_) {
      samples_[candidate].push_back(timed_burst(*candidates_[candidate], options_.calls));
      std::this_thread::sleep_for(options_.pause);
    }
  }

  MeasurementOptions options_;
  std::vector<std::size_t> order_;
  std::vector<Samples> samples_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::minstd_rand random_{1};  // The orders need to be many, not different from run to run.
};

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& more) {
  if (more) {
    sum = sum.value_or(0) + *more;
  }
}

void add(Account& sum, const Account& more) {
  sum.logged += more.logged;
  add(sum.stored, more.stored);
  add(sum.skipped, more.skipped);
}

}  // namespace

std::vector<Measurement> measure(std::span<const CandidateKind> kinds,
                                 const MeasurementOptions& options,
                                 const std::filesystem::path& directory) {
  std::vector<Measurement> measurements;
  for (const CandidateKind& kind : kinds) {
    measurements.push_back({.name = kind.name, .runs = {}, .account = {}});
  }
  for (int number = 0; number < options.runs; ++number) {
    Run run(kinds, options, directory / std::to_string(number));
    run.measure();
    for (std::size_t candidate = 0; candidate < kinds.size(); ++candidate) {
      measurements[candidate].runs.push_back(run.figures(candidate));
      add(measurements[candidate].account, run.close(candidate));
    }
  }
  return measurements;
}

double median(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace spillway::bench
