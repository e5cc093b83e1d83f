// SPDX-License-Identifier: MIT
#include "retention/archive_text.h"

#include "base/json_writer.h"
#include "retention/value_json.h"

#include <openssl/evp.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

namespace spillway::retention {
namespace {

constexpr int kGzip = 15 + 16;  // The largest window, and gzip's header: see zlib.h.
constexpr int kMemoryLevel = 8;
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;  // zlib counts in 32 bits.

// zlib only reads, whatever its types say.
Bytef* zlib_bytes(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));  // NOLINT
}

uInt next_piece(std::size_t bytes_left) {
  return static_cast<uInt>(std::min(bytes_left, kPieceBytes));
}

// Runs deflate or inflate until it has given all that fits into `output`. What it says last.
int run_zlib(z_stream& stream, int (*step)(z_stream*, int), std::string_view input,
             std::string& output) {
  std::size_t taken = 0;
  std::size_t given = 0;
  int said = Z_OK;
  while (said == Z_OK) {
    stream.next_in = zlib_bytes(input.data() + taken);
    stream.avail_in = next_piece(input.size() - taken);
    stream.next_out = zlib_bytes(output.data() + given);
    stream.avail_out = next_piece(output.size() - given);
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    const bool is_last = taken + in_before == input.size();
    said = step(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
    taken += in_before - stream.avail_in;
    given += out_before - stream.avail_out;
    // With Z_FINISH zlib calls it an error that there is more than one piece.
    const bool has_moved = in_before != stream.avail_in || out_before != stream.avail_out;
    said = said == Z_BUF_ERROR && has_moved && given < output.size() ? Z_OK : said;
  }
  output.resize(given);
  return said == Z_STREAM_END && taken < input.size() ? Z_DATA_ERROR : said;
}

std::optional<Row> row_of_line(const std::vector<std::string>& columns, std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != columns.size()) {
    return std::nullopt;
  }
  Row row;
  row.reserve(columns.size());
  for (const std::string& column : columns) {
    const auto found = json.find(column);
    std::optional<Value> value = found == json.end() ? std::nullopt : value_of_json(*found);
    if (!value) {
      return std::nullopt;
    }
    row.push_back(*std::move(value));
  }
  return row;
}

}  // namespace

std::string ndjson_of_rows(const std::vector<std::string>& columns, const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    assert(row.size() == columns.size());
    JsonWriter json(text);
    json.begin_object();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      json.key(columns[i]);
      write_json_value(json, row[i]);
    }
    json.end_object();
    text += '\n';
  }
  return text;
}

std::optional<std::vector<Row>> rows_of_ndjson(const std::vector<std::string>& columns,
                                               std::string_view text) {
  std::vector<Row> rows;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::optional<Row> row = row_of_line(columns, text.substr(0, end));
    if (!row || end == std::string_view::npos) {
      return std::nullopt;
    }
    rows.push_back(*std::move(row));
    text.remove_prefix(end + 1);
  }
  return rows;
}

Result<std::string> gzip_member(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Status(StatusCode::kInternal, "zlib cannot begin to compress");
  }
  std::string member(deflateBound(&stream, text.size()), '\0');
  const int said = run_zlib(stream, deflate, text, member);
  deflateEnd(&stream);
  return said == Z_STREAM_END ? Result<std::string>(std::move(member))
                              : Status(StatusCode::kInternal, "zlib cannot compress");
}

std::optional<std::string> text_of_gzip_member(std::string_view member, std::size_t text_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) {
    return std::nullopt;
  }
  std::string text(text_bytes + 1, '\0');  // One more shows that there is more.
  const int said = run_zlib(stream, inflate, member, text);
  inflateEnd(&stream);
  return said == Z_STREAM_END && text.size() == text_bytes ? std::optional(std::move(text))
                                                           : std::nullopt;
}

std::string sha256(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] / 16U];
    hex += kDigits[digest[i] % 16U];
  }
  return hex;
}

}  // namespace spillway::retention
