// SPDX-License-Identifier: MIT
#include "retention/restore_target.h"

#include "base/ascii.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/sql_fragments.h"
#include "retention/state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace spillway::retention {
namespace {

struct TargetColumn {
  std::string name;
  bool is_stored = true;
  bool is_in_key = false;
};

struct TargetShape {
  std::vector<TargetColumn> columns = {};
  bool has_rowid = false;
  bool has_meta = false;
};

std::string_view text_at(const Row& row, std::size_t cell) {
  const auto* const text = cell < row.size() ? std::get_if<std::string>(&row[cell]) : nullptr;
  return text == nullptr ? std::string_view() : *text;
}

std::int64_t number_at(const Row& row, std::size_t cell) {
  return cell < row.size() ? exact_integer(row[cell]).value_or(0) : 0;
}

Status unfit(const std::string& table, const std::string& why) {
  return {StatusCode::kInvalidArgument,
          "the archive cannot be put into table \"" + table + "\": " + why};
}

// Rows of PRAGMA table_list: schema, name, type, ncol, wr, strict. Null: it is not there.
const Row* row_in_main(const StatementResult& list) {
  const auto found = std::find_if(list.rows.begin(), list.rows.end(),
                                  [](const Row& row) { return text_at(row, 0) == "main"; });
  return found == list.rows.end() ? nullptr : &*found;
}

Result<TargetShape> shape_of(const std::string& table, Database& database,
                             const ExecuteOptions& options) {
  const std::array<Statement, 3> statements{
      Statement{"PRAGMA table_list(" + quoted_name(table) + ")"},
      Statement{"PRAGMA table_xinfo(" + quoted_name(table) + ")"},
      Statement{"PRAGMA table_list(" + quoted_name(table + "_meta") + ")"}};
  const auto answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  const Row* const listed = row_in_main((*answers)[0]);
  if (listed == nullptr) {
    return Status(StatusCode::kSchema, "no such table: " + table);
  }
  if (text_at(*listed, 2) != "table") {
    return unfit(table, "it is no table but of type " + std::string(text_at(*listed, 2)));
  }
  TargetShape shape{.has_rowid = number_at(*listed, 4) == 0,
                    .has_meta = row_in_main((*answers)[2]) != nullptr};
  for (const Row& row : (*answers)[1].rows) {  // cid, name, type, notnull, dflt_value, pk, hidden
    shape.columns.push_back(
        {std::string(text_at(row, 1)), number_at(row, 6) == 0, number_at(row, 5) > 0});
  }
  return shape;
}

const TargetColumn* column_named(const TargetShape& shape, const std::string& name) {
  const auto found = std::find_if(
      shape.columns.begin(), shape.columns.end(),
      [&name](const TargetColumn& column) { return is_same_ignoring_case(column.name, name); });
  return found == shape.columns.end() ? nullptr : &*found;
}

bool is_rowid(const TargetShape& shape, const std::string& name) {
  return shape.has_rowid && column_named(shape, name) == nullptr &&
         (name == "rowid" || name == "_rowid_" || name == "oid");
}

// Both are sets without repetition.
bool is_key_of_target(const TargetShape& shape, const std::vector<std::string>& key) {
  if (key.size() == 1 && is_rowid(shape, key.front())) {
    return true;
  }
  const auto in_key = std::count_if(shape.columns.begin(), shape.columns.end(),
                                    [](const TargetColumn& column) { return column.is_in_key; });
  return static_cast<std::size_t>(in_key) == key.size() &&
         std::all_of(key.begin(), key.end(), [&shape](const std::string& name) {
           const TargetColumn* const column = column_named(shape, name);
           return column != nullptr && column->is_in_key;
         });
}

Status check_shape(const TargetShape& shape, const ArchiveHeader& header,
                   const std::string& table) {
  for (const std::string& name : header.columns) {
    const TargetColumn* const column = column_named(shape, name);
    if (column == nullptr ? !is_rowid(shape, name) : !column->is_stored) {
      return unfit(table, "it has no column \"" + name + '"' +
                              (column == nullptr ? "" : " that could be written"));
    }
  }
  return is_key_of_target(shape, header.key)
             ? Status()
             : unfit(table, "its primary key is not that of the archive");
}

// Databases take no infinity as a parameter.
std::string value_text(const Value& value, std::size_t& parameters) {
  const auto* const real = std::get_if<double>(&value);
  if (real != nullptr && std::isinf(*real)) {
    return *real > 0 ? "9e999" : "-9e999";
  }
  return '?' + std::to_string(++parameters);
}

std::vector<std::string> value_texts(const Row& row) {
  std::size_t parameters = 0;
  std::vector<std::string> texts;
  for (const Value& value : row) {
    texts.push_back(value_text(value, parameters));
  }
  return texts;
}

Row without_infinities(const Row& row) {
  Row rest = row;
  std::erase_if(rest, [](const Value& value) {
    const auto* const real = std::get_if<double>(&value);
    return real != nullptr && std::isinf(*real);
  });
  return rest;
}

void append_item(std::string& list, std::string_view separator, std::string_view item) {
  list.append(list.empty() ? "" : separator).append(item);
}

}  // namespace

