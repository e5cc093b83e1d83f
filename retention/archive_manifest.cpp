// SPDX-License-Identifier: MIT
#include "retention/archive_manifest.h"

#include "base/json_writer.h"
#include "base/time_text.h"
#include "retention/value_json.h"

#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace spillway::retention {
namespace {

using LineJson = nlohmann::json;

constexpr std::int64_t kArchiveVersion = 1;
constexpr std::string_view kBeforeCrc = ",\"crc32\":";

std::uint64_t crc32_of(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());  // NOLINT: zlib's type
  return crc32_z(0, bytes, text.size());
}

// `object` lacks its last bracket.
std::string checked_line(std::string object) {
  const std::string crc = std::to_string(crc32_of(object));
  return std::move(object.append(kBeforeCrc).append(crc).append("}\n"));
}

// The object in a line without its end. Discarded: a byte of it is wrong.
LineJson object_of_line(std::string_view line) {
  const std::size_t end = line.rfind(kBeforeCrc);
  const std::string_view checked = line.substr(0, end);
  if (end == std::string_view::npos ||
      line.substr(end + kBeforeCrc.size()) != std::to_string(crc32_of(checked)) + '}') {
    return LineJson(LineJson::value_t::discarded);
  }
  return LineJson::parse(line, nullptr, false);
}

// Takes the members of an object one by one, and remembers if one was missing or of another kind.
class MemberReader {
 public:
  explicit MemberReader(const LineJson& json) : json_(json), is_good_(json.is_object()) {}

  [[nodiscard]] bool is_good() const noexcept { return is_good_; }

  std::uint64_t number(const char* name) {
    const LineJson* const json = find(name, LineJson::value_t::number_unsigned);
    return json == nullptr ? 0 : json->get<std::uint64_t>();
  }
  std::string text(const char* name) {
    const LineJson* const json = find(name, LineJson::value_t::string);
    return json == nullptr ? std::string() : json->get<std::string>();
  }
  Row row(const char* name) {
    const LineJson* const json = find(name, LineJson::value_t::array);
    std::optional<Row> row = json == nullptr ? std::nullopt : row_of_json(*json);
    is_good_ = is_good_ && row.has_value();
    return std::move(row).value_or(Row());
  }
  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> texts;
    for (const Value& value : row(name)) {
      const auto* const text = std::get_if<std::string>(&value);
      is_good_ = is_good_ && text != nullptr;
      texts.push_back(text == nullptr ? std::string() : *text);
    }
    return texts;
  }

 private:
  const LineJson* find(const char* name, LineJson::value_t type) {
    const bool is_there = is_good_ && json_.contains(name) && json_[name].type() == type;
    is_good_ = is_there;
    return is_there ? &json_[name] : nullptr;
  }

  const LineJson& json_;
  bool is_good_;
};

std::optional<ArchiveHeader> header_of(const LineJson& json) {
  MemberReader members(json);
  const bool is_known = members.number("spillway_archive") == kArchiveVersion;
  ArchiveHeader header{.table = members.text("table"),
                       .table_id = members.text("table_id"),
                       .columns = members.texts("columns"),
                       .key = members.texts("key")};
  const auto is_column = [&header](const std::string& name) {
    return std::find(header.columns.begin(), header.columns.end(), name) != header.columns.end();
  };
  const bool is_good = members.is_good() && is_known && !header.key.empty() &&
                       std::all_of(header.key.begin(), header.key.end(), is_column);
  return is_good ? std::optional(std::move(header)) : std::nullopt;
}

bool add_chunk(const LineJson& json, Manifest& manifest) {
  MemberReader members(json);
  const std::uint64_t number = members.number("chunk");
  ArchiveChunk chunk{.rows = members.number("rows"),
                     .first = members.row("first"),
                     .last = members.row("last"),
                     .offset = members.number("offset"),
                     .bytes = members.number("bytes"),
                     .text_bytes = members.number("text_bytes"),
                     .text_sha256 = members.text("sha256"),
                     .gzip_sha256 = members.text("gzip_sha256")};
  const std::size_t keys = manifest.header.key.size();
  if (!members.is_good() || !manifest.is_last_deleted || number != manifest.chunks.size() + 1 ||
      chunk.offset != manifest.data_bytes() || chunk.rows == 0 || chunk.first.size() != keys ||
      chunk.last.size() != keys) {
    return false;
  }
  manifest.chunks.push_back(std::move(chunk));
  manifest.is_last_deleted = false;
  manifest.bytes_before_last = manifest.whole_bytes;
  return true;
}

bool add_deleted(const LineJson& json, Manifest& manifest) {
  MemberReader members(json);
  if (manifest.is_last_deleted || members.number("deleted") != manifest.chunks.size()) {
    return false;
  }
  manifest.is_last_deleted = true;
  return true;
}

// Up to its end, which goes, too. Empty: there is none any more.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

void write_names(JsonWriter& json, const std::vector<std::string>& names) {
  json.begin_array();
  for (const std::string& name : names) {
    json.value(name);
  }
  json.end_array();
}

}  // namespace

Row ArchiveHeader::key_of(const Row& row) const {
  Row values;
  for (const std::string& name : key) {
    const auto column = std::find(columns.begin(), columns.end(), name) - columns.begin();
    values.push_back(row[static_cast<std::size_t>(column)]);
  }
  return values;
}

std::string header_line(const ArchiveHeader& header, WallTime created) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("spillway_archive").value(kArchiveVersion);
  json.key("table").value(header.table).key("table_id").value(header.table_id);
  json.key("created").value(time_text(created)).key("columns");
  write_names(json, header.columns);
  json.key("key");
  write_names(json, header.key);
  return checked_line(std::move(line));
}

std::string chunk_line(std::size_t number, const ArchiveChunk& chunk) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("chunk").value(std::uint64_t{number}).key("rows").value(chunk.rows);
  json.key("first");
  write_json_row(json, chunk.first);
  json.key("last");
  write_json_row(json, chunk.last);
  json.key("offset").value(chunk.offset).key("bytes").value(chunk.bytes);
  json.key("text_bytes").value(chunk.text_bytes).key("sha256").value(chunk.text_sha256);
  json.key("gzip_sha256").value(chunk.gzip_sha256);
  return checked_line(std::move(line));
}

std::string deleted_line(std::size_t number) {
  std::string line;
  JsonWriter(line).begin_object().key("deleted").value(std::uint64_t{number});
  return checked_line(std::move(line));
}

std::optional<ArchiveHeader> parse_header(std::string_view text) {
  const std::optional<std::string_view> line = take_line(text);
  return line ? header_of(object_of_line(*line)) : std::nullopt;
}

std::optional<Manifest> parse_manifest(std::string_view text) {
  const std::string_view all = text;
  std::optional<ArchiveHeader> header = parse_header(text);
  if (!header) {
    return std::nullopt;
  }
  take_line(text);
  Manifest manifest{.header = *std::move(header), .whole_bytes = all.size() - text.size()};
  while (const std::optional<std::string_view> line = take_line(text)) {
    const LineJson json = object_of_line(*line);
    const bool is_chunk = json.is_object() && json.contains("chunk");
    if (!(is_chunk ? add_chunk(json, manifest) : add_deleted(json, manifest))) {
      return std::nullopt;
    }
    manifest.whole_bytes = all.size() - text.size();
  }
  return manifest;
}

}  // namespace spillway::retention
