// SPDX-License-Identifier: MIT
#include "table/insert_sql.h"

#include "d1/sql_fragments.h"
#include "table/log_schema.h"

namespace spillway {
namespace {

// The value of a row's column. Positions in JSON count from 0, parameters from 1.
std::string given(RowForm form, std::size_t column) {
  return form == RowForm::kJson ? "j.value->>" + std::to_string(column)
                                : '?' + std::to_string(column + 1);
}

// "l.seq = ?3" for each of these columns, with this relation and this separator.
std::string each_column(RowForm form, std::size_t begin, std::size_t end, std::string_view relation,
                        std::string_view separator) {
  std::string sql;
  for (std::size_t column = begin; column < end; ++column) {
    sql.append(column == begin ? "" : separator).append("l.").append(kLogColumnNames[column]);
    sql.append(relation).append(given(form, column));
  }
  return sql;
}

std::string all_given(RowForm form) {
  std::string sql;
  for (std::size_t column = 0; column < kLogColumnNames.size(); ++column) {
    sql.append(column == 0 ? "" : ", ").append(given(form, column));
  }
  return sql;
}

}  // namespace

std::string insert_sql(std::string_view table, RowForm form) {
  const std::string into = "INSERT INTO " + quoted_name(table) + '(' + log_column_list() + ") ";
  // Without the WHERE the parser takes ON for that of a join.
  const std::string source = form == RowForm::kJson
                                 ? "SELECT " + all_given(form) + " FROM json_each(?1) j WHERE true"
                                 : "VALUES(" + all_given(form) + ')';
  // Not INSERT OR IGNORE, which would swallow NOT NULL and CHECK failures too.
  return into + source + " ON CONFLICT(created_at, writer, seq) DO NOTHING";
}

std::string comparison_sql(std::string_view table, RowForm form) {
  const std::string rows = form == RowForm::kJson ? "json_each(?1) j" : "(SELECT 1)";
  return "SELECT " + given(form, 2) + " AS seq, l.seq IS NOT NULL AS is_there FROM " + rows +
         " LEFT JOIN " + quoted_name(table) + " l ON " +
         each_column(form, 0, kKeyColumns, " = ", " AND ") + " WHERE l.seq IS NULL OR " +
         each_column(form, kKeyColumns, kLogColumnNames.size(), " IS NOT ", " OR ");
}

}  // namespace spillway
