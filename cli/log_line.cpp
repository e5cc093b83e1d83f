// SPDX-License-Identifier: MIT
#include "cli/log_line.h"

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "base/visible_text.h"
#include "cli/json_members.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace spillway {
namespace {

// SGR sequences, as every terminal since the VT100 knows them.
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kOrdinary = "\x1b[0m";
constexpr std::string_view kGap = "\x1b[1;35m";

constexpr std::string_view kIndent = "\n    ";
constexpr std::size_t kLevelWidth = 5;

struct LevelColour {
  std::string_view level;
  std::string_view colour;
};

constexpr std::array kLevelColours = {
    LevelColour{"TRACE", kDim}, LevelColour{"DEBUG", kDim}, LevelColour{"WARN", "\x1b[33m"},
    LevelColour{"ERROR", "\x1b[31m"}, LevelColour{"CRITICAL", "\x1b[1;31m"}};

std::string_view colour_of(std::string_view level) noexcept {
  for (const LevelColour& known : kLevelColours) {
    if (known.level == level) {
      return known.colour;
    }
  }
  return {};
}

std::string painted(std::string text, std::string_view colour) {
  return colour.empty() ? std::move(text)
                        : std::string(colour) + std::move(text) + std::string(kOrdinary);
}

std::string padded_level(std::string_view level) {
  std::string text = visible(level);
  text.append(kLevelWidth - std::min(kLevelWidth, width_of(text)), ' ');
  return text;
}

std::string_view without_line_end(std::string_view text) noexcept {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  return text;
}

void append_message(std::string_view message, std::string& out) {
  message = without_line_end(message);
  while (true) {
    const std::size_t end = message.find('\n');
    std::string_view line = message.substr(0, end);
    if (end != std::string_view::npos && line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    append_visible(line, Tabs::kKeep, out);
    if (end == std::string_view::npos) {
      return;
    }
    out += kIndent;
    message.remove_prefix(end + 1);
  }
}

bool needs_quotes(std::string_view text) noexcept {
  return text.empty() || text.find_first_of(" =\\\"") != std::string_view::npos;
}

void append_member(const JsonMember& member, std::string& out) {
  const bool is_odd_key = needs_quotes(member.key);
  const auto plain = plain_string(member.value);
  const bool is_bare = plain && !needs_quotes(*plain);
  out += is_odd_key ? "\"" : "";
  append_visible(member.key, Tabs::kShow, out);
  out += is_odd_key ? "\"=" : "=";
  append_visible(is_bare ? *plain : member.value, Tabs::kShow, out);
}

std::string fields_text(const std::string& fields) {
  const auto members = json_members(fields);
  if (!members) {
    return visible(fields);  // Not ours to repair; shown as it is.
  }
  std::string text;
  for (const JsonMember& member : *members) {
    text += text.empty() ? "" : " ";
    append_member(member, text);
  }
  return text;
}

// The parser would skip it; in the middle of a line it is no JSON.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// JSON allows line ends between its tokens, and only there.
std::string on_one_line(std::string json) {
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return json;
}

void write_fields(const std::optional<std::string>& fields, JsonWriter& json) {
  json.key("fields");
  if (!fields) {
    json.null();
  } else if (!fields->starts_with(kByteOrderMark) && nlohmann::json::accept(*fields)) {
    json.json(on_one_line(*fields));
  } else {
    json.value(*fields);
  }
}

}  // namespace

bool is_gap_row(const LogRow& row) {
  if (row.context != "spillway" || !row.fields) {
    return false;
  }
  const auto members = json_members(*row.fields);
  return members && std::any_of(members->begin(), members->end(), [](const JsonMember& member) {
           return member.key == "kind" && plain_string(member.value) == "gap";
         });
}

std::string log_line(const LogRow& row, Colour colour) {
  const bool is_gap = is_gap_row(row);
  const auto paint = [colour](std::string text, std::string_view code) {
    return painted(std::move(text), colour == Colour::kOn ? code : std::string_view());
  };
  std::string message = is_gap ? "*** " : "";
  append_message(row.message, message);
  message += is_gap ? " ***" : "";
  const bool is_long = message.find('\n') != std::string::npos;

  std::string line = paint(visible(row.key.created_at), kDim) + ' ';
  line += paint(padded_level(row.level), is_gap ? kGap : colour_of(row.level)) + ' ';
  line += row.context.empty() ? "-" : visible(row.context);
  line += ' ' + paint(std::move(message), is_gap ? kGap : std::string_view());
  if (const std::string fields = row.fields ? fields_text(*row.fields) : ""; !fields.empty()) {
    line += (is_long ? std::string(kIndent) : " ") + paint(fields, is_gap ? kGap : kDim);
  }
  return line + '\n';
}

std::string log_json(const LogRow& row) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  json.key("created_at").value(row.key.created_at);
  json.key("writer").value(row.key.writer);
  json.key("seq").value(row.key.seq);
  json.key("level").value(row.level);
  json.key("context").value(row.context);
  json.key("message").value(row.message);
  write_fields(row.fields, json);
  json.end_object();
  return visible_json(line) + '\n';
}

}  // namespace spillway
