// SPDX-License-Identifier: MIT
#include <spillway/log_target.h>

#include "base/ascii.h"
#include "base/field_json.h"
#include "base/time_text.h"
#include "base/visible_text.h"

#include <algorithm>
#include <array>

namespace spillway {
namespace {

constexpr std::array<std::string_view, 4> kLineNames = {"time", "level", "logger", "message"};

/// What cannot be taken for anything else when it stands without quotes.
bool is_plain_word(std::string_view text) noexcept {
  const auto is_plain = [](char c) { return c > ' ' && c != '"' && c != '=' && c != '\\'; };
  const auto is_letter = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  return !text.empty() && text != "null" && text != "true" && text != "false" &&
         !is_ascii_digit(text.front()) && text.front() != '-' && text.front() != '{' &&
         text.front() != '[' &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_plain(c) || is_letter(c); });
}

void append_quoted_visible(std::string_view text, std::string& out) {
  std::string json;
  JsonWriter(json).value(text);
  out += visible_json(json);
}

void append_word(std::string_view text, std::string& out) {
  if (is_plain_word(text)) {
    append_visible(text, Tabs::kShow, out);
  } else {
    append_quoted_visible(text, out);
  }
}

void append_line_value(std::string_view code, std::string& out) {
  const auto text = text_of_field(code);
  if (text && is_plain_word(*text)) {
    append_visible(*text, Tabs::kShow, out);
    return;
  }
  std::string json;
  JsonWriter writer(json);
  append_field_value(code, writer);
  out += visible_json(json);
}

}  // namespace

void append_log_line(const RecordView& record, std::string& out) {
  append_visible(record.message, Tabs::kShow, out);
  const FieldMembers members(record.encoded_fields);
  for (const FieldMember& member : members.all()) {
    out += ' ';
    append_word(member.name, out);
    out += '=';
    append_line_value(member.value, out);
  }
}

void append_json_line(const RecordView& record, std::string& out) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  json.key("time").value(time_text(record.time));
  json.key("level").value(to_string(record.level));
  json.key("logger").value(record.context);
  json.key("message").value(record.message);
  const FieldMembers members(record.encoded_fields, kLineNames);
  for (const FieldMember& member : members.all()) {
    append_field_value(member.value, json.key(member.name));
  }
  json.end_object();
  out += visible_json(line);
}

}  // namespace spillway
