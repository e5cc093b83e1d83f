// SPDX-License-Identifier: MIT
#include "tests/support/scripted_database.h"

#include <spillway/sqlite_database.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spillway::testing {
namespace {

bool is_json_form(const Statement& statement) {
  return statement.sql.find("json_each(?1)") != std::string::npos;
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

void DatabaseScript::keep_statements() {
  const std::lock_guard lock(mutex_);
  keeps_statements_ = true;
}

void DatabaseScript::set_traits(DatabaseTraits traits) {
  const std::lock_guard lock(mutex_);
  traits_ = std::move(traits);
}

std::optional<DatabaseTraits> DatabaseScript::traits() const {
  const std::lock_guard lock(mutex_);
  return traits_;
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

Outcome DatabaseScript::next(std::span<const Statement> statements, std::size_t rows,
                             const ExecuteOptions& options) {
  const std::lock_guard lock(mutex_);
  calls_.push_back({.began = clock_.steady_now(), .rows = rows, .lock_wait = options.lock_wait});
  if (keeps_statements_) {
    calls_.back().statements.assign(statements.begin(), statements.end());
  }
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
  std::size_t rows = 0;
  for (const Statement& statement : statements) {
    rows += log_rows(statement);
  }
  const Outcome outcome = script_->next(statements, rows, options);
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
    std::vector<StatementResult> results;
    for (const Statement& statement : statements) {
      results.emplace_back().meta.changes = static_cast<std::int64_t>(log_rows(statement));
    }
    return results;
  }
  return inner_->execute(statements, options);
}

DatabaseTraits ScriptedDatabase::traits() const {
  return script_->traits().value_or(inner_->traits());
}

std::size_t ScriptedDatabase::log_rows(const Statement& statement) {
  if (!is_json_form(statement)) {
    return statement.rows.size();
  }
  const Statement count{"SELECT json_array_length(?)", statement.rows};
  const auto answer = inner_->execute(std::span(&count, 1), {});
  return static_cast<std::size_t>(std::get<std::int64_t>(answer.value().at(0).rows.at(0).at(0)));
}

}  // namespace spillway::testing
