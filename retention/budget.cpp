// SPDX-License-Identifier: MIT
#include "retention/budget.h"

#include <algorithm>
#include <limits>

namespace spillway::retention {

Budget::Budget(const RunOptions& options, const World& world) : options_(options), world_(world) {
  limits_.cancel = world.stop;
  if (options.max_runtime) {
    limits_.deadline = world.clock.steady_now() + *options.max_runtime;
  }
}

std::optional<Verdict> Budget::stopped(std::chrono::milliseconds takes) const {
  if (is_told_to_stop()) {
    return Verdict{End::kStopped, "stopped by a signal; the next run goes on from here"};
  }
  if (limits_.deadline && world_.clock.steady_now() + takes >= *limits_.deadline) {
    return Verdict{End::kStopped, "the time of --max-runtime is used up; the next run goes on"};
  }
  return std::nullopt;
}

std::optional<Verdict> Budget::used_up(std::int64_t deleted, std::int64_t written) const {
  if (options_.max_written && written >= *options_.max_written) {
    return Verdict{End::kStopped, "the rows of --max-written are used up; the next run goes on"};
  }
  if (options_.allow_delete && deleted >= *options_.allow_delete) {
    return Verdict{End::kStopped, "as many rows are gone as --allow-delete lets go"};
  }
  return std::nullopt;
}

std::int64_t Budget::rows_left(std::int64_t deleted, std::int64_t written) const {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t by_written = options_.max_written.value_or(kNoLimit) - written;
  const std::int64_t by_deleted = options_.allow_delete.value_or(kNoLimit) - deleted;
  return std::max<std::int64_t>(1, std::min(by_written, by_deleted));
}

}  // namespace spillway::retention
