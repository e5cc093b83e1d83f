// SPDX-License-Identifier: MIT
#include "retention/lease.h"

#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/sql_fragments.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kLeaseKey = "'retention_lease'";
// What a double, as D1 answers, still holds. After that, numbers begin anew.
constexpr std::string_view kLastGeneration = "9007199254740991";

// What the row says under `name`; NULL where it does not. JSON functions fail on what is no JSON.
std::string field(std::string_view name) {
  return "json_extract(CASE WHEN json_valid(value) THEN value ELSE '{}' END, '$." +
         std::string(name) + "')";
}

std::string is_generation_readable() {
  return "typeof(" + field("generation") + ") = 'integer' AND " + field("generation") +
         " BETWEEN 1 AND " + std::string(kLastGeneration);
}

std::string lease_end() {
  return "(" + std::string(kDatabaseNow) + " + " +
         std::to_string(milliseconds(kLeaseTime).count()) + ")";
}

// No holder writes an end later than that, so that a row which says so is spoilt, and free.
std::string is_held() {
  return is_generation_readable() + " AND typeof(" + field("owner") + ") = 'text' AND typeof(" +
         field("until") + ") = 'integer' AND " + field("until") + " > " +
         std::string(kDatabaseNow) + " AND " + field("until") + " <= " + lease_end();
}

// Numbers are put together in SQL: bound to D1 they would become "7.0".
std::string lease_text(const std::string& generation) {
  return "'{\"generation\":' || " + generation +
         " || ',\"owner\":' || json_quote(?1) || ',\"until\":' || " + lease_end() + " || '}'";
}

Statement take_statement(const std::string& meta, const std::string& owner) {
  const std::string next = "CASE WHEN " + is_generation_readable() + " THEN " +
                           field("generation") + " % " + std::string(kLastGeneration) +
                           " + 1 ELSE 1 END";
  return {"INSERT INTO " + meta + "(key, value) VALUES(" + std::string(kLeaseKey) + ", " +
              lease_text("1") + ") ON CONFLICT(key) DO UPDATE SET value = " +
              lease_text("(" + next + ")") + " WHERE NOT (" + is_held() + ")",
          {{owner}}};
}

Statement read_statement(const std::string& meta) {
  return {"SELECT CASE WHEN " + is_generation_readable() + " THEN " + field("generation") +
          " END, " + field("owner") + ", " + field("until") + " - " + std::string(kDatabaseNow) +
          " FROM " + meta + " WHERE key = " + std::string(kLeaseKey)};
}

struct LeaseRow {
  std::optional<std::int64_t> generation = {};
  LeaseHolder holder = {};
};

LeaseRow lease_row(const StatementResult& answer) {
  if (answer.rows.empty() || answer.rows[0].size() != 3) {
    return {};
  }
  const Row& row = answer.rows[0];
  const auto* owner = std::get_if<std::string>(&row[1]);
  const milliseconds left(exact_integer(row[2]).value_or(0));
  return {exact_integer(row[0]),
          {owner == nullptr ? "" : *owner,
           std::clamp(left, milliseconds(0), milliseconds(kLeaseTime))}};
}

}  // namespace

Result<Lease::Answer> Lease::take(Database& database, std::string meta, std::string owner,
                                  const ExecuteOptions& options) {
  const std::array<Statement, 2> statements{take_statement(meta, owner), read_statement(meta)};
  auto answers = execute_all(database, statements, options);
  const Status failure = answers.status();
  if (failure.execution() == Execution::kMaybe) {
    answers = execute_all(database, std::span(statements).last(1), options);
  }
  if (!answers) {
    return answers.error();
  }
  const bool is_written = failure.is_ok() && answers->front().meta.changes > 0;
  LeaseRow row = lease_row(answers->back());
  if (row.generation && (is_written || row.holder.owner == owner)) {
    return Answer{.lease = Lease(std::move(meta), std::move(owner), *row.generation)};
  }
  if (is_written) {
    return does_not_fit();
  }
  // Nobody holds it, and a write of which nothing is known may still come.
  if (!failure.is_ok() && row.holder.left == milliseconds(0)) {
    return failure;
  }
  return Answer{.holder = std::move(row.holder)};
}

Condition Lease::is_ours() const {
  return {"key = " + std::string(kLeaseKey) + " AND " + field("generation") + " = " +
              std::to_string(generation_) + " AND " + field("owner") + " = ?",
          {owner_}};
}

Statement Lease::fence() const {
  Condition ours = is_ours();
  return statement_of("SELECT CASE WHEN EXISTS(SELECT 1 FROM " + meta_ + " WHERE " + ours.sql +
                          ") THEN 1 ELSE json('lease lost') END",
                      std::move(ours.values));
}

Statement Lease::ending(const std::string& until) const {
  Condition ours = is_ours();
  return statement_of("UPDATE " + meta_ + " SET value = json_set(value, '$.until', " + until +
                          ") WHERE " + ours.sql,
                      std::move(ours.values));
}

Statement Lease::renewal() const { return ending(lease_end()); }

Result<bool> Lease::holds(Database& database, const ExecuteOptions& options) const {
  Condition ours = is_ours();
  const std::array<Statement, 1> statements{
      statement_of("SELECT 1 FROM " + meta_ + " WHERE " + ours.sql, std::move(ours.values))};
  const auto answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  return !answers->front().rows.empty();
}

Result<bool> Lease::renumber(Database& database, const ExecuteOptions& options) {
  const Lease next(meta_, owner_, generation_ + 1);
  Condition ours = is_ours();
  Condition renumbered = next.is_ours();
  const std::array<Statement, 2> statements{
      statement_of("UPDATE " + meta_ + " SET value = json_set(value, '$.generation', " +
                       std::to_string(next.generation_) + ") WHERE " + ours.sql,
                   std::move(ours.values)),
      statement_of("SELECT 1 FROM " + meta_ + " WHERE " + renumbered.sql,
                   std::move(renumbered.values))};
  ExecuteOptions again = options;
  again.is_idempotent = true;  // The second time, nothing is left to change.
  const auto answers = execute_all(database, statements, again);
  if (!answers) {
    return answers.error();
  }
  const bool is_renumbered = !answers->back().rows.empty();
  generation_ = is_renumbered ? next.generation_ : generation_;
  return is_renumbered;
}

Status Lease::release(Database& database, const ExecuteOptions& options) const {
  const std::array<Statement, 1> statements{ending("0")};
  return execute_all(database, statements, options).status();
}

}  // namespace spillway::retention
