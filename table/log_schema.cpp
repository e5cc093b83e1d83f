// SPDX-License-Identifier: MIT
#include "table/log_schema.h"

#include "base/ascii.h"
#include "d1/exact_integer.h"
#include "d1/sql_fragments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace spillway {
namespace {

struct Column {
  std::string_view name;
  std::string_view type;
  bool is_not_null;
  std::int64_t key_position;  // In the primary key, from 1; 0: not in it.
};

constexpr std::array<Column, 7> kLogColumns = {{{"created_at", "TEXT", true, 1},
                                                {"writer", "INTEGER", true, 2},
                                                {"seq", "INTEGER", true, 3},
                                                {"level", "TEXT", true, 0},
                                                {"context", "TEXT", true, 0},
                                                {"message", "TEXT", true, 0},
                                                {"fields", "TEXT", false, 0}}};

// `value` has no type: SQLite keeps what it is given.
constexpr std::array<Column, 2> kMetaColumns = {{{"key", "TEXT", true, 1}, {"value", "", true, 0}}};

constexpr std::string_view kLogDefinition =
    " (\n"
    "  created_at TEXT    NOT NULL,\n"
    "  writer     INTEGER NOT NULL,\n"
    "  seq        INTEGER NOT NULL,\n"
    "  level      TEXT    NOT NULL,\n"
    "  context    TEXT    NOT NULL,\n"
    "  message    TEXT    NOT NULL,\n"
    "  fields     TEXT,\n"
    "  PRIMARY KEY (created_at, writer, seq)\n"
    ") WITHOUT ROWID";

constexpr std::string_view kMetaDefinition =
    " (\n"
    "  key   TEXT NOT NULL PRIMARY KEY,\n"
    "  value NOT NULL\n"
    ") WITHOUT ROWID";

// Where read_statements puts what.
enum Answer : std::size_t { kOthers, kLogColumnsAnswer, kMetaColumnsAnswer, kVersion };

std::string meta_name(std::string_view table) { return std::string(table) + "_meta"; }

std::string create_sql(std::string_view table, std::string_view definition) {
  return "CREATE TABLE IF NOT EXISTS " + quoted_name(table) + std::string(definition);
}

std::string_view text(const Value& value) {
  const auto* bytes = std::get_if<std::string>(&value);
  return bytes == nullptr ? std::string_view() : *bytes;
}

// A row of PRAGMA table_info: cid, name, type, notnull, dflt_value, pk.
Column column_of(const Row& row) {
  constexpr std::size_t kCells = 6;
  if (row.size() != kCells) {
    return {};
  }
  return {text(row[1]), text(row[2]), exact_integer(row[3]).value_or(0) != 0,
          exact_integer(row[5]).value_or(0)};
}

std::string described(const Column& column) {
  std::string sql(column.name);
  if (!column.type.empty()) {
    sql.append(" ").append(column.type);
  }
  return sql + (column.is_not_null ? " NOT NULL" : "");
}

bool is_same_column(const Column& a, const Column& b) {
  return is_same_ignoring_case(a.name, b.name) && is_same_ignoring_case(a.type, b.type) &&
         a.is_not_null == b.is_not_null;
}

std::string described_key(std::vector<Column> columns) {
  std::sort(columns.begin(), columns.end(),
            [](const Column& a, const Column& b) { return a.key_position < b.key_position; });
  std::string list;
  for (const Column& column : columns) {
    if (column.key_position > 0) {
      list.append(list.empty() ? "" : ", ").append(column.name);
    }
  }
  return '(' + list + ')';
}

// How the table differs, in words; empty if it does not.
std::string difference(const std::vector<Column>& found, std::span<const Column> expected) {
  for (std::size_t index = 0; index < std::min(found.size(), expected.size()); ++index) {
    if (!is_same_column(found[index], expected[index])) {
      return "column " + std::to_string(index + 1) + " is \"" + described(found[index]) +
             "\", expected \"" + described(expected[index]) + '"';
    }
  }
  if (found.size() != expected.size()) {
    return "it has " + std::to_string(found.size()) + " columns, expected " +
           std::to_string(expected.size());
  }
  const std::string key = described_key(found);
  const std::string expected_key = described_key({expected.begin(), expected.end()});
  return key == expected_key ? "" : "its primary key is " + key + ", expected " + expected_key;
}

Status refused(std::string_view name, const std::string& reason) {
  return {StatusCode::kConfig, "table \"" + std::string(name) + "\" in this database " + reason +
                                   "; use another --table or rename it"};
}

// True: the table is there and has the columns. False: there is none.
Result<bool> has_shape(std::string_view name, const StatementResult& table_info,
                       std::span<const Column> expected) {
  if (table_info.rows.empty()) {
    return false;
  }
  std::vector<Column> found;
  for (const Row& row : table_info.rows) {
    found.push_back(column_of(row));
  }
  const std::string how = difference(found, expected);
  if (!how.empty()) {
    return refused(name, "has another shape (" + how + ")");
  }
  return true;
}

Result<bool> has_version(std::string_view table, const StatementResult& answer) {
  if (answer.rows.empty()) {
    return false;
  }
  const std::optional<std::int64_t> version = exact_integer(answer.rows.front().front());
  if (!version || *version < 1) {
    return refused(meta_name(table), "holds no number as schema_version");
  }
  if (*version > kSchemaVersion) {
    return Status(StatusCode::kConfig, "table \"" + std::string(table) +
                                           "\" was made by a newer Spillway (schema version " +
                                           std::to_string(*version) + ", this one knows " +
                                           std::to_string(kSchemaVersion) +
                                           "); update this program");
  }
  return true;
}

}  // namespace

