// SPDX-License-Identifier: MIT
#include "retention/table_form.h"

#include "base/ascii.h"
#include "base/time_text.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/sql_fragments.h"
#include "retention/instant.h"
#include "table/log_schema.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace spillway::retention {
namespace {

// The form of Spillway's own times. Whether the digits are digits is not asked: texts of this form
// sort as their times do, and nobody but Spillway writes them.
// (In pieces, because of trigraphs.)
constexpr std::string_view kOwnForm =
    "'????"
    "-??"
    "-??T??:??:??.???Z'";

struct FoundColumn {
  std::string name;
  std::string type;
  std::int64_t key_position = 0;  // From 1; 0: not in the primary key.
  bool is_stored = true;
};

std::string text_in(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

// Rows of PRAGMA table_xinfo: cid, name, type, notnull, dflt_value, pk, hidden.
std::vector<FoundColumn> columns_in(const StatementResult& answer) {
  constexpr std::size_t kCells = 7;
  std::vector<FoundColumn> columns;
  for (const Row& row : answer.rows) {
    if (row.size() == kCells) {
      columns.push_back({text_in(row[1]), text_in(row[2]), exact_integer(row[5]).value_or(0),
                         exact_integer(row[6]).value_or(0) == 0});
    }
  }
  return columns;
}

const FoundColumn* find(const std::vector<FoundColumn>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [name](const auto& column) {
    return is_same_ignoring_case(column.name, name);
  });
  return found == columns.end() ? nullptr : &*found;
}

Status unusable(const FormChoice& choice, const std::string& why) {
  return {StatusCode::kInvalidArgument, "table \"" + choice.table + "\" " + why};
}

// The primary key in its own order, for a table without a rowid.
std::vector<std::string> primary_key(std::vector<FoundColumn> columns) {
  std::erase_if(columns, [](const FoundColumn& column) { return column.key_position == 0; });
  std::sort(columns.begin(), columns.end(),
            [](const auto& a, const auto& b) { return a.key_position < b.key_position; });
  std::vector<std::string> names(columns.size());
  std::transform(columns.begin(), columns.end(), names.begin(),
                 [](const FoundColumn& column) { return quoted_name(column.name); });
  return names;
}

// How the rowid is called: by the column that is an alias of it, or by a name no column has taken.
std::string rowid_name(const std::vector<FoundColumn>& columns) {
  const auto is_in_key = [](const FoundColumn& column) { return column.key_position > 0; };
  const auto first = std::find_if(columns.begin(), columns.end(), is_in_key);
  if (std::count_if(columns.begin(), columns.end(), is_in_key) == 1 &&
      is_same_ignoring_case(first->type, "INTEGER")) {
    return quoted_name(first->name);
  }
  for (const std::string_view name : {"rowid", "_rowid_", "oid"}) {
    if (find(columns, name) == nullptr) {
      return std::string(name);
    }
  }
  return {};
}

Status check_kind(const FormChoice& choice, const StatementResult& list) {
  for (const Row& row : list.rows) {  // schema, name, type, ncol, wr, strict
    if (row.size() > 4 && text_in(row[0]) == "main") {
      const std::string kind = text_in(row[2]);
      return kind == "table" ? Status() : unusable(choice, "is no table but of type " + kind);
    }
  }
  return {StatusCode::kSchema, "no such table: " + choice.table};
}

bool has_no_rowid(const StatementResult& list) {
  return std::any_of(list.rows.begin(), list.rows.end(), [](const Row& row) {
    return row.size() > 4 && text_in(row[0]) == "main" && exact_integer(row[4]).value_or(0) != 0;
  });
}

// Empty: the columns are those of a log.
std::string missing_column(const std::vector<FoundColumn>& columns, const FormChoice& choice) {
  if (choice.time_column) {
    return find(columns, *choice.time_column) == nullptr ? *choice.time_column : std::string();
  }
  for (const std::string_view name : {"level", "message", "created_at"}) {
    if (find(columns, name) == nullptr) {
      return std::string(name);
    }
  }
  return {};
}

Result<TableForm> form_of_others(const FormChoice& choice, const std::vector<FoundColumn>& columns,
                                 bool is_without_rowid) {
  if (const std::string missing = missing_column(columns, choice); !missing.empty()) {
    return unusable(choice, "has no column \"" + missing + "\"" +
                                (choice.time_column
                                     ? "; name the one that holds the time"
                                     : ", as a log has; name the column that holds the time with "
                                       "--time-column, and the rows that may go with "
                                       "--allow-delete"));
  }
  TableForm form;
  form.name = choice.table;
  form.key = is_without_rowid ? primary_key(columns) : std::vector{rowid_name(columns)};
  if (form.key.empty() || form.key.front().empty()) {
    return unusable(choice, "hides its rowid behind columns called rowid, _rowid_ and oid");
  }
  form.time = quoted_name(find(columns, choice.time_column.value_or("created_at"))->name);
  if (const FoundColumn* const level = find(columns, "level")) {
    form.level = quoted_name(level->name);
  }
  for (const FoundColumn& column : columns) {
    if (column.is_stored) {
      form.columns.push_back(quoted_name(column.name));
    }
  }
  if (std::find(form.columns.begin(), form.columns.end(), form.key.front()) == form.columns.end()) {
    form.columns.insert(form.columns.begin(), form.key.front());
  }
  return form;
}

TableForm own_form(const FormChoice& choice) {
  TableForm form{.name = choice.table, .is_own = true};
  for (std::size_t i = 0; i < kLogColumnNames.size(); ++i) {
    form.columns.push_back(quoted_name(kLogColumnNames[i]));
    if (i < kKeyColumns) {
      form.key.push_back(form.columns.back());
    }
  }
  form.time = form.key.front();
  form.level = quoted_name("level");
  return form;
}

std::string joined(const std::vector<std::string>& parts, std::string_view after = {}) {
  std::string list;
  for (const std::string& part : parts) {
    list.append(list.empty() ? "" : ", ").append(part).append(after);
  }
  return list;
}

// ("a", "b") > (?, ?)
Condition compared(const TableForm& form, const char* how, const Row& key) {
  const std::vector<std::string> marks(key.size(), "?");
  return {"(" + form.key_list() + ") " + how + " (" + joined(marks) + ")", key};
}

std::int64_t milliseconds_of(WallTime time) { return time.time_since_epoch().count(); }

Condition of_levels(const TableForm& form, const Levels& levels) {
  Condition condition{"coalesce(upper(" + form.level + "), '') " +
                      (levels.is_all_but ? "NOT IN (" : "IN (") +
                      joined(std::vector<std::string>(levels.names.size(), "?")) + ")"};
  for (const std::string& name : levels.names) {
    condition.values.emplace_back(name);
  }
  return condition;
}

}  // namespace

