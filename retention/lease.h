// SPDX-License-Identifier: MIT
//
// Lease: one run at a time for a table, wherever it runs. It is a row of TABLE_meta, taken by a
// conditional write and timed by the database's clock alone, so that no holder's clock has a say.
//
// A holder that stalls loses it after at most 60 s, and does not know. So every transaction that
// deletes begins with `fence()`, which fails once somebody else has taken the lease: the numbers of
// holders only grow. The error then reads "malformed JSON": ask `holds()` before saying so.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/condition.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace spillway::retention {

inline constexpr std::chrono::seconds kLeaseTime{60};

/// Who is in the way, and for how long at most.
struct LeaseHolder {
  std::string owner;
  std::chrono::milliseconds left{0};
};

class Lease {
 public:
  struct Answer;

  /// Tries once. `meta` is the quoted name of TABLE_meta, which must exist; `owner` is for people
  /// and unique to this run ("host:pid:random"). A row that cannot be read counts as free, and its
  /// number, if it can be told, is passed. When the answer to the write is lost, the row is read.
  [[nodiscard]] static Result<Answer> take(Database& database, std::string meta, std::string owner,
                                           const ExecuteOptions& options);

  /// Fails as SQL when the lease is not ours any more. Reads one row.
  [[nodiscard]] Statement fence() const;
  /// Makes it last kLeaseTime from now, in any transaction that begins with the fence.
  [[nodiscard]] Statement renewal() const;
  /// False: somebody else has taken it.
  [[nodiscard]] Result<bool> holds(Database& database, const ExecuteOptions& options) const;
  /// Takes a new number for the same lease, so that whatever was sent under the old one, and is
  /// still on its way, cannot be executed any more. False: somebody else has taken the lease.
  [[nodiscard]] Result<bool> renumber(Database& database, const ExecuteOptions& options);
  /// Lets the next run begin at once, if it is still ours.
  [[nodiscard]] Status release(Database& database, const ExecuteOptions& options) const;

  [[nodiscard]] std::int64_t generation() const noexcept { return generation_; }

 private:
  Lease(std::string meta, std::string owner, std::int64_t generation)
      : meta_(std::move(meta)), owner_(std::move(owner)), generation_(generation) {}

  [[nodiscard]] Condition is_ours() const;
  /// Moves the end, if the lease is still ours.
  [[nodiscard]] Statement ending(const std::string& until) const;

  std::string meta_;
  std::string owner_;  // Numbers begin anew where somebody has deleted the row.
  std::int64_t generation_;
};

struct Lease::Answer {
  std::optional<Lease> lease = {};  ///< Ours, or
  LeaseHolder holder = {};          ///< who has it.
};

}  // namespace spillway::retention
