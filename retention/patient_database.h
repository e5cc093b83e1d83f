// SPDX-License-Identifier: MIT
//
// PatientDatabase: a Database that waits where waiting helps, and counts what all of it costs. The
// one place of retention where an attempt is repeated.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>

#include "retention/run.h"

#include <chrono>
#include <functional>
#include <optional>

namespace spillway::retention {

/// What failed and was certainly not executed (overload, a rate limit, a start-up), or was but may
/// be repeated (ExecuteOptions::is_idempotent), is tried again with growing waits, until `patience`
/// has passed since the first failure, or the caller is told to stop. To a database that names a
/// rate, calls are spaced by it.
class PatientDatabase final : public Database {
 public:
  /// All must outlive the object.
  PatientDatabase(Database& inner, const World& world, std::chrono::milliseconds patience)
      : inner_(inner), world_(world), patience_(patience) {}

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

  /// How long the last attempt took, without any wait in front of it.
  [[nodiscard]] std::chrono::microseconds last_took() const noexcept { return last_took_; }
  [[nodiscard]] const Cost& cost() const noexcept { return cost_; }

 private:
  /// False: told to stop.
  [[nodiscard]] bool wait_for_turn(const ExecuteOptions& options);

  Database& inner_;
  const World& world_;
  const std::chrono::milliseconds patience_;
  Cost cost_;
  std::chrono::microseconds last_took_{0};
  double turns_ = 0;  // Of the bucket: see RequestRate.
  std::optional<SteadyTime> turns_at_;
};

}  // namespace spillway::retention
