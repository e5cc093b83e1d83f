// SPDX-License-Identifier: MIT
//
// Field: a name and a value beside a log record's text, as in
//
//   log.info("order placed", {{"order", 42}, {"total", 9.99}, {"user", name}});
//
// Values: null, bool, every integer, float and double, text, a point in time of the system clock, a
// duration (seconds), std::exception with its nested causes, std::optional; lists, {1, 2, 3} or any
// range; objects, {{"city", city}, {"zip", zip}} or any map from text; and each type that has, in
// its own namespace,
//
//   void to_field(const Order& order, spillway::FieldWriter& out) {
//     out.object({{"id", order.id}, {"total", order.total}});
//   }
//
// In braces, pairs that begin with a text are an object and all else is a list, so {} is null.
// Field and FieldValue own nothing and are made for the call that takes them: what they name must
// live until it returns. encode_fields copies all of it into a FieldBuffer, without allocation in
// the usual case; JSON is made of that later, on another thread. docs/formats.md says what becomes
// of each value. Nothing here is shared: objects belong to the thread that made them.
#pragma once

#include <spillway/clock.h>
#include <spillway/field_form.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <ranges>
#include <ratio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spillway {

struct Field;
class FieldItem;
class FieldValue;
enum class FieldTag : std::uint8_t;

/// What can be a field's value.
template <typename T>
concept FieldSource =
    !std::same_as<T, FieldValue> && field_form::form_of<T>() != field_form::Form::kNone;

/// Any kind of string; a null pointer is an empty one.
class TextRef {
 public:
  TextRef(const char* text) noexcept : view_(text == nullptr ? "" : text) {}  // NOLINT
  template <typename Text>
  requires std::is_convertible_v<const Text&, std::string_view> &&
      (!std::is_convertible_v<const Text&, const char*>)TextRef(const Text& text) noexcept
      : view_(text) {}  // NOLINT: for any argument.
  [[nodiscard]] std::string_view view() const noexcept { return view_; }

 private:
  std::string_view view_;
};

/// One value, by reference.
class FieldValue {
 public:
  FieldValue() noexcept = default;
  FieldValue(std::nullptr_t) noexcept {}                        // NOLINT: for any argument.
  FieldValue(std::initializer_list<Field> members) noexcept;    // NOLINT
  FieldValue(std::initializer_list<FieldItem> items) noexcept;  // NOLINT
  template <FieldSource T>
  FieldValue(const T& value) noexcept;  // NOLINT

 private:
  friend class FieldWriter;
  using Write = void (*)(const void*, FieldWriter&);
  enum class Kind : std::uint8_t {
    kNull,
    kFalse,
    kTrue,
    kLetter,
    kInteger,
    kUnsigned,
    kFloat,
    kDouble,
    kText,
    kTime,
    kDuration,
    kException,
    kObject,
    kList,
    kOther
  };

  template <typename T>
  void take(const T& value) noexcept;
  template <typename T>
  void take_time(const T& time) noexcept;
  template <typename Rep, typename Period>
  void take_duration(std::chrono::duration<Rep, Period> duration) noexcept;
  template <typename T>
  static void write_range(const void* range, FieldWriter& out);
  template <typename T>
  static void write_other(const void* value, FieldWriter& out);

  union Payload {
    std::uint64_t bits = 0;  ///< Of unsigned integers, and a letter.
    std::int64_t integer;
    double real;
    float short_real;
    const char* text;
    const Field* members;
    const FieldItem* items;
    const std::exception* exception;
    const void* other;
  };
  union Extent {
    std::size_t size = 0;
    Write write;
  };

  Payload payload_;
  Extent extent_;
  Kind kind_ = Kind::kNull;
  std::uint8_t decimals_ = 0;  ///< Of a duration: it is an integer / 10^decimals_ seconds.
};

/// A name, any text, and a value. Of several with the same name in one record the last one counts.
struct Field {
  using IsField = void;

  Field(TextRef field_name, FieldValue field_value) noexcept
      : name(field_name.view()), value(field_value) {}

  std::string_view name;
  FieldValue value;
};

/// An item of a list. Unlike FieldValue it is not made of braces: FieldValue{…} says what they are.
class FieldItem {
 public:
  FieldItem(std::nullptr_t) noexcept {}                           // NOLINT: for any argument.
  FieldItem(const FieldValue& value) noexcept : value_(value) {}  // NOLINT
  template <FieldSource T>
  FieldItem(const T& value) noexcept : value_(value) {}  // NOLINT
  [[nodiscard]] const FieldValue& value() const noexcept { return value_; }

 private:
  FieldValue value_;
};

/// Names whose values are not written down: `[redacted]` stands in their place, at any depth, and
/// the value is not even copied. A name is meant whole; the case of ASCII letters does not matter.
class Redaction {
 public:
  /// password, token, authorization, secret, api_key, cookie, and `more`.
  explicit Redaction(const std::vector<std::string>& more = {});
  [[nodiscard]] bool covers(std::string_view name) const noexcept;
  /// Without more. One object for the whole process, never destroyed.
  [[nodiscard]] static const Redaction& standard();

