// SPDX-License-Identifier: MIT
#include "cli/json_line.h"

#include <nlohmann/json.hpp>

#include "cli/json_members.h"
#include "cli/logged_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace spillway {
namespace {

// In the order in which they count.
constexpr std::array<std::string_view, 4> kTimeMembers = {"time", "timestamp", "ts", "@timestamp"};
constexpr std::array<std::string_view, 3> kLevelMembers = {"level", "severity", "levelname"};
constexpr std::array<std::string_view, 3> kMessageMembers = {"message", "msg", "event"};

// What the table itself puts into fields, see docs/formats.md.
constexpr std::array<std::string_view, 2> kReservedMembers = {"original_bytes",
                                                              "original_fields_bytes"};

// For nlohmann's parser: keeps nothing, and ends where brackets are too deep.
class DepthGuard {
 public:
  static bool null() { return true; }
  static bool boolean(bool) { return true; }
  static bool number_integer(std::int64_t) { return true; }
  static bool number_unsigned(std::uint64_t) { return true; }
  static bool number_float(double, const std::string&) { return true; }
  static bool string(const std::string&) { return true; }
  static bool binary(const std::vector<std::uint8_t>&) { return false; }  // JSON has none.
  static bool key(const std::string&) { return true; }
  static bool parse_error(std::size_t, const std::string&, const std::exception&) { return false; }
  bool start_object(std::size_t) { return ++depth_ <= kJsonLineDepthMax; }
  bool start_array(std::size_t) { return ++depth_ <= kJsonLineDepthMax; }
  bool end_object() { return --depth_ >= 0; }
  bool end_array() { return --depth_ >= 0; }

 private:
  int depth_ = 0;
};

// But for a byte order mark, which the parser passes over, and a NUL, which it takes for the end of
// the text: json_members sees both.
bool is_strict_json(std::string_view text) {
  DepthGuard guard;
  return nlohmann::json::sax_parse(text.begin(), text.end(), &guard);
}

// What a string of JSON, with its quotes, says. Empty: it is no string.
std::optional<std::string> said_by(std::string_view value) {
  if (const auto plain = plain_string(value)) {
    return std::string(*plain);
  }
  if (!value.starts_with('"')) {
    return std::nullopt;
  }
  return nlohmann::json::parse(value, nullptr, false).get<std::string>();
}

struct Member {
  std::string name = {};  // Without escapes.
  std::string_view key = {};
  std::string_view value = {};
  bool is_renamed = false;
  bool is_left_out = false;
};

Member member_of(const JsonMember& source) {
  Member member{.name = std::string(source.key), .key = source.key, .value = source.value};
  if (source.key.find('\\') != std::string_view::npos) {
    member.name = said_by('"' + member.name + '"').value_or("");
  }
  if (std::find(kReservedMembers.begin(), kReservedMembers.end(), member.name) !=
      kReservedMembers.end()) {
    member.name += '_';
    member.is_renamed = true;
  }
  return member;
}

// Sorted and not hashed: whoever chooses the names of a long line must not be able to make it slow.
void keep_the_last_of_each(std::vector<Member>& members) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&members](std::size_t left, std::size_t right) {
    const int names = members[left].name.compare(members[right].name);
    return names != 0 ? names < 0 : left < right;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    members[order[i - 1]].is_left_out = members[order[i - 1]].name == members[order[i]].name;
  }
  std::erase_if(members, [](const Member& member) { return member.is_left_out; });
}

// Takes the first of those names whose value can be read out of what becomes fields.
template <typename Read>
auto take_first(std::vector<Member>& members, std::span<const std::string_view> names, Read read)
    -> decltype(read(std::string_view())) {
  for (const std::string_view name : names) {
    const auto member = std::find_if(members.begin(), members.end(),
                                     [name](const Member& one) { return one.name == name; });
    if (member == members.end()) {
      continue;
    }
    if (auto taken = read(member->value)) {
      member->is_left_out = true;
      return taken;
    }
  }
  return std::nullopt;
}

std::optional<WallTime> time_of(std::string_view value) {
  const auto text = said_by(value);
  return text ? logged_time_of_text(*text) : logged_time_of_number(value);
}

// 10, 20 … 60 are trace to fatal for pino and bunyan (pino's lib/constants.js); levels of one's own
// lie between them. Other scales, such as syslog's 0 to 7, run the other way.
std::optional<Level> level_of_number(std::string_view number) {
  int level = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), level);
  if (error != std::errc() || end != number.data() + number.size() || level < 10 || level >= 70) {
    return std::nullopt;
  }
  return static_cast<Level>(level / 10 - 1);
}

std::optional<Level> level_of(std::string_view value) {
  const auto text = said_by(value);
  return text ? parse_level(*text) : level_of_number(value);
}

std::string object_of(const std::vector<Member>& members, std::size_t bytes_about) {
  std::string object;
  object.reserve(bytes_about);
  for (const Member& member : members) {
    if (!member.is_left_out) {
      object += object.empty() ? "{\"" : ",\"";
      object += member.key;
      object += member.is_renamed ? "_\":" : "\":";
      object += member.value;
    }
  }
  object += object.empty() ? "" : "}";
  return object;
}

}  // namespace

std::optional<JsonLine> parse_json_line(std::string_view line, LevelSource level_from) {
  const auto sources = is_strict_json(line) ? json_members(line) : std::nullopt;
  if (!sources) {
    return std::nullopt;
  }
  std::vector<Member> members(sources->size());
  std::transform(sources->begin(), sources->end(), members.begin(), member_of);
  keep_the_last_of_each(members);
  JsonLine record;
  record.time = take_first(members, kTimeMembers, time_of);
  if (level_from == LevelSource::kLine) {
    record.level = take_first(members, kLevelMembers, level_of);
  }
  record.message = take_first(members, kMessageMembers, said_by).value_or("");
  record.fields = object_of(members, line.size());
  return record;
}

}  // namespace spillway
