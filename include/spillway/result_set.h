// SPDX-License-Identifier: MIT
//
// ResultSet, RowView, OwnedRow: typed access to what a statement answered.
//
//   Result<ResultSet> set = database.prepare("SELECT id, name FROM app").all();
//   if (!set) return set.error();
//   for (const RowView row : *set) {
//     Result<std::int64_t> id = row.get<std::int64_t>("id");
//     Result<std::optional<std::string>> name = row.get<std::optional<std::string>>("name");
//   }
//
// A ResultSet and an OwnedRow own their values; a RowView, and a string_view or span that `get`
// gave, point into them and are valid as long as they live unchanged. So keep the set in a variable
// of its own: `for (… : *statement.all())` would walk through a set that is gone.
//
// All are values without a database behind them: nothing here blocks, and reading from many threads
// is safe.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spillway {

namespace internal {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
concept Character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;
/// Whole numbers of any width. Not bool, which has rules of its own, and not the types of
/// characters, where a number is hardly ever meant.
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !Character<T>;

/// One value of a row and how its column is called in a message.
struct Cell {
  const Value& value;
  std::string_view column;
};

[[nodiscard]] Result<std::int64_t> read_integer(const Cell& cell, std::int64_t min,
                                                std::int64_t max);
[[nodiscard]] Result<bool> read_truth(const Cell& cell);
[[nodiscard]] Result<double> read_real(const Cell& cell);
[[nodiscard]] Result<std::string_view> read_text(const Cell& cell);
[[nodiscard]] Result<std::span<const std::byte>> read_blob(const Cell& cell);

[[nodiscard]] Result<std::size_t> find_column(std::span<const std::string> columns,
                                              std::string_view name);
/// The cell at `index`, or kInvalidArgument if the row is not so long.
[[nodiscard]] Result<Cell> cell_at(std::span<const std::string> columns, const Row& row,
                                   std::size_t index);

template <WholeNumber T>
[[nodiscard]] Result<T> read_whole_number(const Cell& cell) {
  constexpr std::int64_t kMin = std::is_signed_v<T>
                                    ? static_cast<std::int64_t>(std::numeric_limits<T>::min())
                                    : std::int64_t{0};
  constexpr std::int64_t kMax = std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                                    ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                                    : std::numeric_limits<std::int64_t>::max();
  const Result<std::int64_t> number = read_integer(cell, kMin, kMax);
  if (!number) {
    return number.error();
  }
  return static_cast<T>(*number);
}

/// A T that owns what it holds, from a view of it.
template <typename T, typename View>
[[nodiscard]] Result<T> copied(const Result<View>& view) {
  if (!view) {
    return view.error();
  }
  return T(view->begin(), view->end());
}

template <typename T>
[[nodiscard]] Result<T> read_cell(const Cell& cell) {
  if constexpr (std::same_as<T, Value>) {
    return cell.value;
  } else if constexpr (std::same_as<T, bool>) {
    return read_truth(cell);
  } else if constexpr (WholeNumber<T>) {
    return read_whole_number<T>(cell);
  } else if constexpr (std::same_as<T, double>) {
    return read_real(cell);
  } else if constexpr (std::same_as<T, std::string_view>) {
    return read_text(cell);
  } else if constexpr (std::same_as<T, std::string>) {
    return copied<std::string>(read_text(cell));
  } else if constexpr (std::same_as<T, std::span<const std::byte>>) {
    return read_blob(cell);
  } else if constexpr (std::same_as<T, Blob>) {
    return copied<Blob>(read_blob(cell));
  } else {
    static_assert(kIsOptional<T>,
                  "get<T> knows the integers, bool, double, std::string, std::string_view, Blob, "
                  "std::span<const std::byte>, Value, and std::optional of them");
    if (std::holds_alternative<std::monostate>(cell.value)) {
      return T();
    }
    Result<typename T::value_type> value = read_cell<typename T::value_type>(cell);
    if (!value) {
      return value.error();
    }
    return T(*std::move(value));
  }
}

}  // namespace internal

/// One row of a result, by reference.
class RowView {
 public:
  /// Both must outlive the view.
  RowView(std::span<const std::string> columns, const Row& values) noexcept
      : columns_(columns), values_(&values) {}

