// SPDX-License-Identifier: MIT
#include "table/record.h"

#include <spillway/field.h>

#include "base/json_writer.h"
#include "base/utf8.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {
namespace {

constexpr std::string_view kOwnContext = "spillway";
constexpr std::size_t kContextBytesMax = 1'000;

// Room for {"original_bytes":18446744073709551615,} (40 bytes), whether it is needed or not.
constexpr std::size_t kMarkerBytesMax = 64;
constexpr std::size_t kFieldsBytesMax = kRowTextBytesMax - kContextBytesMax - kMarkerBytesMax;

std::string storable_context(std::string_view context) {
  std::string stored;
  append_storable_text(context, kContextBytesMax, stored);
  if (stored == kOwnContext) {
    stored += '_';
  }
  return stored;
}

std::string object_with(std::string_view key, std::uint64_t number) {
  std::string object;
  JsonWriter(object).begin_object().key(key).value(number).end_object();
  return object;
}

/// JSON that Spillway makes is storable as it is.
std::string storable_encoded_fields(std::string_view encoded) {
  std::string stored;
  append_fields_json(encoded, stored);
  return stored.size() > kFieldsBytesMax ? object_with("original_fields_bytes", stored.size())
                                         : stored;
}

std::string storable_fields(std::string_view fields) {
  std::string stored;
  if (!append_storable_text(fields, kFieldsBytesMax, stored)) {
    return object_with("original_fields_bytes", fields.size());
  }
  return stored;
}

// Puts `first`, an object of one member, in front of the members of `fields`. Fields that are not
// an object are not touched: whatever they are, they are the user's.
void put_first(const std::string& first, std::string& fields) {
  constexpr std::string_view kJsonSpace = " \t\n\r";
  if (fields.empty()) {
    fields = first;
    return;
  }
  const std::size_t open = fields.find_first_not_of(kJsonSpace);
  if (open == std::string::npos || fields[open] != '{') {
    return;
  }
  const std::size_t next = fields.find_first_not_of(kJsonSpace, open + 1);
  const bool is_empty_object = next == std::string::npos || fields[next] == '}';
  const std::string member = first.substr(1, first.size() - 2);
  fields.insert(open + 1, is_empty_object ? member : member + ',');
}

}  // namespace

Record make_record(const RecordView& view, std::int64_t seq) {
  Record record{.time = view.time,
                .seq = seq,
                .level = view.level,
                .context = storable_context(view.context),
                .message = {},
                .fields = view.encoded_fields.empty()
                              ? storable_fields(view.fields)
                              : storable_encoded_fields(view.encoded_fields)};
  const std::size_t room =
      kRowTextBytesMax - kMarkerBytesMax - record.context.size() - record.fields.size();
  const bool is_whole = append_storable_text(view.message, room, record.message);
  const std::uint64_t message_bytes =
      std::max<std::uint64_t>(view.message_bytes, view.message.size());
  if (!is_whole || message_bytes > view.message.size()) {
    put_first(object_with("original_bytes", message_bytes), record.fields);
  }
  return record;
}

}  // namespace spillway