std::string TableForm::table() const { return quoted_name(name); }
std::string TableForm::meta() const { return quoted_name(name + "_meta"); }
std::string TableForm::key_list() const { return joined(key); }
std::string TableForm::key_list_descending() const { return joined(key, " DESC"); }
std::string TableForm::instant() const { return instant_sql(time); }

Condition TableForm::in(const Range& range) const {
  std::vector<Condition> parts;
  if (range.from) {
    parts.push_back({time + " >= ?", {time_text(*range.from)}});
  }
  if (range.beyond) {
    parts.push_back(compared(*this, ">", *range.beyond));
  }
  if (range.last) {
    parts.push_back(compared(*this, "<=", *range.last));
  }
  if (range.before) {
    parts.push_back({time + " < ?", {time_text(*range.before)}});
  }
  if (parts.empty()) {
    return {"true"};
  }
  Condition all = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    all = all.and_also(parts[i]);
  }
  return all;
}

Condition TableForm::aged(const Rule& rule) const {
  const Condition older = is_own ? Condition{time + " < ?", {time_text(rule.cutoff)}}
                                 : Condition{instant() + " < ?", {milliseconds_of(rule.cutoff)}};
  const bool is_for_all = rule.levels.is_all_but && rule.levels.names.empty();
  return is_for_all ? older : older.and_also(of_levels(*this, rule.levels));
}

Condition TableForm::expired(const Rule& rule) const {
  return is_own ? aged(rule).and_also({time + " GLOB " + std::string(kOwnForm)}) : aged(rule);
}

Condition TableForm::dated(WallTime now) const {
  return is_own ? Condition{time + " <= ? AND " + time + " GLOB " + std::string(kOwnForm),
                            {time_text(now)}}
                : Condition{instant() + " <= ?", {milliseconds_of(now)}};
}

Condition TableForm::class_of(WallTime now) const {
  if (!is_own) {
    return {class_sql(time), {milliseconds_of(now)}};
  }
  return {"CASE WHEN " + time + " = '' THEN 'empty' WHEN " + time + " NOT GLOB " +
              std::string(kOwnForm) + " THEN 'unreadable' WHEN " + time +
              " > ? THEN 'future' ELSE 'aged' END",
          {time_text(now)}};
}

Result<TableForm> read_table_form(Database& database, const FormChoice& choice,
                                  const ExecuteOptions& options) {
  const std::string name = quoted_name(choice.table);
  const std::array<Statement, 3> statements{Statement{"PRAGMA table_list(" + name + ")"},
                                            Statement{"PRAGMA table_xinfo(" + name + ")"},
                                            Statement{"PRAGMA table_info(" + name + ")"}};
  const auto answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  if (Status status = check_kind(choice, (*answers)[0]); !status.is_ok()) {
    return status;
  }
  const bool is_created_at =
      !choice.time_column || is_same_ignoring_case(*choice.time_column, "created_at");
  if (is_created_at && is_log_table((*answers)[2])) {
    return own_form(choice);
  }
  return form_of_others(choice, columns_in((*answers)[1]), has_no_rowid((*answers)[0]));
}

}  // namespace spillway::retention
