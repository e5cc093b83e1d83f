// SPDX-License-Identifier: MIT
//
// CountingDatabase: a Database as it is, with a count of its calls, because what a call costs the
// other side is a request.
#pragma once

#include <spillway/database.h>

#include <memory>
#include <utility>

namespace spillway {

class CountingDatabase final : public Database {
 public:
  explicit CountingDatabase(std::unique_ptr<Database> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    ++calls_;
    return inner_->execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_->traits(); }

  /// Since the last time.
  [[nodiscard]] int take_calls() noexcept { return std::exchange(calls_, 0); }

 private:
  std::unique_ptr<Database> inner_;
  int calls_ = 0;
};

}  // namespace spillway
