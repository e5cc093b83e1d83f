// SPDX-License-Identifier: MIT
//
// CountedDatabase: hands all on, and counts what it costs.
#pragma once

#include <spillway/database.h>

#include "retention/run.h"

#include <span>
#include <vector>

namespace spillway::retention {

/// What the statements of one request cost.
void add_cost(Cost& cost, std::span<const StatementResult> results, Dialect dialect);

class CountedDatabase final : public Database {
 public:
  /// `inner` must outlive the object.
  explicit CountedDatabase(Database& inner) : inner_(inner) {}

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

  [[nodiscard]] const Cost& cost() const noexcept { return cost_; }

 private:
  Database& inner_;
  Cost cost_;
};

}  // namespace spillway::retention
