// SPDX-License-Identifier: MIT
//
// Which types can be a field's value, and as what: the part of field.h that looks at types.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>

namespace spillway {

class FieldWriter;

namespace field_form {

enum class Form : std::uint8_t {
  kNone,
  kToField,
  kBool,
  kLetter,
  kSigned,
  kUnsigned,
  kFloat,
  kDouble,
  kPointerToText,
  kText,
  kTime,
  kDuration,
  kException,
  kOptional,
  kFields,
  kMap,
  kRange
};

template <typename T>
concept HasToField = requires(const T& value, FieldWriter& out) {
  to_field(value, out);
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
inline constexpr bool kIsTime = false;
template <typename Duration>
inline constexpr bool kIsTime<std::chrono::time_point<std::chrono::system_clock, Duration>> = true;

template <typename T>
inline constexpr bool kIsDuration = false;
template <typename Rep, typename Period>
inline constexpr bool kIsDuration<std::chrono::duration<Rep, Period>> = true;

template <typename T>
inline constexpr bool kIsLetter = std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                                  std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <typename T>
concept TextMember = requires(const T& pair) {
  { pair.first } -> std::convertible_to<std::string_view>;
  pair.second;
};

/// What `name` and `value` have in common with the Field of field.h.
template <typename T>
concept FieldMember = requires(const T& field) {
  { field.name } -> std::convertible_to<std::string_view>;
  typename T::IsField;
};

/// n, if num / den is a whole number / 10^n; else -1.
constexpr int decimals_of(std::intmax_t num, std::intmax_t den) {
  int decimals = 0;
  for (; den > 1 && den % 10 == 0; den /= 10) {
    ++decimals;
  }
  return den == 1 && num > 0 ? decimals : -1;
}

template <typename T>
constexpr Form form_of();

template <typename T>
constexpr Form form_of_scalar() {
  if constexpr (std::same_as<T, bool>) {
    return Form::kBool;
  } else if constexpr (std::same_as<T, char>) {
    return Form::kLetter;
  } else if constexpr (std::integral<T> && !kIsLetter<T> && sizeof(T) <= sizeof(std::uint64_t)) {
    return std::is_signed_v<T> ? Form::kSigned : Form::kUnsigned;
  } else if constexpr (std::same_as<T, float>) {
    return Form::kFloat;
  } else if constexpr (std::floating_point<T>) {
    return Form::kDouble;
  } else {
    return Form::kNone;
  }
}

template <typename T>
constexpr Form form_of_class() {
  if constexpr (kIsTime<T>) {
    return Form::kTime;
  } else if constexpr (kIsDuration<T>) {
    return Form::kDuration;
  } else if constexpr (std::derived_from<T, std::exception>) {
    return Form::kException;
  } else if constexpr (kIsOptional<T>) {
    return form_of<typename T::value_type>() != Form::kNone ? Form::kOptional : Form::kNone;
  } else {
    return Form::kNone;
  }
}

// A path is a range of paths: that has no end.
template <typename T>
constexpr Form form_of_range() {
  using Item = std::remove_cv_t<std::ranges::range_value_t<const T>>;
  if constexpr (std::same_as<Item, T>) {
    return Form::kNone;
  } else if constexpr (FieldMember<Item>) {
    return Form::kFields;
  } else if constexpr (TextMember<Item>) {
    return form_of<std::remove_cvref_t<decltype(Item::second)>>() != Form::kNone ? Form::kMap
                                                                                 : Form::kNone;
  } else {
    return form_of<Item>() != Form::kNone ? Form::kRange : Form::kNone;
  }
}

template <typename T>
constexpr Form form_of() {
  if constexpr (HasToField<T>) {
    return Form::kToField;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return form_of_scalar<T>();
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    return Form::kPointerToText;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return Form::kText;
  } else if constexpr (form_of_class<T>() != Form::kNone) {
    return form_of_class<T>();
  } else if constexpr (std::ranges::input_range<const T>) {
    return form_of_range<T>();
  } else {
    return Form::kNone;
  }
}

}  // namespace field_form
}  // namespace spillway
