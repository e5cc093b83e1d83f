// SPDX-License-Identifier: MIT
#include "tests/cli/log_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>

namespace spillway::testing {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Connection = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Query = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Connection connect(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &opened), SQLITE_OK) << file;
  constexpr int kBusyMilliseconds = 10'000;
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return Connection(opened);
}

Query prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sql << ": " << sqlite3_errmsg(database);
  return Query(statement);
}

std::string text_at(sqlite3_stmt* row, int column) {
  const void* const bytes = sqlite3_column_blob(row, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

StoredRow row_at(sqlite3_stmt* row) {
  return {.created_at = text_at(row, 0),
          .writer = sqlite3_column_int64(row, 1),
          .seq = sqlite3_column_int64(row, 2),
          .level = text_at(row, 3),
          .context = text_at(row, 4),
          .message = text_at(row, 5),
          .fields = text_at(row, 6)};
}

}  // namespace

std::vector<StoredRow> stored_rows(const std::filesystem::path& file, const std::string& table) {
  const Connection database = connect(file);
  const Query query = prepare(
      database.get(), "SELECT created_at, writer, seq, level, context, message, fields FROM \"" +
                          table + "\" ORDER BY writer, seq");
  std::vector<StoredRow> rows;
  while (sqlite3_step(query.get()) == SQLITE_ROW) {
    rows.push_back(row_at(query.get()));
  }
  return rows;
}

std::vector<std::string> messages(const std::vector<StoredRow>& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const StoredRow& row : rows) {
    texts.push_back(row.message);
  }
  return texts;
}

std::int64_t query_number(const std::filesystem::path& file, const std::string& sql) {
  const Connection database = connect(file);
  const Query query = prepare(database.get(), sql);
  EXPECT_EQ(sqlite3_step(query.get()), SQLITE_ROW) << sql;
  return sqlite3_column_int64(query.get(), 0);
}

void execute_sql(const std::filesystem::path& file, const std::string& sql) {
  const Connection database = connect(file);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
      << sql << ": " << (error == nullptr ? "" : error);
  sqlite3_free(error);
}

std::int64_t json_number(const std::string& json, const std::string& path) {
  return query_number(":memory:",
                      "SELECT sum(atom) FROM json_each('" + json + "', '" + path + "')");
}

}  // namespace spillway::testing
