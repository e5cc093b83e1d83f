// SPDX-License-Identifier: MIT
#include "base/counted.h"
#include "base/time_text.h"
#include "retention/counted_database.h"
#include "retention/edge_rows.h"
#include "retention/plan.h"
#include "retention/state.h"

#include <utility>

namespace spillway::retention {
namespace {

// Why the policy is not met; empty: it is.
std::string fault_of(const LoadedState& loaded, const std::string& policy, WallTime now) {
  const State& state = loaded.state;
  if (loaded.is_spoilt) {
    return "what the last run left in the table beside it cannot be read";
  }
  if (!state.at) {
    return "no run has been here yet";
  }
  if (state.policy != policy) {
    return "the last run, of " + time_text(*state.at) + ", had another policy: \"" + state.policy +
           "\", and asked is \"" + policy + '"';
  }
  if (!state.met) {
    return "no run has met this policy yet; the last one is of " + time_text(*state.at);
  }
  if (loaded.restored && *loaded.restored >= *state.met) {
    return "rows were put back at " + time_text(*loaded.restored) +
           ", and no run has met the policy since";
  }
  if (*state.met > now) {
    return "the last run that met this policy is of " + time_text(*state.met) +
           ", which is later than now, " + time_text(now) + ": a clock was or is wrong";
  }
  if (now - *state.met > kCheckGrace) {
    const auto ago = std::chrono::floor<std::chrono::hours>(now - *state.met);
    return "the last run that met this policy is of " + time_text(*state.met) + ", " +
           counted(ago.count(), "hour") + " ago";
  }
  return {};
}

}  // namespace

Result<Check> check(Database& database, const RunOptions& options, WallTime now,
                    const ExecuteOptions& limits) {
  CountedDatabase counted_database(database);
  ExecuteOptions reading = limits;
  reading.is_idempotent = true;
  const auto form = read_table_form(counted_database, options.choice, reading);
  if (!form) {
    return form.error();
  }
  const auto loaded = load_state(counted_database, form->meta(), reading);
  if (!loaded) {
    return loaded.error();
  }
  Check check{.table = options.choice.table, .last_met = loaded->state.met};
  check.oldest = loaded->state.oldest;
  if (form->is_own) {  // One row; a table of others would have to be searched.
    const auto oldest = oldest_row(counted_database, *form, reading);
    if (!oldest) {
      return oldest.error();
    }
    check.oldest = *oldest ? std::optional((*oldest)->time) : std::nullopt;
  }
  check.why = fault_of(*loaded, to_string(options.policy), now);
  check.is_met = check.why.empty();
  check.cost = counted_database.cost();
  return check;
}

}  // namespace spillway::retention