Result<RestoreTarget> RestoreTarget::open(const ArchiveHeader& header, const std::string& table,
                                          Database& database, const ExecuteOptions& options) {
  RestoreTarget target(database, options);
  target.options_.is_idempotent = true;
  const Result<TargetShape> shape = shape_of(table, database, target.options_);
  if (!shape) {
    return shape.error();
  }
  if (Status status = check_shape(*shape, header, table); !status.is_ok()) {
    return status;
  }
  target.table_ = quoted_name(table);
  for (const std::string& name : header.columns) {
    target.columns_.push_back(is_rowid(*shape, name) ? name : quoted_name(name));
    target.is_key_.push_back(std::find(header.key.begin(), header.key.end(), name) !=
                             header.key.end());
  }
  if (shape->has_meta) {
    target.mark_ = restored_statement(quoted_name(table + "_meta"));
  }
  return target;
}

Result<Restored> RestoreTarget::put(std::span<const Row> rows) const {
  std::vector<Statement> all =
      statements(rows, [this](const auto& values) { return insert_text(values); });
  const std::size_t inserts = all.size();
  if (mark_) {
    all.push_back(*mark_);
  }
  const auto answers = execute_all(database_, all, options_);
  if (!answers) {
    const StatusCode code = answers.error().code();
    if (code == StatusCode::kConstraint && rows.size() == 1) {
      return Restored{.conflicting = 1};
    }
    const bool is_for_fewer = code == StatusCode::kConstraint || code == StatusCode::kTooBig;
    return is_for_fewer && rows.size() > 1 ? put_halves(rows) : answers.error();
  }
  std::int64_t inserted = 0;  // Not `changes`, which counts what triggers do, too.
  for (std::size_t i = 0; i < inserts; ++i) {
    inserted += static_cast<std::int64_t>((*answers)[i].rows.size());
  }
  return counted(rows, inserted);
}

Result<Restored> RestoreTarget::put_halves(std::span<const Row> rows) const {
  const std::size_t half = rows.size() / 2;
  Result<Restored> first = put(rows.first(half));
  if (!first) {
    return first;
  }
  Result<Restored> second = put(rows.subspan(half));
  if (!second) {
    return second;
  }
  return Restored{.rows = first->rows + second->rows,
                  .already_there = first->already_there + second->already_there,
                  .conflicting = first->conflicting + second->conflicting};
}

// Those that were not inserted are in the table with the same contents, or are not.
Result<Restored> RestoreTarget::counted(std::span<const Row> rows, std::int64_t inserted) const {
  const auto all = static_cast<std::int64_t>(rows.size());
  if (inserted >= all) {
    return Restored{.rows = all};
  }
  const auto answers = execute_all(
      database_, statements(rows, [this](const auto& values) { return comparison_text(values); }),
      options_);
  if (!answers) {
    return answers.error();
  }
  std::int64_t same = 0;
  for (const StatementResult& answer : *answers) {
    same += std::count_if(answer.rows.begin(), answer.rows.end(),
                          [](const Row& row) { return number_at(row, 0) == 1; });
  }
  const std::int64_t there = std::max<std::int64_t>(same - inserted, 0);
  return Restored{.rows = inserted, .already_there = there, .conflicting = all - inserted - there};
}

template <typename Sql>
std::vector<Statement> RestoreTarget::statements(std::span<const Row> rows, Sql&& sql) const {
  std::vector<Statement> all;
  for (const Row& row : rows) {
    std::string text = sql(value_texts(row));
    if (all.empty() || all.back().sql != text) {
      all.push_back({std::move(text)});
    }
    all.back().rows.push_back(without_infinities(row));
  }
  return all;
}

std::string RestoreTarget::insert_text(const std::vector<std::string>& values) const {
  std::string names;
  std::string texts;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    append_item(names, ", ", columns_[i]);
    append_item(texts, ", ", values[i]);
  }
  return "INSERT INTO " + table_ + '(' + names + ") VALUES(" + texts +
         ") ON CONFLICT DO NOTHING RETURNING 1";
}

// The key finds the row as the table compares keys; but 'a' is not the content 'A', whatever the
// column's collation.
std::string RestoreTarget::comparison_text(const std::vector<std::string>& values) const {
  std::string same;
  std::string key;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    append_item(same, " AND ", columns_[i] + " COLLATE BINARY IS " + values[i]);
    if (is_key_[i]) {
      append_item(key, " AND ", columns_[i] + " = " + values[i]);
    }
  }
  return "SELECT " + same + " FROM " + table_ + " WHERE " + key;
}

}  // namespace spillway::retention
