// SPDX-License-Identifier: MIT
//
// run: deletes what a policy lets go, in short transactions, under a lease.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/sleeper.h>
#include <spillway/status.h>

#include "retention/end.h"
#include "retention/policy.h"
#include "retention/table_form.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spillway::retention {

struct RunOptions {
  FormChoice choice = {};
  Policy policy = {};
  /// A directory: rows go into a file there before they are deleted. Empty: they are not kept.
  std::string archive = {};
  std::optional<std::int64_t> chunk = {};                        ///< Rows. Empty: by latency.
  std::optional<std::chrono::milliseconds> target_latency = {};  ///< Empty: 50 ms, on D1 250 ms.
  // Budgets. What is left when one is used up is for the next run.
  std::optional<std::chrono::milliseconds> max_runtime = {};
  std::optional<std::int64_t> max_written = {};
  /// Lets guards pass, and is the most that goes.
  std::optional<std::int64_t> allow_delete = {};
  /// A rehearsal: what would go at this time. Not later than the real now.
  std::optional<WallTime> now = {};
};

/// What a run costs at D1: rows read and written as the database counts them, in dollars at its
/// prices. SQLite counts only changes. Source: developers.cloudflare.com/d1/platform/pricing.
struct Cost {
  std::int64_t rows_read = 0;
  std::int64_t rows_written = 0;
  std::int64_t requests = 0;

  [[nodiscard]] double dollars() const noexcept;
};

struct Progress {
  std::int64_t deleted = 0;
  std::chrono::milliseconds elapsed{0};
  std::optional<WallTime> reached = {};  ///< Own tables: how far the walk has come, and
  std::optional<WallTime> begin = {};    ///< from where
  std::optional<WallTime> end = {};      ///< to where it goes.
};

struct Report {
  Verdict verdict = {};
  std::string table = {};
  WallTime now = {};
  std::int64_t deleted = 0;
  std::map<std::string, std::int64_t> deleted_by = {};  ///< "keep", a level, "max-rows".
  /// Rows that stay whatever their age: null, empty, unit, unreadable, future; and `refused`, which
  /// a trigger or a foreign key keeps. Counted where the walk came by.
  std::map<std::string, std::int64_t> kept = {};
  std::optional<WallTime> oldest = {};  ///< The oldest row that is left.
  bool is_met = false;                  ///< The policy.
  /// The table grew so many times as fast as runs delete. Empty: it did not, or nobody knows.
  std::optional<double> falling_behind = {};
  Cost cost = {};
  std::int64_t chunks = 0;
  std::chrono::milliseconds took{0};
  std::string archive_file = {};  ///< Empty: nothing was archived.
  std::int64_t archived = 0;
  std::int64_t reclaimed_bytes = 0;
  std::vector<std::string> warnings = {};  ///< One line each.
};

/// What a run has of the world.
struct World {
  const Clock& clock;
  Sleeper& sleeper;
  std::stop_token stop = {};
  std::string owner = {};        ///< For the lease: see Lease::take.
  std::string sqlite_path = {};  ///< Empty: it is no file.
  /// Random numbers in [0, 1), for jitter.
  std::function<double()> random = {};
  std::function<void(const Progress&)> on_progress = {};
};

/// One run, from the lease to the last step of giving space back. Blocks for as long as it takes;
/// `stop` ends it within about 2 s. Never throws for what the database does. `database` is one
/// attempt a call, as open() gives it.
[[nodiscard]] Report run(Database& database, const RunOptions& options, const World& world);

}  // namespace spillway::retention