  /// The value in a column, by name or by its number from 0. A name is compared exactly; of several
  /// columns with one name it means the first, the others have only their numbers.
  ///
  /// T is one of: an integer type, bool, double, std::string or std::string_view, Blob or
  /// std::span<const std::byte>, Value (whatever it is), or std::optional of one of them, which is
  /// empty for NULL. Nothing is converted but what stays exactly the same: 3.0 can be read as an
  /// integer, 2^53 + 1 not as a double; a bool is 0 or 1; a text is no number. A real from 2^53 on
  /// is no integer: it may be a rounded one, as D1 answers to RETURNING. SELECT gives it exactly.
  ///
  /// kInvalidArgument: there is no such column, or its value is no T; the message names the column,
  /// what was wanted and what was found, but no text or blob.
  template <typename T>
  [[nodiscard]] Result<T> get(std::string_view column) const {
    const Result<std::size_t> index = internal::find_column(columns_, column);
    if (!index) {
      return index.error();
    }
    return get<T>(*index);
  }
  template <typename T>
  [[nodiscard]] Result<T> get(std::size_t index) const {
    const Result<internal::Cell> cell = internal::cell_at(columns_, *values_, index);
    if (!cell) {
      return cell.error();
    }
    return internal::read_cell<T>(*cell);
  }

  [[nodiscard]] std::span<const std::string> columns() const noexcept { return columns_; }
  [[nodiscard]] const Row& values() const noexcept { return *values_; }

 private:
  std::span<const std::string> columns_;
  const Row* values_;
};

/// One row with its column names, on its own.
class OwnedRow {
 public:
  OwnedRow(std::vector<std::string> columns, Row values) noexcept
      : columns_(std::move(columns)), values_(std::move(values)) {}

  /// As RowView::get.
  template <typename T>
  [[nodiscard]] Result<T> get(std::string_view column) const {
    return view().get<T>(column);
  }
  template <typename T>
  [[nodiscard]] Result<T> get(std::size_t index) const {
    return view().get<T>(index);
  }

  [[nodiscard]] RowView view() const noexcept { return {columns_, values_}; }
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  [[nodiscard]] const Row& values() const noexcept { return values_; }

 private:
  std::vector<std::string> columns_;
  Row values_;
};

/// All rows that a statement answered, and what it did.
class ResultSet {
 public:
  class Iterator {
   public:
    // Names that the standard library asks for.
    using value_type = RowView;              // NOLINT(readability-identifier-naming)
    using difference_type = std::ptrdiff_t;  // NOLINT(readability-identifier-naming)

    Iterator() = default;
    Iterator(const StatementResult* result, std::size_t index) : result_(result), index_(index) {}

    [[nodiscard]] RowView operator*() const { return {result_->columns, result_->rows[index_]}; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {result_, index_++}; }
    [[nodiscard]] bool operator==(const Iterator& other) const = default;

   private:
    const StatementResult* result_ = nullptr;
    std::size_t index_ = 0;
  };

  explicit ResultSet(StatementResult result) noexcept : result_(std::move(result)) {}

  /// The rows, in the order in which the database gave them.
  [[nodiscard]] Iterator begin() const noexcept { return {&result_, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {&result_, size()}; }
  [[nodiscard]] std::size_t size() const noexcept { return result_.rows.size(); }
  [[nodiscard]] bool empty() const noexcept { return result_.rows.empty(); }
  /// `index` must be below size().
  [[nodiscard]] RowView operator[](std::size_t index) const {
    return {result_.columns, result_.rows[index]};
  }

  /// In order, duplicates kept; known even when there are no rows.
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return result_.columns; }
  /// The number of the first column of that name. kInvalidArgument: there is none.
  [[nodiscard]] Result<std::size_t> index_of(std::string_view column) const {
    return internal::find_column(result_.columns, column);
  }
  /// Changes, the last row id, rows read and written, time.
  [[nodiscard]] const Meta& meta() const noexcept { return result_.meta; }

  /// All of it without the typed access.
  [[nodiscard]] const StatementResult& result() const& noexcept { return result_; }
  [[nodiscard]] StatementResult&& result() && noexcept { return std::move(result_); }

 private:
  StatementResult result_;
};

}  // namespace spillway