 private:
  std::vector<std::string> names_;  ///< In lower case.
  std::uint64_t lengths_ = 0;       ///< A bit for each length; 63 is for that and more.
};

/// Encoded fields. The first 4 KiB lie in the object itself, which is enough for 8 texts of 256
/// bytes and their names, and then as much as needed, up to 16 MB.
class FieldBuffer {
 public:
  FieldBuffer() noexcept : data_(inline_) {}  // NOLINT: inline_ is written before it is read.
  FieldBuffer(const FieldBuffer&) = delete;
  FieldBuffer& operator=(const FieldBuffer&) = delete;
  ~FieldBuffer() = default;

  /// The code, for RecordView::encoded_fields. It may be kept, and joined to others; it is of use
  /// only to the same version of Spillway.
  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }
  /// More code, of another buffer. False when there is no memory: then `fields_cut` is there
  /// instead.
  bool append(std::string_view encoded) noexcept;
  void clear() noexcept { size_ = 0; }

 private:
  friend class FieldWriter;
  friend bool encode_fields(std::span<const Field>, const Redaction&, FieldBuffer&) noexcept;
  static constexpr std::size_t kInlineBytes = 4096;

  /// Where `bytes` more may be written; throws std::bad_alloc.
  [[nodiscard]] char* room_for(std::size_t bytes);
  [[gnu::cold, gnu::noinline]] void grow(std::size_t bytes);
  [[gnu::cold, gnu::noinline]] void mark_cut() noexcept;

  char* data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = kInlineBytes;
  std::unique_ptr<char[]> heap_;  // NOLINT: bytes.
  char inline_[kInlineBytes];
};

/// Copies `fields` to the end of `out`, on the thread of the caller. False when there was no memory
/// for all of them, or they have more than 16 MB: those that fit are there, and the field
/// `fields_cut`, true. What a to_field throws becomes the text `[to_field failed]`.
bool encode_fields(std::span<const Field> fields, const Redaction& redaction,
                   FieldBuffer& out) noexcept;
inline bool encode_fields(std::initializer_list<Field> fields, const Redaction& redaction,
                          FieldBuffer& out) noexcept {
  return encode_fields(std::span<const Field>(fields.begin(), fields.size()), redaction, out);
}

/// Where a to_field puts its value: exactly one. Of several the first counts; none is null.
class FieldWriter {
 public:
  FieldWriter(const FieldWriter&) = delete;
  FieldWriter& operator=(const FieldWriter&) = delete;

  void value(const FieldValue& value);
  void object(std::initializer_list<Field> members) { value(FieldValue(members)); }
  void list(std::initializer_list<FieldItem> items) { value(FieldValue(items)); }

 private:
  friend class FieldValue;
  friend bool encode_fields(std::span<const Field>, const Redaction&, FieldBuffer&) noexcept;
  FieldWriter(FieldBuffer& out, const Redaction& redaction) : out_(out), redaction_(redaction) {}

  enum class Container : bool { kObject, kList };

  /// False: it would be too deep, and a text stands in its place.
  [[nodiscard]] bool begin(Container container);
  void end();
  void member(std::string_view name, const FieldValue& value);
  void item(const FieldValue& value) { write(value); }
  bool member_or_cut(const Field& field) noexcept;

  void write(const FieldValue& value);
  void write_braces(const FieldValue& value);
  void write_other(const FieldValue& value);
  void write_exception(const std::exception& exception, int causes_left);
  void write_cause(const std::exception& exception, int causes_left);
  void write_tag(FieldTag tag);
  template <typename Number>
  void write_number(FieldTag tag, Number number);
  void write_integer(std::int64_t number);
  void write_text(std::string_view text);
  void put_short_text(FieldTag tag, std::string_view text);

  FieldBuffer& out_;
  const Redaction& redaction_;
  int depth_ = 0;
  int conversions_ = 0;  ///< Calls of to_field within each other.
  bool is_due_ = false;  ///< A value is expected.
};

/// The JSON object that `encoded` stands for, as the table holds it; nothing for no fields.
void append_fields_json(std::string_view encoded, std::string& out);

// What follows are the bodies of the templates.

// The braces live as long as the call that they stand in. GCC warns of it where a member is
// initialised, not where it is assigned.
inline FieldValue::FieldValue(std::initializer_list<Field> members) noexcept
    : kind_(Kind::kObject) {
  extent_.size = members.size();
  payload_.members = members.begin();
}

inline FieldValue::FieldValue(std::initializer_list<FieldItem> items) noexcept
    : kind_(Kind::kList) {
  extent_.size = items.size();
  payload_.items = items.begin();
}

