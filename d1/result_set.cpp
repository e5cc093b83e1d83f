// SPDX-License-Identifier: MIT
#include <spillway/result_set.h>

#include "d1/exact_integer.h"
#include "d1/guarded.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace spillway::internal {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

std::string number_text(double number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end};
}

// What is there, for a message. Numbers are shown, texts and blobs are not: they can be long, and
// secret.
std::string found(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return "holds the integer " + std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return "holds the real " + number_text(*real);
  }
  if (std::holds_alternative<std::string>(value)) {
    return "holds a text";
  }
  return std::holds_alternative<Blob>(value) ? "holds a blob" : "is NULL";
}

std::string refusal(const Cell& cell, const std::string& wanted) {
  const bool is_null = std::holds_alternative<std::monostate>(cell.value);
  return "column \"" + std::string(cell.column) + "\" " + found(cell.value) + ", wanted " + wanted +
         (is_null ? "; a std::optional takes NULL" : "");
}

// kInvalidArgument with the text that `words` gives.
template <typename Words>
Status invalid(Words&& words) {
  return guarded(Execution::kNo, [&] { return Status(StatusCode::kInvalidArgument, words()); });
}

template <typename Wanted>
Status refused(const Cell& cell, Wanted&& wanted) {
  return invalid([&] { return refusal(cell, wanted()); });
}

Status refused(const Cell& cell, const char* wanted) {
  return refused(cell, [&] { return wanted; });
}

std::optional<double> exact_real(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) {
    return std::nullopt;
  }
  const auto real = static_cast<double>(*integer);
  // The largest integers become 2^63, which no longer fits back.
  const bool is_exact = real < kTwoTo63 && static_cast<std::int64_t>(real) == *integer;
  return is_exact ? std::optional(real) : std::nullopt;
}

std::string range_text(std::int64_t min, std::int64_t max) {
  return "an integer from " + std::to_string(min) + " to " + std::to_string(max);
}

const char* rounding_text(const Value& value) {
  return may_be_rounded(value) ? "; it may have been rounded: SELECT it for all its digits, or "
                                 "read it as a double"
                               : "";
}

// "id, name, level": enough of them to see the slip.
std::string list_of(std::span<const std::string> columns) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (const std::string& column : columns.first(std::min(columns.size(), kShown))) {
    list += (list.empty() ? "" : ", ") + column;
  }
  return columns.size() > kShown ? list + " …" : list;
}

}  // namespace

Result<std::int64_t> read_integer(const Cell& cell, std::int64_t min, std::int64_t max) {
  const std::optional<std::int64_t> number = exact_integer(cell.value);
  if (!number || *number < min || *number > max) {
    return refused(cell, [&] { return range_text(min, max) + rounding_text(cell.value); });
  }
  return *number;
}

Result<bool> read_truth(const Cell& cell) {
  const std::optional<std::int64_t> number = exact_integer(cell.value);
  if (!number || (*number != 0 && *number != 1)) {
    return refused(cell, "a truth, 0 or 1");
  }
  return *number == 1;
}

Result<double> read_real(const Cell& cell) {
  const std::optional<double> number = exact_real(cell.value);
  if (!number) {
    return refused(cell, "a number that a double holds exactly");
  }
  return *number;
}

Result<std::string_view> read_text(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell.value);
  if (text == nullptr) {
    return refused(cell, "a text");
  }
  return std::string_view(*text);
}

Result<std::span<const std::byte>> read_blob(const Cell& cell) {
  const auto* blob = std::get_if<Blob>(&cell.value);
  if (blob == nullptr) {
    return refused(cell, "a blob");
  }
  return std::span<const std::byte>(*blob);
}

Result<std::size_t> find_column(std::span<const std::string> columns, std::string_view name) {
  const auto column = std::find(columns.begin(), columns.end(), name);
  if (column == columns.end()) {
    return invalid([&] {
      return "no column \"" + std::string(name) +
             "\" in the result; there are: " + list_of(columns);
    });
  }
  return static_cast<std::size_t>(column - columns.begin());
}

Result<Cell> cell_at(std::span<const std::string> columns, const Row& row, std::size_t index) {
  const std::size_t count = std::min(columns.size(), row.size());
  if (index >= count) {
    return invalid([&] {
      return "no column number " + std::to_string(index) + " in the result; there are " +
             std::to_string(count) + ", counted from 0";
    });
  }
  return Cell{row[index], columns[index]};
}

}  // namespace spillway::internal
