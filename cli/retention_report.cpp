// SPDX-License-Identifier: MIT
#include "cli/retention_report.h"

#include "base/counted.h"
#include "base/json_writer.h"
#include "base/one_line.h"
#include "base/time_text.h"
#include "cli/amount_text.h"

#include <map>
#include <optional>

namespace spillway {
namespace {

using retention::Check;
using retention::Cost;
using retention::End;
using retention::Plan;
using retention::PlannedRule;
using retention::Report;
using retention::Restored;
using retention::Verdict;

constexpr int kDollarDigits = 6;  // One row written costs 0.000001.

using Counts = std::map<std::string, std::int64_t>;

void write_optional(JsonWriter& json, const std::optional<WallTime>& time) {
  if (time) {
    json.value(time_text(*time));
  } else {
    json.null();
  }
}

template <typename Number>
void write_optional(JsonWriter& json, const std::optional<Number>& number) {
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

// Empty: not known.
void write_name(JsonWriter& json, const std::string& name) {
  if (name.empty()) {
    json.null();
  } else {
    json.value(name);
  }
}

void write_counts(JsonWriter& json, const Counts& counts) {
  json.begin_object();
  for (const auto& [name, number] : counts) {
    json.key(name).value(number);
  }
  json.end_object();
}

void write_cost(JsonWriter& json, const Cost& cost, const RetentionSubject& subject) {
  json.key("rows_read").value(cost.rows_read);
  json.key("rows_written").value(cost.rows_written);
  json.key("requests").value(cost.requests);
  json.key("dollars").value(subject.is_d1 ? cost.dollars() : 0.0);
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.key("ok").value(verdict.end == End::kDone);
  json.key("exit").value(static_cast<std::int64_t>(verdict.end));
  json.key("why").value(verdict.why);
}

void write_head(JsonWriter& json, const Verdict& verdict, const char* command,
                const std::string& table, const RetentionSubject& subject) {
  write_verdict(json, verdict);
  json.key("command").value(command);
  json.key("table");
  write_name(json, table);
  json.key("database").value(subject.database);
}

// "DEBUG 5, keep 10"
std::string listed(const Counts& counts) {
  std::string text;
  for (const auto& [name, number] : counts) {
    text += (text.empty() ? "" : ", ") + name + ' ' + std::to_string(number);
  }
  return text;
}

std::string time_or(const std::optional<WallTime>& time, const char* otherwise) {
  return time ? time_text(*time) : otherwise;
}

std::string cost_line(const Cost& cost, const RetentionSubject& subject) {
  return subject.is_d1 ? "  cost: " + counted(cost.rows_read, "row") + " read and " +
                             std::to_string(cost.rows_written) + " written, $" +
                             decimal_text(cost.dollars(), kDollarDigits) + '\n'
                       : "";
}

std::string json_of(const Report& report, const RetentionSubject& subject) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_head(json, report.verdict, "run", report.table, subject);
  json.key("now").value(time_text(report.now));
  json.key("deleted").value(report.deleted);
  json.key("deleted_by");
  write_counts(json, report.deleted_by);
  json.key("kept");
  write_counts(json, report.kept);
  json.key("oldest");
  write_optional(json, report.oldest);
  json.key("policy_met").value(report.is_met);
  json.key("falling_behind");
  write_optional(json, report.falling_behind);
  write_cost(json, report.cost, subject);
  json.key("chunks").value(report.chunks);
  json.key("took_ms").value(std::int64_t{report.took.count()});
  json.key("archive");
  write_name(json, report.archive_file);
  json.key("archived").value(report.archived);
  json.key("reclaimed_bytes").value(report.reclaimed_bytes);
  json.key("warnings").begin_array();
  for (const std::string& warning : report.warnings) {
    json.value(warning);
  }
  json.end_array().end_object();
  return line + '\n';
}

// What was done, and after what: a run that did not come so far has nothing to tell.
std::string deleted_line(const Report& report, const RetentionSubject& subject) {
  const std::string by = report.deleted == 0 ? "" : " (" + listed(report.deleted_by) + ")";
  return retention_place(report.table, subject) + ": deleted " + counted(report.deleted, "row") +
         by + " in " + counted(report.chunks, "chunk") + " and " + length_text(report.took) + '\n';
}

std::string text_of(const Report& report, const RetentionSubject& subject) {
  const bool is_through = report.verdict.end == End::kDone || report.verdict.end == End::kNotMet;
  if (!is_through && report.chunks == 0) {
    return {};
  }
  std::string text = deleted_line(report, subject);
  if (!report.kept.empty()) {
    text += "  kept whatever their age: " + listed(report.kept) + '\n';
  }
  text += "  oldest row left: " + time_or(report.oldest, "none whose time is known") + '\n';
  text += std::string("  policy: ") + (report.is_met ? "met" : "not met") + '\n';
  if (report.falling_behind) {
    text += "  falling behind: the table grows " + decimal_text(*report.falling_behind, 1) +
            " times as fast as runs delete\n";
  }
  text += cost_line(report.cost, subject);
  if (!report.archive_file.empty()) {
    text += "  archived: " + counted(report.archived, "row") + " in " +
            one_line(report.archive_file) + '\n';
  }
  if (report.reclaimed_bytes > 0) {
    text += "  space given back: " + bytes_text(report.reclaimed_bytes) + '\n';
  }
  return text;
}

void write_rules(JsonWriter& json, const Plan& plan) {
  json.key("rules").begin_array();
  for (const PlannedRule& rule : plan.rules) {
    json.begin_object();
    json.key("name").value(rule.name);
    json.key("keep").value(rule.keep);
    json.key("cutoff").value(time_text(rule.cutoff));
    json.key("from");
    write_optional(json, rule.from);
    json.key("rows");
    write_optional(json, rule.rows);
    json.end_object();
  }
  json.end_array();
}

std::string json_of(const Plan& plan, const Verdict& verdict, const RetentionSubject& subject) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_head(json, verdict, "plan", plan.table, subject);
  json.key("now").value(time_text(plan.now));
  json.key("policy").value(plan.policy);
  json.key("own_table").value(plan.is_own);
  json.key("oldest");
  write_optional(json, plan.oldest);
  json.key("newest");
  write_optional(json, plan.newest);
  json.key("full_walk").value(plan.is_full_walk);
  write_rules(json, plan);
  json.key("max_rows");
  write_optional(json, plan.max_rows);
  json.key("over_max_rows");
  write_optional(json, plan.over_max_rows);
  json.key("kept");
  write_counts(json, plan.kept);
  write_cost(json, plan.cost, subject);
  json.end_object();
  return line + '\n';
}

std::string rule_line(const PlannedRule& rule) {
  return "  " + rule.name + " (" + rule.keep + "): rows older than " + time_text(rule.cutoff) +
         " go, from " + time_or(rule.from, "the oldest") + " on" +
         (rule.rows ? "; now " + counted(*rule.rows, "row") : "") + '\n';
}

std::string text_of(const Plan& plan, const RetentionSubject& subject) {
  std::string text = retention_place(plan.table, subject) + ": " +
                     (plan.is_own ? "a table of Spillway's own" : "a table that others made") +
                     "; the plan for " + time_text(plan.now) + '\n';
  text += "  policy: " + plan.policy + '\n';
  text += plan.oldest || plan.newest ? "  rows: from " + time_or(plan.oldest, "?") + " to " +
                                           time_or(plan.newest, "?") + '\n'
                                     : "  rows: none whose time is known\n";
  for (const PlannedRule& rule : plan.rules) {
    text += rule_line(rule);
  }
  if (plan.max_rows) {
    text +=
        "  max-rows: the newest " + std::to_string(*plan.max_rows) + " rows stay" +
        (plan.over_max_rows ? "; now " + counted(*plan.over_max_rows, "row") + " over it" : "") +
        '\n';
  }
  if (!plan.kept.empty()) {
    text += "  kept whatever their age: " + listed(plan.kept) + '\n';
  }
  text += plan.is_full_walk ? "  the walk: from the oldest row, the whole of what is too old\n"
                            : "  the walk: what has become too old since the last run\n";
  return text + cost_line(plan.cost, subject);
}

std::string json_of(const Check& check, const Verdict& verdict, const RetentionSubject& subject) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_head(json, verdict, "check", check.table, subject);
  json.key("policy_met").value(check.is_met);
  json.key("last_met");
  write_optional(json, check.last_met);
  json.key("oldest");
  write_optional(json, check.oldest);
  write_cost(json, check.cost, subject);
  json.end_object();
  return line + '\n';
}

