// SPDX-License-Identifier: MIT
#include "retention/state.h"

#include "base/json_writer.h"
#include "base/time_text.h"
#include "d1/execute_all.h"
#include "retention/value_json.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>
#include <vector>

namespace spillway::retention {
namespace {

using StateJson = nlohmann::json;

constexpr std::string_view kStateKey = "'retention_state'";
constexpr std::string_view kRestoredKey = "'retention_restored'";

std::optional<WallTime> parse_time(const StateJson& json) {
  return json.is_string() ? parse_time_text(json.get_ref<const std::string&>()) : std::nullopt;
}

// Each reads a member where there is one. False: it is of another kind.

bool read_time(const StateJson& json, const char* name, std::optional<WallTime>& time) {
  const auto found = json.find(name);
  if (found != json.end()) {
    time = parse_time(*found);
  }
  return found == json.end() || time.has_value();
}

bool read_policy(const StateJson& json, std::string& policy) {
  const auto found = json.find("policy");
  if (found == json.end() || !found->is_string()) {
    return found == json.end();
  }
  policy = found->get<std::string>();
  return true;
}

bool read_watermarks(const StateJson& json, std::map<std::string, WallTime>& watermarks) {
  const auto found = json.find("watermarks");
  if (found == json.end() || !found->is_object()) {
    return found == json.end();
  }
  for (const auto& [name, each] : found->items()) {
    const std::optional<WallTime> time = parse_time(each);
    if (!time) {
      return false;
    }
    watermarks[name] = *time;
  }
  return true;
}

bool read_place(const StateJson& json, std::optional<Row>& place) {
  const auto found = json.find("place");
  if (found != json.end()) {
    place = row_of_json(*found);
  }
  return found == json.end() || place.has_value();
}

void write_time(JsonWriter& json, const char* name, const std::optional<WallTime>& time) {
  if (time) {
    json.key(name).value(time_text(*time));
  }
}

// False: it cannot be read.
bool take_in(const Row& row, LoadedState& loaded) {
  const auto* key = row.size() == 2 ? std::get_if<std::string>(row.data()) : nullptr;
  const auto* text = key == nullptr ? nullptr : std::get_if<std::string>(&row[1]);
  if (text == nullptr) {
    return false;
  }
  if (*key == "retention_restored") {
    loaded.restored = parse_time_text(*text);
    return loaded.restored.has_value();
  }
  std::optional<State> state = parse_state(*text);
  if (!state) {
    return false;
  }
  loaded.state = *std::move(state);
  return true;
}

std::string put_sql(const std::string& meta, std::string_view key, std::string_view value) {
  return "INSERT INTO " + meta + "(key, value) VALUES(" + std::string(key) + ", " +
         std::string(value) + ") ON CONFLICT(key) DO UPDATE SET value = excluded.value";
}

}  // namespace

std::string to_json(const State& state) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("policy").value(state.policy);
  write_time(json, "at", state.at);
  write_time(json, "met", state.met);
  write_time(json, "newest", state.newest);
  write_time(json, "oldest", state.oldest);
  write_time(json, "full_walk", state.full_walk);
  json.key("watermarks").begin_object();
  for (const auto& [name, time] : state.watermarks) {
    json.key(name).value(time_text(time));
  }
  json.end_object();
  if (state.place) {
    json.key("place");
    write_json_row(json, *state.place);
  }
  json.end_object();
  return text;
}

std::optional<State> parse_state(std::string_view json) {
  const StateJson parsed = StateJson::parse(json, nullptr, false);
  State state;
  const bool is_readable =
      parsed.is_object() && read_policy(parsed, state.policy) &&
      read_time(parsed, "at", state.at) && read_time(parsed, "met", state.met) &&
      read_time(parsed, "newest", state.newest) && read_time(parsed, "oldest", state.oldest) &&
      read_time(parsed, "full_walk", state.full_walk) &&
      read_watermarks(parsed, state.watermarks) && read_place(parsed, state.place);
  return is_readable ? std::optional(std::move(state)) : std::nullopt;
}

Result<LoadedState> load_state(Database& database, const std::string& meta,
                               const ExecuteOptions& options) {
  const std::array<Statement, 1> statements{
      {{"SELECT key, value FROM " + meta + " WHERE key IN (" + std::string(kStateKey) + ", " +
        std::string(kRestoredKey) + ")"}}};
  const auto answers = execute_all(database, statements, options);
  if (!answers) {
    const bool is_missing = answers.error().code() == StatusCode::kSchema;
    return is_missing ? Result<LoadedState>(LoadedState()) : answers.error();
  }
  LoadedState loaded;
  for (const Row& row : answers->front().rows) {
    loaded.is_spoilt = !take_in(row, loaded) || loaded.is_spoilt;
  }
  return loaded;
}

Statement save_statement(const std::string& meta, const State& state) {
  return {put_sql(meta, kStateKey, "?"), {{to_json(state)}}};
}

Statement restored_statement(const std::string& meta) {
  return {put_sql(meta, kRestoredKey, "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')")};
}

}  // namespace spillway::retention
