// SPDX-License-Identifier: MIT
#include "retention/plan.h"

#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "retention/counted_database.h"
#include "retention/course.h"
#include "retention/edge_rows.h"
#include "retention/guards.h"
#include "retention/state.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace spillway::retention {
namespace {

class Planner {
 public:
  Planner(Database& database, const RunOptions& options, WallTime now, ExecuteOptions limits)
      : database_(database), options_(options), limits_(std::move(limits)) {
    limits_.is_idempotent = true;
    plan_.table = options.choice.table;
    plan_.policy = to_string(options.policy);
    plan_.now = now;
    plan_.max_rows = options.policy.max_rows;
  }

  Result<Plan> go(bool is_exact) {
    Status status = look(is_exact);
    if (status.is_ok() && is_exact) {
      status = count();
    }
    if (!status.is_ok()) {
      return status;
    }
    auto refused = refusal(is_exact);
    if (!refused) {
      return refused.error();
    }
    plan_.refusal = *std::move(refused);
    plan_.cost = database_.cost();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] Status look(bool is_exact);
  void tell_rules(const Course& course);
  [[nodiscard]] Status count();
  [[nodiscard]] Status count_rules();
  [[nodiscard]] Status count_classes();
  [[nodiscard]] Result<Refusal> refusal(bool is_exact);
  [[nodiscard]] Result<std::int64_t> number(Statement statement);

  CountedDatabase database_;
  const RunOptions& options_;
  ExecuteOptions limits_;
  TableForm form_;
  LoadedState before_;
  std::vector<Segment> segments_;
  Plan plan_;
};

Status Planner::look(bool is_exact) {
  auto form = read_table_form(database_, options_.choice, limits_);
  if (!form) {
    return form.error();
  }
  form_ = *std::move(form);
  plan_.is_own = form_.is_own;
  if (form_.level.empty() && !options_.policy.levels.empty()) {
    return {StatusCode::kInvalidArgument, "the table has no column level; leave --keep-level out"};
  }
  auto loaded = load_state(database_, form_.meta(), limits_);
  if (!loaded) {
    return loaded.error();
  }
  before_ = *std::move(loaded);
  const std::vector<Rule> rules = rules_of(options_.policy, plan_.now);
  // No look at all of a table of others, where counting was not asked for.
  const WallTime old_enough = is_exact && !rules.empty() ? rules.back().cutoff : WallTime::min();
  const auto oldest = oldest_row(database_, form_, limits_);
  const auto newest = newest_row(database_, form_, plan_.now, old_enough, limits_);
  if (!oldest || !newest) {
    return oldest ? newest.error() : oldest.error();
  }
  plan_.oldest = *oldest ? std::optional((*oldest)->time) : std::nullopt;
  plan_.newest = *newest;
  tell_rules(Course(before_, options_.policy, form_.is_own, plan_.now, {*oldest, *newest}));
  return {};
}

void Planner::tell_rules(const Course& course) {
  plan_.is_full_walk = course.is_full_walk();
  segments_ = course.segments();
  for (const Rule& rule : course.rules()) {
    // Where no part of the walk is for the rule, it begins at its end.
    std::optional<WallTime> from = rule.cutoff;
    const auto first = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& part) {
      return std::any_of(part.rules.begin(), part.rules.end(),
                         [&](const Rule& each) { return each.name == rule.name; });
    });
    if (first != segments_.end()) {
      from = first->range.from;
    }
    plan_.rules.push_back({rule.name, to_string(Keep(rule.keep)), rule.cutoff, from});
  }
}

Result<std::int64_t> Planner::number(Statement statement) {
  const std::array<Statement, 1> statements{std::move(statement)};
  const auto answers = execute_all(database_, statements, limits_);
  if (!answers) {
    return answers.error();
  }
  const std::vector<Row>& rows = answers->front().rows;
  const auto number =
      rows.empty() || rows.front().empty() ? std::nullopt : exact_integer(rows.front().front());
  return number ? Result<std::int64_t>(*number) : Result<std::int64_t>(does_not_fit());
}

Status Planner::count() {
  if (Status status = count_rules(); !status.is_ok()) {
    return status;
  }
  if (Status status = count_classes(); !status.is_ok() || !plan_.max_rows) {
    return status;
  }
  const auto all = number({"SELECT count(*) FROM " + form_.table()});
  if (!all) {
    return all.error();
  }
  std::int64_t over = *all - *plan_.max_rows;
  for (const PlannedRule& rule : plan_.rules) {
    over -= rule.rows.value_or(0);
  }
  plan_.over_max_rows = std::max<std::int64_t>(0, over);
  return {};
}

// As the walk goes: what lies outside of it does not go.
Status Planner::count_rules() {
  for (PlannedRule& planned : plan_.rules) {
    planned.rows = 0;
    for (const Segment& segment : segments_) {
      for (const Rule& rule : segment.rules) {
        if (rule.name != planned.name) {
          continue;
        }
        Condition goes = form_.in(segment.range).and_also(form_.expired(rule));
        const auto rows =
            number(statement_of("SELECT count(*) FROM " + form_.table() + " WHERE " + goes.sql,
                                std::move(goes.values)));
        if (!rows) {
          return rows.error();
        }
        *planned.rows += *rows;
      }
    }
  }
  return {};
}

Status Planner::count_classes() {
  const Condition kind = form_.class_of(plan_.now);
  const std::array<Statement, 1> statements{
      statement_of("SELECT c, count(*) FROM (SELECT " + kind.sql + " AS c FROM " + form_.table() +
                       ") WHERE c <> 'aged' GROUP BY c",
                   kind.values)};
  const auto answers = execute_all(database_, statements, limits_);
  if (!answers) {
    return answers.error();
  }
  for (const Row& row : answers->front().rows) {
    const auto* const name = row.empty() ? nullptr : std::get_if<std::string>(&row.front());
    const auto rows = row.empty() ? std::nullopt : exact_integer(row.back());
    if (name == nullptr || !rows) {
      return does_not_fit();
    }
    plan_.kept[*name] = *rows;
  }
  return {};
}

// In the order in which a run asks.
Result<Refusal> Planner::refusal(bool is_exact) {
  const Refusal named = named_column_guard(form_, options_.choice, options_.allow_delete);
  if (named) {
    return named;
  }
  if (!options_.now) {  // A rehearsal says nothing of clocks.
    Result<Refusal> clock = clock_guard(database_, plan_.now, limits_);
    if (!clock || *clock) {
      return clock;
    }
  }
  Result<Refusal> unit = unit_guard(database_, form_, plan_.now, limits_);
  if (!unit || *unit) {
    return unit;
  }
  if (is_exact) {
    return share_guard(database_, form_,
                       Intent{.policy = options_.policy,
                              .now = plan_.now,
                              .allow_delete = options_.allow_delete,
                              .before = before_.state,
                              .newest = plan_.newest},
                       limits_);
  }
  // Whether N is enough, and what is newest in a table of others, only counting tells.
  const bool is_known = form_.is_own && !options_.allow_delete;
  return is_known ? newest_guard(rules_of(options_.policy, plan_.now), plan_.newest) : Refusal();
}

}  // namespace

Result<Plan> plan(Database& database, const RunOptions& options, bool is_exact, WallTime now,
                  const ExecuteOptions& limits) {
  return Planner(database, options, now, limits).go(is_exact);
}

}  // namespace spillway::retention
