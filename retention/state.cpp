// SPDX-License-Identifier: MIT
#include "retention/state.h"

#include "base/json_writer.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "d1/execute_all.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace spillway::retention {
namespace {

using StateJson = nlohmann::json;

constexpr std::string_view kStateKey = "'retention_state'";
constexpr std::string_view kRestoredKey = "'retention_restored'";

std::string hex_of(const char* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    hex += kDigits[byte / 16U];
    hex += kDigits[byte % 16U];
  }
  return hex;
}

std::optional<std::string> bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    const char* const end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, byte, 16).ptr != end) {
      return std::nullopt;
    }
    bytes += static_cast<char>(byte);
  }
  return hex.size() % 2 == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

// What JSON has no form for stands in an object of one member that says what it is.
void write_as(JsonWriter& json, const char* kind, std::string_view text) {
  json.begin_object().key(kind).value(text).end_object();
}

// An integral real gets a point, so that it is read as a real again.
void write_real(JsonWriter& json, double real) {
  if (!std::isfinite(real)) {
    write_as(json, "real", real > 0 ? "inf" : "-inf");
    return;
  }
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  json.json(text);
}

struct PlaceWriter {
  JsonWriter& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(std::int64_t integer) const { json.value(integer); }
  void operator()(double real) const { write_real(json, real); }
  void operator()(const std::string& text) const {
    if (is_valid_utf8(text)) {
      json.value(text);
    } else {
      write_as(json, "text", hex_of(text.data(), text.size()));
    }
  }
  void operator()(const Blob& blob) const {
    // A blob's bytes are characters here, as those of any object may be.
    const auto* const bytes = reinterpret_cast<const char*>(blob.data());  // NOLINT
    write_as(json, "blob", hex_of(bytes, blob.size()));
  }
};

Blob blob_of(const std::string& bytes) {
  Blob blob;
  for (const char byte : bytes) {
    blob.push_back(static_cast<std::byte>(byte));
  }
  return blob;
}

std::optional<Value> parse_marked(const StateJson& json) {
  const bool is_marked = json.size() == 1 && json.begin()->is_string();
  const std::string kind = is_marked ? json.begin().key() : "";
  const std::string text = is_marked ? json.begin()->get<std::string>() : "";
  const std::optional<std::string> bytes = bytes_of(text);
  if (kind == "blob" && bytes) {
    return blob_of(*bytes);
  }
  if (kind == "text" && bytes) {
    return *bytes;
  }
  if (kind == "real" && (text == "inf" || text == "-inf")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return text == "inf" ? infinity : -infinity;
  }
  return std::nullopt;
}

std::optional<Value> parse_value(const StateJson& json) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  switch (json.type()) {
    case StateJson::value_t::null:
      return Value();
    case StateJson::value_t::number_integer:
      return json.get<std::int64_t>();
    case StateJson::value_t::number_unsigned:
      return json.get<std::uint64_t>() <= kMax ? std::optional<Value>(json.get<std::int64_t>())
                                               : std::nullopt;
    case StateJson::value_t::number_float:
      return json.get<double>();
    case StateJson::value_t::string:
      return json.get<std::string>();
    case StateJson::value_t::object:
      return parse_marked(json);
    default:
      return std::nullopt;
  }
}

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
  if (found == json.end() || !found->is_array()) {
    return found == json.end();
  }
  place.emplace();
  for (const StateJson& each : *found) {
    std::optional<Value> value = parse_value(each);
    if (!value) {
      return false;
    }
    place->push_back(*std::move(value));
  }
  return true;
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
    json.key("place").begin_array();
    for (const Value& value : *state.place) {
      std::visit(PlaceWriter{json}, value);
    }
    json.end_array();
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
