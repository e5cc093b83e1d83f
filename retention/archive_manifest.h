// SPDX-License-Identifier: MIT
//
// The manifest of an archive: what its chunks hold, and whether their rows were deleted. Pure.
//
// One JSON object a line, the last member of which is the CRC-32 of what stands before it. First
// the header, then for each chunk its line and, once the rows are gone, a second one that says so.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::retention {

inline constexpr std::string_view kArchiveSuffix = ".ndjson.gz";
inline constexpr std::string_view kManifestSuffix = ".manifest";

struct ArchiveHeader {
  std::string table = {};
  std::string table_id = {};              ///< `retention_id` of its TABLE_meta.
  std::vector<std::string> columns = {};  ///< Not quoted.
  std::vector<std::string> key = {};

  /// What the row has for the key.
  [[nodiscard]] Row key_of(const Row& row) const;
};

struct ArchiveChunk {
  std::uint64_t rows = 0;
  Row first = {};  ///< Keys.
  Row last = {};
  std::uint64_t offset = 0;  ///< In the file, of the gzip member.
  std::uint64_t bytes = 0;
  std::uint64_t text_bytes = 0;
  std::string text_sha256 = {};
  std::string gzip_sha256 = {};

  [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
};

struct Manifest {
  ArchiveHeader header = {};
  std::vector<ArchiveChunk> chunks = {};
  bool is_last_deleted = true;  ///< All others are.
  /// Bytes of the lines; what follows is the beginning of one that was cut off.
  std::size_t whole_bytes = 0;
  std::size_t bytes_before_last = 0;  ///< Of the lines before that of the last chunk.

  /// Bytes of the file that the chunks take.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept {
    return chunks.empty() ? 0 : chunks.back().end();
  }
};

// The lines, with their ends. Chunks count from 1.
[[nodiscard]] std::string header_line(const ArchiveHeader& header, WallTime created);
[[nodiscard]] std::string chunk_line(std::size_t number, const ArchiveChunk& chunk);
[[nodiscard]] std::string deleted_line(std::size_t number);

/// Empty: the first line is not whole or cannot be read.
[[nodiscard]] std::optional<ArchiveHeader> parse_header(std::string_view text);
/// Empty: a line that is whole cannot be read, or does not follow from those before it.
[[nodiscard]] std::optional<Manifest> parse_manifest(std::string_view text);

}  // namespace spillway::retention
