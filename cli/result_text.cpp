// SPDX-License-Identifier: MIT
#include "cli/result_text.h"

#include "base/json_writer.h"
#include "base/visible_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {
namespace {

// The shortest text that reads back as the same number, and as a real: "3.0", not "3". JSON has no
// infinity: a number that is too large reads as one, as SQLite's own shell has it.
std::string real_text(double number) {
  if (std::isinf(number)) {
    return number > 0 ? "9e999" : "-9e999";
  }
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string text(buffer.data(), end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string blob_text(const Blob& blob) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string text = "X'";
  for (const std::byte byte : blob) {
    text += kHexDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kHexDigits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
  }
  return text + '\'';
}

struct ToText {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return real_text(number); }
  std::string operator()(const std::string& text) const { return visible(text); }
  std::string operator()(const Blob& blob) const { return blob_text(blob); }
};

struct ToJson {
  JsonWriter& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(std::int64_t number) const { json.value(number); }
  void operator()(double number) const { json.json(real_text(number)); }
  void operator()(const std::string& text) const { json.value(text); }
  void operator()(const Blob& blob) const {
    json.begin_array();
    for (const std::byte byte : blob) {
      json.value(std::to_integer<std::int64_t>(byte));
    }
    json.end_array();
  }
};

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

struct Cell {
  std::string text;
  bool is_number = false;
};
using Line = std::vector<Cell>;

// The names of the columns and all rows, as texts.
std::vector<Line> lines_of(const ResultSet& result) {
  std::vector<Line> lines;
  if (result.columns().empty()) {
    return lines;
  }
  Line& names = lines.emplace_back();
  for (const std::string& column : result.columns()) {
    names.push_back({visible(column)});
  }
  for (const RowView row : result) {
    Line& line = lines.emplace_back();
    for (const Value& value : row.values()) {
      line.push_back({std::visit(ToText(), value), is_number(value)});
    }
  }
  return lines;
}

std::vector<std::size_t> widths_of(const std::vector<Line>& lines) {
  std::vector<std::size_t> widths;
  for (const Line& line : lines) {
    widths.resize(std::max(widths.size(), line.size()), 0);
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i].text));
    }
  }
  return widths;
}

void append_aligned(const Line& line, const std::vector<std::size_t>& widths, std::string& out) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string pad(widths[i] - width_of(line[i].text), ' ');
    out += i == 0 ? "" : "  ";
    out += line[i].is_number ? pad + line[i].text : line[i].text;
    const bool is_last = i + 1 == line.size();
    out += line[i].is_number || is_last ? "" : pad;
  }
  out += '\n';
}

// A name that comes again gets a number: "a", "a:2".
std::vector<std::string> json_names(const std::vector<std::string>& columns) {
  std::set<std::string> taken(columns.begin(), columns.end());
  std::map<std::string, int> counts;
  std::vector<std::string> names;
  for (const std::string& column : columns) {
    std::string name = column;
    if (++counts[column] > 1) {
      while (!taken.insert(name = column + ':' + std::to_string(counts[column])).second) {
        ++counts[column];  // A column of its own may be called so.
      }
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::string aligned_text(const ResultSet& result) {
  std::vector<Line> lines = lines_of(result);
  if (lines.empty()) {
    return {};
  }
  const std::vector<std::size_t> widths = widths_of(lines);
  Line rule;
  for (const std::size_t width : widths) {
    rule.push_back({std::string(width, '-')});
  }
  lines.insert(lines.begin() + 1, std::move(rule));
  std::string text;
  for (const Line& line : lines) {
    append_aligned(line, widths, text);
  }
  return text;
}

std::string tab_text(const ResultSet& result) {
  std::string text;
  for (const Line& line : lines_of(result)) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += (i == 0 ? "" : "\t") + line[i].text;
    }
    text += '\n';
  }
  return text;
}

std::string json_lines(const ResultSet& result) {
  const std::vector<std::string> names = json_names(result.columns());
  std::string text;
  for (const RowView row : result) {
    std::string line;
    JsonWriter json(line);
    json.begin_object();
    for (std::size_t i = 0; i < std::min(names.size(), row.values().size()); ++i) {
      json.key(names[i]);
      std::visit(ToJson{json}, row.values()[i]);
    }
    json.end_object();
    text += visible_json(line) + '\n';
  }
  return text;
}

}  // namespace spillway
