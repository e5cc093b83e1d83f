// SPDX-License-Identifier: MIT
#include "retention/walk.h"

#include "d1/exact_integer.h"
#include "d1/execute_all.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spillway::retention {
namespace {

constexpr int kLossesMax = 6;
constexpr int kMismatchesMax = 3;
constexpr std::chrono::milliseconds kWaitAfterLoss{1'000};

// As the fence says it.
Status lost_lease() { return {StatusCode::kPermanent, "malformed JSON"}; }

bool is_broken_fence(const Status& failure) {
  return failure.message().find("malformed JSON") != std::string::npos;
}

}  // namespace

std::variant<Chunk, Verdict> Walk::next(std::int64_t rows_max) {
  for (;;) {
    const std::int64_t rows = std::min(parts_.size.rows(), cap_.value_or(parts_.size.rows()));
    Result<Part> part = part_of(rows);
    if (part && rows > rows_max) {
      part = narrowed(*part, rows_max);
    }
    Result<Chunk> chunk = part ? delete_in(part->range) : Result<Chunk>(part.error());
    if (chunk && !is_passing_) {
      if (const Status status = count_kept(part->range, rows, *chunk); !status.is_ok()) {
        chunk = status;
      }
    }
    if (!chunk) {
      if (auto verdict = after_failure(chunk.error(), rows)) {
        return *std::move(verdict);
      }
      continue;
    }
    if (!part->is_last && !cap_) {
      parts_.size.on_done(std::min(rows, rows_max), chunk->held);
    }
    pass(*part);
    return *std::move(chunk);
  }
}

void Walk::pass(const Part& part) {
  is_done_ = part.is_last;
  segment_.range.beyond = part.is_last ? std::nullopt : part.range.last;
  segment_.range.from.reset();
  losses_ = 0;
  mismatches_ = 0;
  is_passing_ = false;
  // Back to whole chunks as fast as it went down: other rows near may be kept as well.
  if (cap_) {
    cap_ = *cap_ * 2;
    if (*cap_ >= parts_.size.rows()) {
      cap_.reset();
    }
  }
}

Result<Walk::Part> Walk::part_of(std::int64_t rows) {
  Part part{segment_.range, true};
  Result<std::optional<Row>> last = nth_key(parts_.form.in(part.range), rows);
  if (!last) {
    return last.error();
  }
  if (*last) {
    part.range.last = **last;
    part.is_last = false;
  }
  return part;
}

Result<Walk::Part> Walk::narrowed(Part part, std::int64_t rows_max) {
  const Condition goes = parts_.form.in(part.range).and_also(expired_by_any());
  Result<std::optional<Row>> last = nth_key(goes, rows_max);
  if (!last) {
    return last.error();
  }
  if (*last) {
    part.range.last = **last;
    part.is_last = false;
  }
  return part;
}

Result<std::optional<Row>> Walk::nth_key(const Condition& where, std::int64_t n) {
  Result<std::vector<StatementResult>> answers =
      execute({statement_of("SELECT " + parts_.form.key_list() + " FROM " + parts_.form.table() +
                                " WHERE " + where.sql + " ORDER BY " + parts_.form.key_list() +
                                " LIMIT 1 OFFSET " + std::to_string(n - 1),
                            where.values)},
              true);
  if (!answers) {
    return answers.error();
  }
  std::vector<Row>& rows = answers.value().front().rows;
  return rows.empty() ? std::optional<Row>() : std::optional(std::move(rows.front()));
}

Result<std::vector<StatementResult>> Walk::execute(std::vector<Statement> statements,
                                                   bool is_idempotent) {
  ExecuteOptions options = parts_.limits;
  options.is_idempotent = is_idempotent;
  return execute_all(parts_.database, statements, options);
}

Result<Chunk> Walk::delete_in(const Range& range) {
  Chunk chunk;
  if (is_passing_) {
    chunk.kept["refused"] = 1;
    return chunk;
  }
  std::vector<std::int64_t> archived;
  if (parts_.archive != nullptr) {
    if (const Status status = archive_rows(range, archived); !status.is_ok()) {
      return status;
    }
    if (std::all_of(archived.begin(), archived.end(), [](auto count) { return count == 0; })) {
      return chunk;
    }
  }
  if (!parts_.pace.wait(parts_.world.clock, parts_.world.sleeper, parts_.limits.cancel)) {
    const Status dropped = archived.empty() ? Status() : parts_.archive->take_back();
    return dropped.is_ok() ? Status(StatusCode::kCancelled, "stopped between chunks") : dropped;
  }
  if (parts_.wal != nullptr) {
    parts_.wal->begin_anew();
  }
  const auto answers = execute(deletion(range, archived), false);
  if (!answers) {
    const Status settled = parts_.archive == nullptr ? Status()
                           : answers.error().execution() == Execution::kNo
                               ? parts_.archive->take_back()
                               : settle_archive(range);
    return settled.is_ok() ? answers.error() : settled;
  }
  tell(*answers, chunk);
  parts_.pace.on_released(chunk.held, parts_.world.clock.steady_now());
  const Status confirmed = parts_.archive == nullptr ? Status() : parts_.archive->confirm();
  return confirmed.is_ok() ? Result<Chunk>(std::move(chunk)) : Result<Chunk>(confirmed);
}

// The fence, and for each rule its DELETE and how many rows that took: a statement's own count
// includes what triggers did elsewhere.
std::vector<Statement> Walk::deletion(const Range& range,
                                      const std::vector<std::int64_t>& archived) const {
  std::vector<Statement> statements{parts_.lease.fence()};
  for (std::size_t i = 0; i < segment_.rules.size(); ++i) {
    const Condition goes = parts_.form.in(range).and_also(parts_.form.expired(segment_.rules[i]));
    statements.push_back(
        statement_of("DELETE FROM " + parts_.form.table() + " WHERE " + goes.sql, goes.values));
    statements.push_back({archived.empty()
                              ? "SELECT changes()"
                              : "SELECT CASE WHEN changes() = " + std::to_string(archived[i]) +
                                    " THEN changes() ELSE json('not as archived') END"});
  }
  return statements;
}

void Walk::tell(const std::vector<StatementResult>& answers, Chunk& chunk) const {
  std::chrono::microseconds in_database{0};
  for (std::size_t i = 0; i < segment_.rules.size(); ++i) {
    const std::vector<Row>& changes = answers[2 + 2 * i].rows;
    const std::int64_t count =
        changes.empty() ? 0 : exact_integer(changes.front().front()).value_or(0);
    chunk.deleted += count;
    chunk.deleted_by[segment_.rules[i].name] += count;
    in_database += answers[1 + 2 * i].meta.duration;
  }
  const bool is_remote = parts_.database.traits().dialect == Dialect::kD1;
  chunk.held = is_remote && in_database.count() > 0 ? in_database  // Not the network's.
                                                    : parts_.database.last_took();
}

Status Walk::archive_rows(const Range& range, std::vector<std::int64_t>& counts) {
  const TableForm& form = parts_.form;
  std::string sql = "SELECT ";
  for (const std::string& column : form.columns) {
    sql.append(column).append(", ");
  }
  sql += "CASE";
  Row values;
  for (std::size_t i = 0; i < segment_.rules.size(); ++i) {
    const Condition goes = form.expired(segment_.rules[i]);
    sql += " WHEN " + goes.sql + " THEN " + std::to_string(i);
    values.insert(values.end(), goes.values.begin(), goes.values.end());
  }
  const Condition where = form.in(range).and_also(expired_by_any());
  values.insert(values.end(), where.values.begin(), where.values.end());
  sql += " END FROM " + form.table() + " WHERE " + where.sql + " ORDER BY " + form.key_list();
  Result<std::vector<StatementResult>> answers =
      execute({statement_of(std::move(sql), std::move(values))}, true);
  if (!answers) {
    return answers.error();
  }
  std::vector<Row>& rows = answers.value().front().rows;
  counts.assign(segment_.rules.size(), 0);
  for (Row& row : rows) {
    const auto rule = static_cast<std::size_t>(exact_integer(row.back()).value_or(0));
    ++counts.at(std::min(rule, counts.size() - 1));
    row.pop_back();
  }
  archived_ = static_cast<std::int64_t>(rows.size());
  return rows.empty() ? Status() : parts_.archive->add(rows);
}

Status Walk::settle_archive(const Range& range) {
  const Result<bool> is_ours = parts_.lease.renumber(parts_.database, parts_.limits);
  if (!is_ours || !*is_ours) {
    // The chunk stays unsettled: the next run asks, of what is on disk.
    return is_ours ? lost_lease() : is_ours.error();
  }
  const Condition where = parts_.form.in(range).and_also(expired_by_any());
  const auto left =
      execute({statement_of("SELECT count(*) FROM " + parts_.form.table() + " WHERE " + where.sql,
                            where.values)},
              true);
  if (!left) {
    return left.error();
  }
  const std::vector<Row>& rows = left->front().rows;
  // All of them went, or none. Fewer than were archived are others, which came in meanwhile.
  const auto count = rows.empty() ? std::nullopt : exact_integer(rows.front().front());
  if (!count) {
    return does_not_fit();
  }
  return *count >= archived_ ? parts_.archive->take_back() : parts_.archive->confirm();
}

Result<bool> Walk::has_more() { return has_expired(segment_.range); }

Result<bool> Walk::has_expired(const Range& range) {
  const Condition where = parts_.form.in(range).and_also(expired_by_any());
  const Result<std::vector<StatementResult>> left = execute(
      {statement_of("SELECT 1 FROM " + parts_.form.table() + " WHERE " + where.sql + " LIMIT 1",
                    where.values)},
      true);
  return left ? Result<bool>(!left->front().rows.empty()) : left.error();
}

Condition Walk::expired_by_any() const {
  Condition any;
  for (const Rule& rule : segment_.rules) {
    any = any.or_also(parts_.form.expired(rule));
  }
  return any;
}

Status Walk::count_kept(const Range& range, std::int64_t rows, Chunk& chunk) {
  const bool all_went = chunk.deleted == rows;
  if (!parts_.counts_kept || all_went) {
    return {};
  }
  const Condition kind = parts_.form.class_of(parts_.now);
  const Condition goes = expired_by_any();
  const Condition within = parts_.form.in(range);
  Row values = kind.values;
  values.insert(values.end(), goes.values.begin(), goes.values.end());
  values.insert(values.end(), within.values.begin(), within.values.end());
  const Result<std::vector<StatementResult>> answers = execute(
      {statement_of("SELECT " + kind.sql + " AS kind, " + goes.sql + " AS goes, count(*) FROM " +
                        parts_.form.table() + " WHERE " + within.sql + " GROUP BY 1, 2",
                    std::move(values))},
      true);
  if (!answers) {
    return answers.error();
  }
  for (const Row& row : answers->front().rows) {
    const auto* const name = std::get_if<std::string>(&row[0]);
    const std::int64_t count = exact_integer(row[2]).value_or(0);
    if (exact_integer(row[1]).value_or(0) == 1) {
      chunk.kept["refused"] += count;  // A trigger ignored the DELETE, and said nothing.
    } else if (name != nullptr && *name != "aged") {
      chunk.kept[*name] += count;
    }
  }
  return {};
}

std::optional<Verdict> Walk::after_failure(const Status& failure, std::int64_t rows) {
  if (is_broken_fence(failure)) {
    return after_broken_fence(failure);
  }
  switch (failure.code()) {
    case StatusCode::kConstraint:
      cap_ = std::max<std::int64_t>(1, rows / 2);
      is_passing_ = rows == 1;
      return std::nullopt;
    case StatusCode::kTooBig:
      is_passing_ = !parts_.size.on_refused(rows);
      return std::nullopt;
    case StatusCode::kLost:
      if (++losses_ > kLossesMax ||
          !parts_.world.sleeper.sleep(kWaitAfterLoss * losses_, parts_.limits.cancel)) {
        return verdict_of(failure);
      }
      if (losses_ > 1) {
        static_cast<void>(parts_.size.on_refused(rows));
      }
      return std::nullopt;
    default:
      return verdict_of(failure);
  }
}

std::optional<Verdict> Walk::after_broken_fence(const Status& failure) {
  ExecuteOptions options = parts_.limits;
  options.is_idempotent = true;
  const Result<bool> is_held = parts_.lease.holds(parts_.database, options);
  if (!is_held) {
    return verdict_of(is_held.error());
  }
  if (!*is_held) {
    return Verdict{End::kLeaseHeld,
                   "another run took over, because this one stood still for longer than a lease "
                   "lasts; it has deleted nothing since"};
  }
  if (parts_.archive == nullptr || ++mismatches_ > kMismatchesMax) {
    return Verdict{End::kError, parts_.archive == nullptr
                                    ? failure.message()
                                    : "the rows of a range were not those that had been archived, "
                                      "several times over; does something else write there?"};
  }
  return std::nullopt;
}

}  // namespace spillway::retention