std::string text_of(const Check& check, const RetentionSubject& subject) {
  return retention_place(check.table, subject) + ": policy " + (check.is_met ? "met" : "not met") +
         "; last met by the run of " + time_or(check.last_met, "no time known") +
         "; oldest row: " + time_or(check.oldest, "none whose time is known") + '\n' +
         cost_line(check.cost, subject);
}

}  // namespace

std::string retention_place(std::string_view table, const RetentionSubject& subject) {
  return one_line((table.empty() ? "" : std::string(table) + " in ") + subject.database);
}

RetentionOutcome outcome_of(const Report& report, const RetentionSubject& subject) {
  return {report.verdict, json_of(report, subject), text_of(report, subject), report.warnings};
}

RetentionOutcome outcome_of(const Plan& plan, const RetentionSubject& subject) {
  const Verdict verdict =
      plan.refusal ? Verdict{End::kRefused, "a run would be refused: " + *plan.refusal} : Verdict();
  return {verdict, json_of(plan, verdict, subject), text_of(plan, subject)};
}

RetentionOutcome outcome_of(const Check& check, const RetentionSubject& subject) {
  const Verdict verdict{check.is_met ? End::kDone : End::kNotMet, check.why};
  return {verdict, json_of(check, verdict, subject), text_of(check, subject)};
}

RetentionOutcome outcome_of(const Restored& restored, const std::string& file,
                            const std::string& table, const RetentionSubject& subject) {
  Verdict verdict;
  if (restored.conflicting > 0) {
    verdict = {End::kError, counted(restored.conflicting, "row") + " of " + file +
                                " stayed out: others with their keys are there, or a constraint "
                                "refuses them"};
  }
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_head(json, verdict, "restore", table, subject);
  json.key("file").value(file);
  json.key("restored").value(restored.rows);
  json.key("already_there").value(restored.already_there);
  json.key("conflicting").value(restored.conflicting);
  json.end_object();
  const std::string text = retention_place(table, subject) + ": put back " +
                           counted(restored.rows, "row") + " of " + one_line(file) + "; " +
                           std::to_string(restored.already_there) + " were there already\n";
  return {verdict, line + '\n', text};
}

std::string failure_json(const Verdict& verdict) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_verdict(json, verdict);
  json.end_object();
  return line + '\n';
}

}  // namespace spillway
