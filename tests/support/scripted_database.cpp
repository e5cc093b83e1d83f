// SPDX-License-Identifier: MIT
#include "tests/support/scripted_database.h"

#include <spillway/sqlite_database.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spillway::testing {
namespace {

ScriptedCall recorded(std::span<const Statement> statements, SteadyTime began, bool has_values) {
  ScriptedCall call{.began = began};
  for (const Statement& statement : statements) {
    call.rows += statement.rows.size();
    if (has_values) {
      std::copy(statement.rows.begin(), statement.rows.end(), std::back_inserter(call.values));
    }
  }
  return call;
}

std::vector<StatementResult> success(std::span<const Statement> statements) {
  std::vector<StatementResult> results;
  for (const Statement& statement : statements) {
    results.emplace_back().meta.changes = static_cast<std::int64_t>(statement.rows.size());
  }
  return results;
}

}  // namespace

void DatabaseScript::add(std::initializer_list<Outcome> outcomes) {
  const std::lock_guard lock(mutex_);
  outcomes_.insert(outcomes_.end(), outcomes);
}

void DatabaseScript::set_default(Outcome outcome) {
  const std::lock_guard lock(mutex_);
  default_ = std::move(outcome);
}

void DatabaseScript::keep_values() {
  const std::lock_guard lock(mutex_);
  has_values_ = true;
}

void DatabaseScript::release() {
  const std::lock_guard lock(mutex_);
  is_released_ = true;
  changed_.notify_all();
}

std::size_t DatabaseScript::attempts() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

std::vector<ScriptedCall> DatabaseScript::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

bool DatabaseScript::await_attempts(std::size_t count, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return calls_.size() >= count; });
}

bool DatabaseScript::is_meant(std::span<const Statement> statements) const {
  return std::any_of(statements.begin(), statements.end(), [this](const Statement& statement) {
    return statement.sql.find(text_) != std::string::npos;
  });
}

Outcome DatabaseScript::next(std::span<const Statement> statements, const ExecuteOptions& options) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(recorded(statements, clock_.steady_now(), has_values_));
  calls_.back().lock_wait = options.lock_wait;
  changed_.notify_all();
  if (outcomes_.empty()) {
    return default_;
  }
  Outcome outcome = std::move(outcomes_.front());
  outcomes_.pop_front();
  return outcome;
}

void DatabaseScript::wait_while_blocked(const ExecuteOptions& options) {
  // A FakeClock tells nobody that it has moved, so the deadline is looked at again and again.
  constexpr std::chrono::milliseconds kLook{1};
  const auto is_over = [&] {
    return is_released_ || options.cancel.stop_requested() ||
           (options.deadline && clock_.steady_now() >= *options.deadline);
  };
  std::unique_lock lock(mutex_);
  while (!is_over()) {
    changed_.wait_for(lock, options.cancel, kLook, is_over);
  }
}

ScriptedDatabase::ScriptedDatabase(std::shared_ptr<DatabaseScript> script,
                                   std::unique_ptr<Database> inner)
    : script_(std::move(script)), inner_(std::move(inner)) {
  if (inner_ == nullptr) {
    const std::string file = own_directory_.emplace().path("scripted.db");
    inner_ = std::move(SqliteDatabase::open(file, OpenMode::kCreate)).value();
  }
}

Result<std::vector<StatementResult>> ScriptedDatabase::execute(
    std::span<const Statement> statements, const ExecuteOptions& options) {
  if (!script_->is_meant(statements)) {
    return inner_->execute(statements, options);
  }
  const Outcome outcome = script_->next(statements, options);
  switch (outcome.kind) {
    case Outcome::Kind::kPass:
      return pass(statements, options);
    case Outcome::Kind::kLose:
      static_cast<void>(pass(statements, options));  // The answer is lost.
      break;
    case Outcome::Kind::kBlock:
      script_->wait_while_blocked(options);
      break;
    case Outcome::Kind::kRefuse:
      break;
  }
  return outcome.status;
}

Result<std::vector<StatementResult>> ScriptedDatabase::pass(std::span<const Statement> statements,
                                                            const ExecuteOptions& options) {
  if (own_directory_) {
    return success(statements);
  }
  return inner_->execute(statements, options);
}

}  // namespace spillway::testing