template <FieldSource T>
FieldValue::FieldValue(const T& value) noexcept {
  take(value);
}

template <typename T>
void FieldValue::take(const T& value) noexcept {
  using field_form::Form;
  constexpr Form kForm = field_form::form_of<T>();
  if constexpr (kForm == Form::kBool) {
    kind_ = value ? Kind::kTrue : Kind::kFalse;
  } else if constexpr (kForm == Form::kSigned) {
    kind_ = Kind::kInteger;
    payload_.integer = static_cast<std::int64_t>(value);  // NOLINT: of any sign and size.
  } else if constexpr (kForm == Form::kUnsigned) {
    kind_ = Kind::kUnsigned;
    payload_.bits = value;
  } else if constexpr (kForm == Form::kLetter) {
    kind_ = Kind::kLetter;
    payload_.bits = static_cast<unsigned char>(value);
  } else if constexpr (kForm == Form::kFloat) {
    kind_ = Kind::kFloat;
    payload_.short_real = value;
  } else if constexpr (kForm == Form::kDouble) {
    kind_ = Kind::kDouble;
    payload_.real = static_cast<double>(value);
  } else if constexpr (kForm == Form::kPointerToText) {
    const char* const text = value;
    if (text != nullptr) {
      take(std::string_view(text));
    }
  } else if constexpr (kForm == Form::kText) {
    const std::string_view text = value;
    kind_ = Kind::kText;
    payload_.text = text.data();
    extent_.size = text.size();
  } else if constexpr (kForm == Form::kTime) {
    take_time(value.time_since_epoch());
  } else if constexpr (kForm == Form::kDuration) {
    take_duration(value);
  } else if constexpr (kForm == Form::kException) {
    kind_ = Kind::kException;
    payload_.exception = &value;
  } else if constexpr (kForm == Form::kOptional) {
    if (value) {
      *this = FieldValue(*value);
    }
  } else {
    kind_ = Kind::kOther;
    payload_.other = &value;
    if constexpr (kForm == Form::kToField) {
      extent_.write = &write_other<T>;
    } else {
      extent_.write = &write_range<T>;
    }
  }
}

/// To the millisecond before. Those that are not to be had in 64 bits become the nearest.
template <typename T>
void FieldValue::take_time(const T& time) noexcept {
  using std::chrono::milliseconds;
  kind_ = Kind::kTime;
  if constexpr (std::ratio_less_equal_v<typename T::period, std::milli> == false ||
                std::chrono::treat_as_floating_point_v<typename T::rep>) {
    using Wide = std::chrono::duration<long double, std::milli>;
    constexpr auto kMax = static_cast<long double>(milliseconds::max().count());
    const long double wide = Wide(time).count();
    // Not a number is 0.
    const long double clamped = wide > kMax ? kMax : (wide < -kMax ? -kMax : wide);
    payload_.integer = clamped >= kMax
                           ? milliseconds::max().count()
                           : static_cast<std::int64_t>(clamped == clamped ? clamped : 0.0L);
  } else {
    payload_.integer = std::chrono::floor<milliseconds>(time).count();
  }
}

/// Exact where the period is a power of ten or whole seconds and 64 bits are enough.
template <typename Rep, typename Period>
void FieldValue::take_duration(std::chrono::duration<Rep, Period> duration) noexcept {
  constexpr int kDecimals = field_form::decimals_of(Period::num, Period::den);
  if constexpr (std::integral<Rep> && sizeof(Rep) <= sizeof(std::int64_t) && kDecimals >= 0) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / Period::num;
    if (std::cmp_less_equal(duration.count(), kMax) &&
        std::cmp_greater_equal(duration.count(), -kMax - (Period::num == 1 ? 1 : 0))) {
      kind_ = Kind::kDuration;
      decimals_ = static_cast<std::uint8_t>(kDecimals);
      payload_.integer = static_cast<std::int64_t>(duration.count()) * Period::num;
      return;
    }
  }
  kind_ = Kind::kDouble;
  payload_.real = static_cast<double>(std::chrono::duration<long double>(duration).count());
}

template <typename T>
void FieldValue::write_other(const void* value, FieldWriter& out) {
  to_field(*static_cast<const T*>(value), out);
}

template <typename T>
void FieldValue::write_range(const void* range, FieldWriter& out) {
  using field_form::Form;
  using Container = FieldWriter::Container;
  constexpr Form kForm = field_form::form_of<T>();
  if (!out.begin(kForm == Form::kRange ? Container::kList : Container::kObject)) {
    return;
  }
  for (const auto& item : *static_cast<const T*>(range)) {
    if constexpr (kForm == Form::kFields) {
      out.member(item.name, item.value);
    } else if constexpr (kForm == Form::kMap) {
      out.member(item.first, FieldValue(item.second));
    } else {
      const std::ranges::range_value_t<const T>& value = item;
      out.item(FieldValue(value));
    }
  }
  out.end();
}

}  // namespace spillway
