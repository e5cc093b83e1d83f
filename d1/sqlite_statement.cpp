// SPDX-License-Identifier: MIT
#include "d1/sqlite_statement.h"

#include <sqlite3.h>

#include "d1/sqlite_status.h"
#include "d1/statement_refusal.h"

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <new>
#include <variant>

namespace spillway {
namespace {

// Binds one value and gives SQLite's code. SQLITE_STATIC: SQLite reads the row's own memory.
class Binder {
 public:
  Binder(sqlite3_stmt* statement, int parameter) : statement_(statement), parameter_(parameter) {}

  int operator()(std::monostate) const { return sqlite3_bind_null(statement_, parameter_); }
  int operator()(std::int64_t number) const {
    return sqlite3_bind_int64(statement_, parameter_, number);
  }
  int operator()(double number) const {
    return sqlite3_bind_double(statement_, parameter_, number);
  }
  int operator()(const std::string& text) const {
    return sqlite3_bind_text64(statement_, parameter_, text.data(), text.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int operator()(const Blob& blob) const {
    // An empty vector may have no memory, and a null pointer would bind NULL.
    const void* data = blob.empty() ? "" : static_cast<const void*>(blob.data());
    return sqlite3_bind_blob64(statement_, parameter_, data, blob.size(), SQLITE_STATIC);
  }

 private:
  sqlite3_stmt* statement_;
  int parameter_;
};

bool is_finite(const Value& value) {
  const double* number = std::get_if<double>(&value);
  return number == nullptr || std::isfinite(*number);
}

// SQLite gives a null pointer for a value of no bytes, and when it has no memory to convert one.
const char* checked(sqlite3_stmt* statement, const void* data, std::size_t bytes) {
  if (data == nullptr &&
      (bytes > 0 || sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM)) {
    throw std::bad_alloc();
  }
  return data == nullptr ? "" : static_cast<const char*>(data);
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const void* data = sqlite3_column_text(statement, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return {checked(statement, data, bytes), bytes};
}

Blob column_blob(sqlite3_stmt* statement, int column) {
  const void* data = sqlite3_column_blob(statement, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  const char* begin = checked(statement, data, bytes);
  const auto* first = reinterpret_cast<const std::byte*>(begin);  // NOLINT: bytes are bytes
  return {first, first + bytes};
}

Value column_value(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return column_text(statement, column);
    case SQLITE_BLOB:
      return column_blob(statement, column);
    default:
      return std::monostate();
  }
}

}  // namespace

void SqliteStatement::Finalizer::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);  // Repeats the error of the last step, which is known already.
}

bool SqliteStatement::is_read_only() const noexcept {
  return sqlite3_stmt_readonly(statement_.get()) != 0;
}

std::vector<std::string> SqliteStatement::columns() const {
  const int count = sqlite3_column_count(statement_.get());
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (int column = 0; column < count; ++column) {
    const char* name = sqlite3_column_name(statement_.get(), column);
    if (name == nullptr) {
      throw std::bad_alloc();
    }
    names.emplace_back(name);
  }
  return names;
}

Status SqliteStatement::bind(const Row& row) {
  const auto parameters = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement_.get()));
  if (row.size() != parameters) {
    return wrong_value_count(parameters, row.size());
  }
  int parameter = 0;
  for (const Value& value : row) {
    ++parameter;
    if (!is_finite(value)) {
      return not_finite(static_cast<std::size_t>(parameter));
    }
    const int code = std::visit(Binder(statement_.get(), parameter), value);
    if (code != SQLITE_OK) {
      return sqlite_status(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
    }
  }
  return {};
}

int SqliteStatement::step() noexcept {
  errno = 0;  // What it is afterwards is of this step: see SqliteConnection::failure.
  return sqlite3_step(statement_.get());
}

Row SqliteStatement::row() const {
  const int count = sqlite3_column_count(statement_.get());
  Row row;
  row.reserve(static_cast<std::size_t>(count));
  for (int column = 0; column < count; ++column) {
    row.push_back(column_value(statement_.get(), column));
  }
  return row;
}

void SqliteStatement::reset() noexcept {
  sqlite3_reset(statement_.get());  // Repeats the error of the last step, which is known already.
}

}  // namespace spillway
