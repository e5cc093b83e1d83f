// SPDX-License-Identifier: MIT
//
// ScriptedDatabase: a Database that does what a script says, for the calls that write log rows.
//
// The script is a separate object, shared by all databases that a factory opens, and may be changed
// and read from any thread. Calls that it does not speak of (the schema's) pass.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include "tests/support/temp_dir.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spillway::testing {

/// As D1 over REST speaks of itself.
inline DatabaseTraits d1_traits() {
  return {.name = "D1", .dialect = Dialect::kD1, .rate = {.per_second = 2, .burst = 5}};
}

/// What becomes of one call.
struct Outcome {
  enum class Kind : std::uint8_t { kPass, kRefuse, kLose, kBlock };

  Kind kind = Kind::kPass;
  Status status = {};

  static Outcome pass() { return {}; }
  /// Not executed; the caller gets the status.
  static Outcome refuse(Status status) { return {Kind::kRefuse, std::move(status)}; }
  /// Executed; the caller gets the status all the same.
  static Outcome lose(Status status) { return {Kind::kLose, std::move(status)}; }
  /// Not executed; hangs until the script is released, the call is cancelled or its deadline has
  /// passed, and answers kLost.
  static Outcome block() { return {Kind::kBlock, Status(StatusCode::kLost, "no answer came")}; }
};

/// A call that the script decided.
struct ScriptedCall {
  SteadyTime began;
  std::size_t rows = 0;                    ///< Log rows, over all statements.
  std::vector<Statement> statements = {};  ///< If the script keeps them.
  std::optional<std::chrono::milliseconds> lock_wait = {};
};

class DatabaseScript {
 public:
  /// `text` marks the calls meant: one of their statements holds it. By default it is the insert
  /// into a log table, in either form.
  explicit DatabaseScript(const Clock& clock = Clock::system(),
                          std::string text = "message, fields) ")
      : clock_(clock), text_(std::move(text)) {}

  void add(std::initializer_list<Outcome> outcomes);
  /// What comes after the last outcome added; kPass at first.
  void set_default(Outcome outcome);
  /// From now on calls are recorded with their statements.
  void keep_statements();
  /// What its databases say of themselves, in place of what they are: so SQLite, which understands
  /// the statements meant for D1, stands for D1.
  void set_traits(DatabaseTraits traits);
  /// Ends all blocks, those to come too.
  void release();

  [[nodiscard]] std::size_t attempts() const;
  [[nodiscard]] std::vector<ScriptedCall> calls() const;
  /// Returns when there have been `count` attempts; false if that takes longer than `timeout`.
  [[nodiscard]] bool await_attempts(std::size_t count, std::chrono::milliseconds timeout) const;

 private:
  friend class ScriptedDatabase;
  [[nodiscard]] bool is_meant(std::span<const Statement> statements) const;
  [[nodiscard]] Outcome next(std::span<const Statement> statements, std::size_t rows,
                             const ExecuteOptions& options);
  [[nodiscard]] std::optional<DatabaseTraits> traits() const;
  void wait_while_blocked(const ExecuteOptions& options);

  const Clock& clock_;
  const std::string text_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::deque<Outcome> outcomes_;
  Outcome default_;
  std::vector<ScriptedCall> calls_;
  std::optional<DatabaseTraits> traits_;
  bool keeps_statements_ = false;
  bool is_released_ = false;
};

class ScriptedDatabase final : public Database {
 public:
  /// What passes goes to `inner`. Without one, a call of the script that passes succeeds with as
  /// many changes as it has log rows, and an SQLite file of its own takes the rest.
  explicit ScriptedDatabase(std::shared_ptr<DatabaseScript> script,
                            std::unique_ptr<Database> inner = nullptr);

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override;
  [[nodiscard]] DatabaseTraits traits() const override;

 private:
  [[nodiscard]] Result<std::vector<StatementResult>> pass(std::span<const Statement> statements,
                                                          const ExecuteOptions& options);
  [[nodiscard]] std::size_t log_rows(const Statement& statement);

  std::shared_ptr<DatabaseScript> script_;
  std::optional<TempDir> own_directory_;  // Before inner_: the file is closed first.
  std::unique_ptr<Database> inner_;
};

}  // namespace spillway::testing