std::string log_column_list(std::string_view prefix) {
  std::string list;
  for (const std::string_view name : kLogColumnNames) {
    list.append(list.empty() ? "" : ", ").append(prefix).append(name);
  }
  return list;
}

std::vector<Statement> create_statements(std::string_view table) {
  const std::string meta = meta_name(table);
  return {{create_sql(table, kLogDefinition)},
          {create_sql(meta, kMetaDefinition)},
          // In the text, because D1 makes every bound number a REAL.
          {"INSERT INTO " + quoted_name(meta) + "(key, value) VALUES('schema_version', " +
           std::to_string(kSchemaVersion) + ") ON CONFLICT(key) DO NOTHING"}};
}

std::vector<Statement> read_statements(std::string_view table) {
  const std::string meta = meta_name(table);
  return {{"SELECT name, type FROM sqlite_schema "
           "WHERE type IN ('view', 'index') AND name = ? COLLATE NOCASE",
           {{std::string(table)}, {meta}}},
          {"PRAGMA table_info(" + quoted_name(table) + ')'},
          {"PRAGMA table_info(" + quoted_name(meta) + ')'},
          {"SELECT value FROM " + quoted_name(meta) + " WHERE key = 'schema_version'"}};
}

bool is_log_table(const StatementResult& table_info) {
  return has_shape({}, table_info, kLogColumns).status().is_ok() && !table_info.rows.empty();
}

Result<bool> is_schema_complete(std::string_view table, std::span<const StatementResult> answers) {
  if (!answers[kOthers].rows.empty()) {
    const Row& other = answers[kOthers].rows.front();
    return refused(text(other[0]), "is no table but of type " + std::string(text(other[1])));
  }
  const Result<bool> has_log = has_shape(table, answers[kLogColumnsAnswer], kLogColumns);
  const Result<bool> has_meta =
      has_shape(meta_name(table), answers[kMetaColumnsAnswer], kMetaColumns);
  if (!has_log || !has_meta) {
    return has_log ? has_meta.error() : has_log.error();
  }
  if (!*has_log || !*has_meta || answers.size() <= kVersion) {
    return false;
  }
  return has_version(table, answers[kVersion]);
}

}  // namespace spillway
