// SPDX-License-Identifier: MIT
//
// What the commands of spillway-retention found and did, as one JSON object and as text. Pure.
//
// Each object begins with the same members: "ok", the exit status as "exit", "why" (empty if there
// is nothing to say), "command", "table" and "database". A time is a text, what is not known is
// null.
#pragma once

#include "retention/archive.h"
#include "retention/end.h"
#include "retention/plan.h"
#include "retention/run.h"

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// What a report is about.
struct RetentionSubject {
  std::string database = {};  ///< As it may be shown: without a secret.
  bool is_d1 = false;         ///< It costs something.
};

/// What a command ends with.
struct RetentionOutcome {
  retention::Verdict verdict = {};
  std::string json = {};  ///< One line.
  std::string text = {};  ///< Lines, or nothing, where nothing was done.
  std::vector<std::string> warnings = {};
};

/// "logs in sqlite:app.db", as messages begin; the table may be unknown.
[[nodiscard]] std::string retention_place(std::string_view table, const RetentionSubject& subject);

[[nodiscard]] RetentionOutcome outcome_of(const retention::Report& report,
                                          const RetentionSubject& subject);
/// kRefused where a guard would refuse the run.
[[nodiscard]] RetentionOutcome outcome_of(const retention::Plan& plan,
                                          const RetentionSubject& subject);
/// kNotMet where the policy is not met.
[[nodiscard]] RetentionOutcome outcome_of(const retention::Check& check,
                                          const RetentionSubject& subject);
/// kError where rows stayed in the archive. `table` is empty where the archive names it.
[[nodiscard]] RetentionOutcome outcome_of(const retention::Restored& restored,
                                          const std::string& file, const std::string& table,
                                          const RetentionSubject& subject);

/// For a failure that nothing else is known of: "ok", "exit" and "why" alone.
[[nodiscard]] std::string failure_json(const retention::Verdict& verdict);

}  // namespace spillway
