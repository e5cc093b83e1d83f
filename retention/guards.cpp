// SPDX-License-Identifier: MIT
#include "retention/guards.h"

#include "base/counted.h"
#include "base/time_text.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/sql_fragments.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::minutes kClocksApartMax{5};
constexpr std::chrono::hours kSlack{24};
constexpr std::chrono::hours kSeldom{8 * 24};
constexpr std::int64_t kSmallTable = 1'000;
constexpr const char* kUnitRows = "1000";

Result<Value> first_value(Database& database, Statement statement, const ExecuteOptions& options) {
  const std::array<Statement, 1> statements{std::move(statement)};
  Result<std::vector<StatementResult>> answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  const std::vector<Row>& rows = answers->front().rows;
  return rows.empty() || rows.front().empty() ? Value() : rows.front().front();
}

Result<std::int64_t> count(Database& database, Statement statement, const ExecuteOptions& options) {
  const Result<Value> value = first_value(database, std::move(statement), options);
  if (!value) {
    return value.error();
  }
  const auto number = exact_integer(*value);
  return number ? Result<std::int64_t>(*number) : Result<std::int64_t>(does_not_fit());
}

Condition any_of(const TableForm& form, const std::vector<Rule>& rules) {
  Condition any;
  for (const Rule& rule : rules) {
    any = any.or_also(form.aged(rule));
  }
  return any;
}

bool must_look_at_share(const State& state, const Policy& policy, WallTime now,
                        const std::optional<WallTime>& newest) {
  if (!state.at || state.policy != to_string(policy)) {
    return true;
  }
  const milliseconds cutoffs = now - *state.at;
  const milliseconds rows = newest && state.newest ? *newest - *state.newest : milliseconds::zero();
  // A program that logs by the same wrong clock moves the newest row with it.
  return cutoffs > rows + kSlack || cutoffs > kSeldom;
}

struct Share {
  std::int64_t going = 0;
  bool is_most = false;  // More than 90 % of a table of over 1,000 rows.
};

std::string most_would_go(const Share& share) {
  return "more than 90 % of the table, " + counted(share.going, "row") +
         ", would go, and the policy is new here or the clock went ahead; look with plan --exact, "
         "and if it is meant, say so: --allow-delete " +
         std::to_string(share.going);
}

Result<Share> share_of(Database& database, const TableForm& form, const std::vector<Rule>& rules,
                       const std::optional<std::int64_t>& max_rows, const ExecuteOptions& options) {
  Share share;
  if (!rules.empty()) {
    const Condition goes = any_of(form, rules);
    const Result<std::int64_t> going = count(
        database,
        statement_of("SELECT count(*) FROM " + form.table() + " WHERE " + goes.sql, goes.values),
        options);
    if (!going) {
      return going.error();
    }
    share.going = *going;
    const Result<std::int64_t> staying = count(
        database,
        statement_of("SELECT count(*) FROM (SELECT 1 FROM " + form.table() + " WHERE (" + goes.sql +
                         ") IS NOT TRUE ORDER BY " + form.key_list_descending() + " LIMIT " +
                         std::to_string(std::max(share.going / 9, kSmallTable) + 1) + ")",
                     goes.values),
        options);
    if (!staying) {
      return staying.error();
    }
    share.is_most = share.going + *staying > kSmallTable && share.going > *staying * 9;
  }
  if (max_rows) {
    const Result<std::int64_t> all =
        count(database, {"SELECT count(*) FROM " + form.table()}, options);
    if (!all) {
      return all.error();
    }
    const std::int64_t over = std::max<std::int64_t>(0, *all - *max_rows);
    share.going = std::max(share.going, over);
    share.is_most = share.is_most || (*all > kSmallTable && over > (*all - over) * 9);
  }
  return share;
}

}  // namespace

Result<Refusal> clock_guard(Database& database, WallTime local_now, const ExecuteOptions& options) {
  const Result<std::int64_t> there =
      count(database, {"SELECT " + std::string(kDatabaseNow)}, options);
  if (!there) {
    return there.error();
  }
  const milliseconds apart = local_now.time_since_epoch() - milliseconds(*there);
  if (apart <= kClocksApartMax && apart >= -kClocksApartMax) {
    return Refusal();
  }
  return Refusal("this machine's clock says " + time_text(local_now) + " and the database's " +
                 time_text(WallTime(milliseconds(*there))) +
                 "; set the one that is wrong, for ages are measured by it");
}

Refusal newest_guard(const std::vector<Rule>& rules, const std::optional<WallTime>& newest) {
  if (rules.empty() || !newest || *newest >= rules.back().cutoff) {
    return std::nullopt;
  }
  const Rule& shortest = rules.back();
  return "the newest row is of " + time_text(*newest) + ", older than the policy " + shortest.name +
         "=" + to_string(Keep(shortest.keep)) +
         " lets any row be, so all that it is for would go; if the clock is right and the table "
         "is idle, say how many rows may go: --allow-delete N";
}

Result<Refusal> unit_guard(Database& database, const TableForm& form, WallTime now,
                           const ExecuteOptions& options) {
  if (form.is_own) {
    return Refusal();
  }
  for (const std::string& order : {form.key_list(), form.key_list_descending()}) {
    const Condition kind = form.class_of(now);
    const Result<std::int64_t> odd = count(
        database,
        statement_of("SELECT count(*) FROM (SELECT " + kind.sql + " AS c FROM " + form.table() +
                         " ORDER BY " + order + " LIMIT " + kUnitRows + ") WHERE c = 'unit'",
                     kind.values),
        options);
    if (!odd) {
      return odd.error();
    }
    if (*odd > 0) {
      return Refusal("column " + form.time + " holds integers (" + counted(*odd, "row") +
                     " of 1000) that are neither seconds nor milliseconds from 1990 to 2100; "
                     "nobody knows how old these rows are");
    }
  }
  return Refusal();
}

Refusal named_column_guard(const TableForm& form, const FormChoice& choice,
                           const std::optional<std::int64_t>& allow_delete) {
  if (!choice.time_column || form.is_own || allow_delete) {
    return std::nullopt;
  }
  return "a table whose time is named by --time-column may be no log; say how many rows may go: "
         "--allow-delete N";
}

Result<Refusal> share_guard(Database& database, const TableForm& form, const Intent& intent,
                            const ExecuteOptions& options) {
  const std::vector<Rule> rules = rules_of(intent.policy, intent.now);
  Refusal refusal = newest_guard(rules, intent.newest);
  if (!refusal && !must_look_at_share(intent.before, intent.policy, intent.now, intent.newest)) {
    return Refusal();
  }
  const auto share = share_of(database, form, rules, intent.policy.max_rows, options);
  if (!share) {
    return share.error();
  }
  if (!refusal && share->is_most) {
    refusal = most_would_go(*share);
  }
  if (!refusal || share->going == 0) {
    return Refusal();
  }
  if (!intent.allow_delete) {
    return refusal;
  }
  return share->going <= *intent.allow_delete
             ? Refusal()
             : Refusal(counted(share->going, "row") + " would go, and --allow-delete lets " +
                       std::to_string(*intent.allow_delete) + " go");
}

}  // namespace spillway::retention
