// SPDX-License-Identifier: MIT
#include <spillway/field.h>

#include "base/ascii.h"
#include "base/field_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <typeinfo>
#include <utility>

namespace spillway {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::string_view kTooDeep = "[nested too deeply]";
constexpr std::string_view kToFieldFailed = "[to_field failed]";
constexpr std::string_view kUnknownCause = "[not a std::exception]";
constexpr std::string_view kCutName = "fields_cut";

// Of causes within each other, beside the exception itself.
constexpr int kCausesMax = 8;
// A to_field that hands on itself must end somewhere; two for each level that may be there.
constexpr int kConversionsMax = 2 * kFieldDepthMax;

// Kept free for the member that says that there was no room.
constexpr std::size_t kSlackBytes = 32;
static_assert(field_head_bytes(kCutName.size()) + kCutName.size() + 1 <= kSlackBytes);

char* put_bytes(char* at, const void* data, std::size_t bytes) noexcept {
  if (bytes > 0) {
    std::memcpy(at, data, bytes);
  }
  return at + bytes;
}

char* put_tag(char* at, FieldTag tag) noexcept {
  *at = static_cast<char>(tag);
  return at + 1;
}

template <typename Number>
char* put_number(char* at, Number number) noexcept {
  return put_bytes(at, &number, sizeof number);
}

/// `text` must be short enough for its length to be written.
char* put_text(char* at, FieldTag tag, std::string_view text) noexcept {
  at = put_tag(at, tag);
  if (text.size() < kFieldLongText) {
    at = put_number(at, static_cast<std::uint8_t>(text.size()));
  } else {
    at = put_number(at, static_cast<std::uint8_t>(kFieldLongText));
    at = put_number(at, static_cast<FieldTextBytes>(text.size()));
  }
  return put_bytes(at, text.data(), text.size());
}

/// Its beginning, if it is too long, cut between two characters.
std::string_view bounded_name(std::string_view name) noexcept {
  if (name.size() <= kFieldNameBytesMax) {
    return name;
  }
  const auto is_continuation = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  };
  std::size_t bytes = kFieldNameBytesMax;
  while (bytes > kFieldNameBytesMax - 4 && is_continuation(name[bytes])) {
    --bytes;
  }
  return name.substr(0, bytes);
}

bool is_same_name(std::string_view name, std::string_view lower) noexcept {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return ascii_lower(a) == b; });
}

std::uint64_t length_bit(std::size_t length) noexcept {
  return std::uint64_t{1} << std::min<std::size_t>(length, 63);
}

}  // namespace

// Redaction.

Redaction::Redaction(const std::vector<std::string>& more)
    : names_{"password", "token", "authorization", "secret", "api_key", "cookie"} {
  for (const std::string& name : more) {
    names_.push_back(lower_case(name));
  }
  for (const std::string& name : names_) {
    lengths_ |= length_bit(name.size());
  }
}

bool Redaction::covers(std::string_view name) const noexcept {
  if ((lengths_ & length_bit(name.size())) == 0) {
    return false;
  }
  return std::any_of(names_.begin(), names_.end(),
                     [name](const std::string& lower) { return is_same_name(name, lower); });
}

const Redaction& Redaction::standard() {
  static const auto* const standard = new Redaction();  // Threads may log until the very end.
  return *standard;
}

// FieldBuffer.

char* FieldBuffer::room_for(std::size_t bytes) {
  if (size_ + bytes + kSlackBytes > capacity_) {
    grow(bytes);
  }
  return data_ + size_;
}

void FieldBuffer::grow(std::size_t bytes) {
  const std::size_t needed = size_ + bytes + kSlackBytes;
  if (needed > kFieldsBytesMax) {
    throw std::bad_alloc();
  }
  const std::size_t capacity = std::max(2 * capacity_, needed);
  std::unique_ptr<char[]> larger(new char[capacity]);  // NOLINT: not filled before it is used.
  put_bytes(larger.get(), data_, size_);
  heap_ = std::move(larger);
  data_ = heap_.get();
  capacity_ = capacity;
}

bool FieldBuffer::append(std::string_view encoded) noexcept {
  try {
    put_bytes(room_for(encoded.size()), encoded.data(), encoded.size());
    size_ += encoded.size();
    return true;
  } catch (...) {  // No memory: the record goes without these.
    mark_cut();
    return false;
  }
}

void FieldBuffer::mark_cut() noexcept {
  if (capacity_ - size_ >= kSlackBytes) {  // Else it is marked already.
    char* const begin = data_ + size_;
    const char* const end = put_tag(put_text(begin, FieldTag::kName, kCutName), FieldTag::kTrue);
    size_ += static_cast<std::size_t>(end - begin);
  }
}

// FieldWriter.

bool encode_fields(std::span<const Field> fields, const Redaction& redaction,
                   FieldBuffer& out) noexcept {
  FieldWriter writer(out, redaction);
  return std::all_of(fields.begin(), fields.end(),
                     [&writer](const Field& field) { return writer.member_or_cut(field); });
}

/// False when there is no memory for it: then a member says so in its place.
bool FieldWriter::member_or_cut(const Field& field) noexcept {
  const std::size_t before = out_.size_;
  try {
    member(field.name, field.value);
    return true;
  } catch (...) {
    out_.size_ = before;
    out_.mark_cut();
    return false;
  }
}

void FieldWriter::value(const FieldValue& value) {
  if (is_due_) {
    is_due_ = false;
    write(value);
  }
}

void FieldWriter::member(std::string_view name, const FieldValue& value) {
  put_short_text(FieldTag::kName, bounded_name(name));
  if (redaction_.covers(name)) {
    write_text(kRedacted);
  } else {
    write(value);
  }
}

