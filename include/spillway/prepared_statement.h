// SPDX-License-Identifier: MIT
//
// PreparedStatement and DatabaseSession: a Database in the shape that D1 has in a Worker.
//
//   Result<std::optional<std::int64_t>> count =
//       database.prepare("SELECT count(*) AS n FROM logs WHERE level = ?1")
//           .bind("ERROR")
//           .first<std::int64_t>("n");
//
// What differs from the Worker: failures are values, not exceptions; integers have all 64 bits; the
// calls block, at most as Database::execute says; and what a Worker's `raw({columnNames: true})`
// gives is in ResultSet::columns(). Source:
// developers.cloudflare.com/d1/worker-api/prepared-statements and …/d1-database.
//
// It is all written on Database::execute, so a Database that wraps another (and retries, counts or
// injects faults) gets it for nothing. A statement holds its text, its values and the address of
// its database, which must outlive it; "prepared" says that it is ready to be run, nothing is sent
// before. Statements may be copied and kept, and are used by one thread at a time, like their
// database.
#pragma once

#include <spillway/database.h>
#include <spillway/result_set.h>
#include <spillway/status.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spillway {

namespace internal {

/// False for a whole number that no database can hold: above 2^63 - 1.
template <typename T>
[[nodiscard]] constexpr bool is_storable(const T& given) noexcept {
  if constexpr (WholeNumber<T>) {
    return std::in_range<std::int64_t>(given);
  } else if constexpr (kIsOptional<T>) {
    return !given || is_storable(*given);
  } else {
    return true;
  }
}

template <typename T>
inline constexpr bool kIsNull = std::same_as<T, std::nullptr_t> ||
                                std::same_as<T, std::nullopt_t> || std::same_as<T, std::monostate>;

template <typename T>
[[nodiscard]] Value to_value(T&& given) {
  using Type = std::remove_cvref_t<T>;
  if constexpr (kIsNull<Type>) {
    return std::monostate();
  } else if constexpr (std::same_as<Type, bool> || WholeNumber<Type>) {
    return static_cast<std::int64_t>(given);
  } else if constexpr (std::same_as<Type, double> || std::same_as<Type, float>) {
    return static_cast<double>(given);
  } else if constexpr (std::same_as<Type, Value> || std::same_as<Type, std::string> ||
                       std::same_as<Type, Blob>) {
    return Value(std::forward<T>(given));
  } else if constexpr (kIsOptional<Type>) {
    return given ? to_value(*std::forward<T>(given)) : Value();
  } else if constexpr (std::convertible_to<T, const char*>) {
    const char* const text = given;
    return text == nullptr ? Value() : Value(std::string(text));
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return std::string(std::string_view(given));
  } else {
    static_assert(std::convertible_to<T, std::span<const std::byte>>,
                  "bind() takes integers, bool, float, double, texts, bytes (std::as_bytes), "
                  "nullptr, Value, and std::optional of them");
    const std::span<const std::byte> bytes(given);
    return Blob(bytes.begin(), bytes.end());
  }
}

}  // namespace internal

class PreparedStatement {
 public:
  /// For Database::prepare and DatabaseSession::prepare. `database` must outlive the statement.
  PreparedStatement(Database& database, std::string sql, std::string bookmark = {})
      : database_(&database), statement_{std::move(sql)}, bookmark_(std::move(bookmark)) {}

  /// A copy of the statement with these values for `?`, `?1` …, in place of any that were bound
  /// before.
  ///
  /// Integers of all widths become INTEGER, bool 0 or 1, float and double REAL, texts TEXT of any
  /// bytes, spans and vectors of std::byte BLOB; nullptr, std::nullopt, an empty std::optional and
  /// a null `const char*` become NULL. Everything is copied or moved in. An unsigned number above
  /// 2^63 - 1, NaN, an infinity and a wrong number of values are told when the statement is run, as
  /// kInvalidArgument.
  template <typename... Values>
  [[nodiscard]] PreparedStatement bind(Values&&... values) const {
    Row row;
    row.reserve(sizeof...(Values));
    std::size_t refused = 0;  // The position, from 1, of the last value that does not fit.
    [[maybe_unused]] const auto add = [&row, &refused]<typename T>(T&& given) {
      const bool is_storable = internal::is_storable(given);
      row.push_back(is_storable ? internal::to_value(std::forward<T>(given)) : Value());
      refused = is_storable ? refused : row.size();
    };
    (add(std::forward<Values>(values)), ...);
    return with_row(std::move(row), refused);
  }

