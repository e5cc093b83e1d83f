// SPDX-License-Identifier: MIT
//
// How a run of retention ends: the program's exit status.
#pragma once

#include <spillway/status.h>

#include <cstdint>
#include <string>

namespace spillway::retention {

enum class End : std::uint8_t {
  kDone = 0,  ///< The policy is met.
  kError = 1,
  kUsage = 2,        ///< Usage or configuration; nothing was touched.
  kLeaseHeld = 3,    ///< Another run is at work.
  kRefused = 4,      ///< By a guard; nothing was deleted.
  kStopped = 5,      ///< By a budget or a signal; the next run goes on.
  kUnavailable = 6,  ///< The database is overloaded or cannot be reached; the next run goes on.
  kNotMet = 7,       ///< All was done, and the policy is not met.
};

/// How, and why in one line for a person.
struct Verdict {
  End end = End::kDone;
  std::string why = {};
  Status failure = {};  ///< Of the database, if that is why.
};

/// For a failure of the database.
[[nodiscard]] Verdict verdict_of(const Status& failure);

}  // namespace spillway::retention