bool FieldWriter::begin(Container container) {
  is_due_ = false;
  if (depth_ == kFieldDepthMax) {
    write_text(kTooDeep);
    return false;
  }
  ++depth_;
  write_tag(container == Container::kObject ? FieldTag::kObject : FieldTag::kList);
  return true;
}

void FieldWriter::end() {
  --depth_;
  write_tag(FieldTag::kEnd);
}

void FieldWriter::write_tag(FieldTag tag) {
  put_tag(out_.room_for(1), tag);
  out_.size_ += 1;
}

template <typename Number>
void FieldWriter::write_number(FieldTag tag, Number number) {
  put_number(put_tag(out_.room_for(1 + sizeof number), tag), number);
  out_.size_ += 1 + sizeof number;
}

void FieldWriter::write_integer(std::int64_t number) {
  if (std::in_range<std::int8_t>(number)) {
    write_number(FieldTag::kInteger8, static_cast<std::int8_t>(number));
  } else if (std::in_range<std::int32_t>(number)) {
    write_number(FieldTag::kInteger32, static_cast<std::int32_t>(number));
  } else {
    write_number(FieldTag::kInteger, number);
  }
}

void FieldWriter::put_short_text(FieldTag tag, std::string_view text) {
  const std::size_t bytes = field_head_bytes(text.size()) + text.size();
  put_text(out_.room_for(bytes), tag, text);
  out_.size_ += bytes;
}

void FieldWriter::write_text(std::string_view text) {
  if (text.size() > kFieldTextBytesMax) {
    write_text("[" + std::to_string(text.size()) + " bytes left out]");
    return;
  }
  put_short_text(FieldTag::kText, text);
}

void FieldWriter::write(const FieldValue& value) {
  using Kind = FieldValue::Kind;
  switch (value.kind_) {
    case Kind::kNull:
      return write_tag(FieldTag::kNull);
    case Kind::kFalse:
      return write_tag(FieldTag::kFalse);
    case Kind::kTrue:
      return write_tag(FieldTag::kTrue);
    case Kind::kLetter: {
      const auto letter = static_cast<char>(value.payload_.bits);
      return write_text({&letter, 1});
    }
    case Kind::kInteger:
      return write_integer(value.payload_.integer);
    case Kind::kUnsigned:
      return std::in_range<std::int64_t>(value.payload_.bits)
                 ? write_integer(static_cast<std::int64_t>(value.payload_.bits))
                 : write_number(FieldTag::kUnsigned, value.payload_.bits);
    case Kind::kFloat:
      return write_number(FieldTag::kFloat, value.payload_.short_real);
    case Kind::kDouble:
      return write_number(FieldTag::kDouble, value.payload_.real);
    case Kind::kText:
      return write_text({value.payload_.text, value.extent_.size});
    case Kind::kTime:
      return write_number(FieldTag::kTime, value.payload_.integer);
    case Kind::kDuration:
      write_number(FieldTag::kDuration, value.payload_.integer);
      *out_.room_for(1) = static_cast<char>(value.decimals_);
      out_.size_ += 1;
      return;
    case Kind::kException:
      return write_exception(*value.payload_.exception, kCausesMax);
    case Kind::kObject:
    case Kind::kList:
      return write_braces(value);
    case Kind::kOther:
      return write_other(value);
  }
}

void FieldWriter::write_braces(const FieldValue& value) {
  const bool is_object = value.kind_ == FieldValue::Kind::kObject;
  if (!begin(is_object ? Container::kObject : Container::kList)) {
    return;
  }
  for (std::size_t i = 0; i < value.extent_.size; ++i) {
    if (is_object) {
      member(value.payload_.members[i].name, value.payload_.members[i].value);
    } else {
      write(value.payload_.items[i].value());
    }
  }
  end();
}

/// The code of others: it may throw, and put nothing or too much.
void FieldWriter::write_other(const FieldValue& value) {
  if (conversions_ == kConversionsMax) {
    write_text(kTooDeep);
    return;
  }
  const std::size_t size = out_.size_;
  const int depth = depth_;
  bool has_failed = false;
  is_due_ = true;
  ++conversions_;
  try {
    value.extent_.write(value.payload_.other, *this);
  } catch (const std::bad_alloc&) {
    throw;  // Or there would be no memory for what is next either.
  } catch (...) {
    has_failed = true;
  }
  --conversions_;
  if (has_failed) {
    out_.size_ = size;
    depth_ = depth;
    write_text(kToFieldFailed);
  } else if (is_due_) {
    write_tag(FieldTag::kNull);
  }
  is_due_ = false;
}

void FieldWriter::write_exception(const std::exception& exception, int causes_left) {
  if (!begin(Container::kObject)) {
    return;
  }
#if defined(__cpp_rtti)
  put_short_text(FieldTag::kName, "type");
  put_short_text(FieldTag::kTypeName, typeid(exception).name());
#endif
  member("what", exception.what());
  write_cause(exception, causes_left);
  end();
}

/// std::rethrow_if_nested ends the process when the nested exception is none.
void FieldWriter::write_cause(const std::exception& exception, int causes_left) {
#if defined(__cpp_rtti)
  const auto* const nested = dynamic_cast<const std::nested_exception*>(&exception);
  if (nested == nullptr || nested->nested_ptr() == nullptr) {
    return;
  }
  if (causes_left == 0) {
    member("cause", kTooDeep);
    return;
  }
  try {
    std::rethrow_exception(nested->nested_ptr());
  } catch (const std::exception& cause) {
    put_short_text(FieldTag::kName, "cause");
    write_exception(cause, causes_left - 1);
  } catch (...) {
    member("cause", kUnknownCause);
  }
#endif
}

}  // namespace spillway
