// SPDX-License-Identifier: MIT
#include "base/field_json.h"

#include <spillway/field.h>

#include "base/field_code.h"
#include "base/time_text.h"
#include "base/utf8.h"

#include <cxxabi.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <unordered_set>

namespace spillway {
namespace {

// What Spillway itself puts into the fields of a user's row.
constexpr std::array<std::string_view, 2> kOwnNames = {"original_bytes", "original_fields_bytes"};

// Up to here comparing each with each is cheaper than a table.
constexpr std::size_t kFewMembers = 24;

FieldTag tag_of(std::string_view code) noexcept {
  return code.empty() ? FieldTag::kNull : static_cast<FieldTag>(code.front());
}

/// 0 when there is less than a number left.
template <typename Number>
Number number_at(std::string_view code, std::size_t at) noexcept {
  Number number{};
  if (at <= code.size() && code.size() - at >= sizeof number) {
    std::memcpy(&number, code.data() + at, sizeof number);
  }
  return number;
}

std::size_t text_bytes(std::string_view code) noexcept {
  const std::size_t bytes = number_at<std::uint8_t>(code, 1);
  return bytes < kFieldLongText ? bytes : number_at<FieldTextBytes>(code, 2);
}

std::size_t head_bytes(std::string_view code) noexcept {
  return field_head_bytes(number_at<std::uint8_t>(code, 1));
}

/// Bytes of a tag and what belongs to it alone.
std::size_t part_bytes(std::string_view code) noexcept {
  switch (tag_of(code)) {
    case FieldTag::kInteger:
    case FieldTag::kUnsigned:
    case FieldTag::kDouble:
    case FieldTag::kTime:
      return 1 + sizeof(std::int64_t);
    case FieldTag::kFloat:
      return 1 + sizeof(float);
    case FieldTag::kDuration:
      return 1 + sizeof(std::int64_t) + 1;
    case FieldTag::kInteger8:
      return 1 + sizeof(std::int8_t);
    case FieldTag::kInteger32:
      return 1 + sizeof(std::int32_t);
    case FieldTag::kText:
    case FieldTag::kTypeName:
    case FieldTag::kName:
      return head_bytes(code) + text_bytes(code);
    default:
      return 1;
  }
}

std::string_view take_part(std::string_view& code) noexcept {
  const std::string_view part = code.substr(0, part_bytes(code));
  code.remove_prefix(part.size());
  return part;
}

/// What a name or a text holds.
std::string_view text_in(std::string_view part) noexcept {
  return part.substr(std::min(head_bytes(part), part.size()));
}

/// Takes one value with all that is in it. A kEnd that belongs to none is left alone.
std::string_view take_value(std::string_view& code) noexcept {
  const std::string_view begin = code;
  std::size_t open = 0;
  do {
    const FieldTag tag = tag_of(code);
    if (tag == FieldTag::kEnd && open == 0) {
      break;
    }
    open += tag == FieldTag::kObject || tag == FieldTag::kList ? 1 : 0;
    open -= tag == FieldTag::kEnd ? 1 : 0;
    take_part(code);
  } while (open > 0 && !code.empty());
  return begin.substr(0, begin.size() - code.size());
}

/// The inside of an object or a list.
std::string_view inside_of(std::string_view code) noexcept {
  code.remove_prefix(1);
  if (!code.empty() && static_cast<FieldTag>(code.back()) == FieldTag::kEnd) {
    code.remove_suffix(1);
  }
  return code;
}

void append_text(std::string_view text, JsonWriter& json) {
  if (text.find('\0') == std::string_view::npos) {
    json.value(text);
    return;
  }
  std::string storable;
  append_storable_text(text, std::numeric_limits<std::size_t>::max(), storable);
  json.value(storable);
}

template <typename Number>
void append_floating(Number number, JsonWriter& json) {
  if (std::isnan(number)) {
    json.value("NaN");
    return;
  }
  if (std::isinf(number)) {
    json.value(number > 0 ? "Infinity" : "-Infinity");
    return;
  }
  std::array<char, 32> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size() - 2, number).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  if (text.find_first_of(".e") == std::string_view::npos) {  // It would read back as an integer.
    *end++ = '.';
    *end++ = '0';
  }
  json.json({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// `count` / 10^`decimals` with at least one digit on either side of the point.
void append_duration(std::int64_t count, std::size_t decimals, JsonWriter& json) {
  const auto bits = static_cast<std::uint64_t>(count);
  std::string digits = std::to_string(count < 0 ? 0 - bits : bits);
  if (digits.size() <= decimals) {
    digits.insert(0, decimals + 1 - digits.size(), '0');
  }
  std::string fraction = digits.substr(digits.size() - decimals);
  digits.resize(digits.size() - decimals);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  json.json((count < 0 ? "-" : "") + digits + '.' + (fraction.empty() ? "0" : fraction));
}

/// What std::throw_with_nested makes of a type is not its user's.
std::string_view without_nesting(std::string_view type) noexcept {
  for (const std::string_view wrapper : {"std::_Nested_exception<", "std::__nested<"}) {
    if (type.starts_with(wrapper) && type.ends_with('>')) {
      return type.substr(wrapper.size(), type.size() - wrapper.size() - 1);
    }
  }
  return type;
}

/// A type's name as it stands in the source.
void append_type_name(std::string_view mangled, JsonWriter& json) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  append_text(status == 0 && name ? without_nesting(name.get()) : mangled, json);
}

void append_value(std::string_view code, int depth_left, JsonWriter& json);

void append_object(std::string_view inside, int depth_left, JsonWriter& json) {
  json.begin_object();
  const FieldMembers members(inside);
  for (const FieldMember& member : members.all()) {
    json.key(member.name);
    append_value(member.value, depth_left, json);
  }
  json.end_object();
}

void append_list(std::string_view inside, int depth_left, JsonWriter& json) {
  json.begin_array();
  while (!inside.empty()) {
    const std::string_view item = take_value(inside);
    if (item.empty()) {  // A kEnd too many.
      break;
    }
    append_value(item, depth_left, json);
  }
  json.end_array();
}

void append_container(std::string_view code, int depth_left, JsonWriter& json) {
  if (depth_left == 0) {  // FieldWriter does not go so deep.
    json.null();
  } else if (tag_of(code) == FieldTag::kObject) {
    append_object(inside_of(code), depth_left - 1, json);
  } else {
    append_list(inside_of(code), depth_left - 1, json);
  }
}

void append_value(std::string_view code, int depth_left, JsonWriter& json) {
  switch (tag_of(code)) {
    case FieldTag::kFalse:
      json.value(false);
      return;
    case FieldTag::kTrue:
      json.value(true);
      return;
    case FieldTag::kInteger8:
      json.value(std::int64_t{number_at<std::int8_t>(code, 1)});
      return;
    case FieldTag::kInteger32:
      json.value(std::int64_t{number_at<std::int32_t>(code, 1)});
      return;
    case FieldTag::kInteger:
      json.value(number_at<std::int64_t>(code, 1));
      return;
    case FieldTag::kUnsigned:
      json.value(number_at<std::uint64_t>(code, 1));
      return;
    case FieldTag::kFloat:
      return append_floating(number_at<float>(code, 1), json);
    case FieldTag::kDouble:
      return append_floating(number_at<double>(code, 1), json);
    case FieldTag::kTime:
      json.value(time_text(WallTime(std::chrono::milliseconds(number_at<std::int64_t>(code, 1)))));
      return;
    case FieldTag::kDuration:
      return append_duration(number_at<std::int64_t>(code, 1),
                             number_at<std::uint8_t>(code, 1 + sizeof(std::int64_t)), json);
    case FieldTag::kText:
      return append_text(text_in(code), json);
    case FieldTag::kTypeName:
      return append_type_name(text_in(code), json);
    case FieldTag::kObject:
    case FieldTag::kList:
      return append_container(code, depth_left, json);
    default:
      json.null();
  }
}

}  // namespace

FieldMembers::FieldMembers(std::string_view encoded, std::span<const std::string_view> reserved) {
  while (!encoded.empty() && tag_of(encoded) == FieldTag::kName) {
    const std::string_view name = text_in(take_part(encoded));
    members_.push_back({storable_name(name, reserved), take_value(encoded)});
  }
  keep_the_last_of_each();
}

std::string_view FieldMembers::storable_name(std::string_view name,
                                             std::span<const std::string_view> reserved) {
  const bool is_reserved = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
  if (!is_reserved && is_storable_text(name)) {
    return name;
  }
  std::string& storable = names_.emplace_front();
  append_storable_text(name, std::numeric_limits<std::size_t>::max(), storable);
  storable += is_reserved ? "_" : "";
  return storable;
}

void FieldMembers::keep_the_last_of_each() {
  std::unordered_set<std::string_view> seen;
  const bool are_many = members_.size() > kFewMembers;
  auto kept = members_.end();
  for (auto member = members_.end(); member != members_.begin();) {
    --member;
    const bool is_new =
        are_many ? seen.insert(member->name).second
                 : std::none_of(kept, members_.end(), [&member](const FieldMember& later) {
                     return later.name == member->name;
                   });
    if (is_new) {
      *--kept = *member;
    }
  }
  members_.erase(members_.begin(), kept);
}

void append_field_value(std::string_view code, JsonWriter& json) {
  append_value(code, kFieldDepthMax, json);
}

std::optional<std::string_view> text_of_field(std::string_view code) noexcept {
  if (tag_of(code) != FieldTag::kText || code.empty()) {
    return std::nullopt;
  }
  return text_in(code);
}

void append_fields_json(std::string_view encoded, std::string& out) {
  if (encoded.empty()) {
    return;
  }
  JsonWriter json(out);
  json.begin_object();
  const FieldMembers members(encoded, kOwnNames);
  for (const FieldMember& member : members.all()) {
    json.key(member.name);
    append_field_value(member.value, json);
  }
  json.end_object();
}

}  // namespace spillway