  /// A copy of the statement that runs once for each of these rows, in order and in one
  /// transaction: see Statement. For values whose number is known only at run time, one row. No
  /// rows are refused when the statement is run, as kInvalidArgument: nothing is what it should do,
  /// not what it does without values.
  [[nodiscard]] PreparedStatement bind_rows(std::vector<Row> rows) const;

  /// Runs the statement and gives all it answers. The two are the same, as in a Worker: say `run`
  /// for a statement that writes. Errors and blocking: as Database::execute.
  [[nodiscard]] Result<ResultSet> all(const ExecuteOptions& options = {}) const;
  [[nodiscard]] Result<ResultSet> run(const ExecuteOptions& options = {}) const;

  /// Only the rows' values, without the columns' names.
  [[nodiscard]] Result<std::vector<Row>> raw(const ExecuteOptions& options = {}) const;

  /// The first row; empty if there is none. All rows are read: write LIMIT 1 where it matters.
  [[nodiscard]] Result<std::optional<OwnedRow>> first(const ExecuteOptions& options = {}) const;

  /// A column of the first row, as RowView::get gives it. Empty if there is no row, and also for
  /// NULL, as in a Worker. kInvalidArgument: there is no such column, or its value is no T.
  template <typename T = Value>
  [[nodiscard]] Result<std::optional<T>> first(std::string_view column,
                                               const ExecuteOptions& options = {}) const {
    static_assert(
        !std::same_as<T, std::string_view> && !std::same_as<T, std::span<const std::byte>>,
        "the row that this would point into is gone; take std::string or Blob");
    const Result<ResultSet> set = all(options);
    if (!set) {
      return set.error();
    }
    const Result<std::size_t> index = set->index_of(column);
    if (!index) {
      return index.error();
    }
    if (set->empty()) {
      return std::optional<T>();
    }
    return (*set)[0].get<std::optional<T>>(*index);
  }

  /// Text and values, as Database::execute takes them.
  [[nodiscard]] const Statement& statement() const& noexcept { return statement_; }
  [[nodiscard]] Statement&& statement() && noexcept { return std::move(statement_); }
  /// Success, or kInvalidArgument: a value that was bound cannot be stored, or bind_rows got no
  /// rows. kInternal: there was no memory for binding.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  friend class DatabaseSession;
  [[nodiscard]] PreparedStatement with_row(Row row, std::size_t refused) const;
  [[nodiscard]] PreparedStatement with_bookmark(const std::string& bookmark) const;
  template <typename Change>
  [[nodiscard]] PreparedStatement changed(Change&& change) const noexcept;

  Database* database_;
  Statement statement_;
  Status status_;
  std::string bookmark_;  // Of the session; empty without.
};

/// What Database::exec did.
struct ExecResult {
  std::int64_t count = 0;  ///< Statements that were run.
  /// Time in the database, over all of them, without the network.
  std::chrono::microseconds duration{0};
};

/// A D1 session: what a Worker's `withSession` gives. Its bookmark goes with each call, as
/// ExecuteOptions::bookmark, unless the caller sets that.
///
/// Over Cloudflare's REST API there are no sessions: every statement goes to the primary, so each
/// read sees every write that was answered before, which is more than a session promises, and there
/// is no bookmark to be had. SQLite is the same. Source:
/// developers.cloudflare.com/d1/best-practices/read-replication, known limitations.
class DatabaseSession {
 public:
  DatabaseSession(Database& database, std::string constraint_or_bookmark)
      : database_(&database), bookmark_(std::move(constraint_or_bookmark)) {}

  /// As the calls of Database.
  [[nodiscard]] PreparedStatement prepare(std::string sql) const;
  [[nodiscard]] Result<std::vector<ResultSet>> batch(std::vector<PreparedStatement> statements,
                                                     const ExecuteOptions& options = {}) const;

  /// The latest bookmark that the database gave in this session; empty, because neither REST nor
  /// SQLite gives one.
  [[nodiscard]] std::optional<std::string> bookmark() const { return std::nullopt; }

 private:
  Database* database_;
  std::string bookmark_;
};

}  // namespace spillway
