// SPDX-License-Identifier: MIT
#include "base/counted.h"
#include "retention/archive.h"
#include "retention/archive_file.h"
#include "retention/archive_manifest.h"
#include "retention/archive_text.h"
#include "retention/restore_target.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace spillway::retention {
namespace {

// A transaction of this size is over before others notice.
constexpr std::size_t kRowsAtOnce = 500;
constexpr std::size_t kBytesAtOnce = 1'000'000;

struct OpenArchive {
  ArchiveFile manifest_file;  // In use as long as we are at it.
  ArchiveFile data;
  Manifest manifest;
};

Status damaged(const std::string& path, const std::string& why) {
  return {StatusCode::kPermanent, archive_file_name(path) + ' ' + why + "; nothing is put back"};
}

// What a killed run left is told apart from damage by people: no row is lost by cutting it off.
Status check_end(const ArchiveFile& file, std::uint64_t bytes, const char* what) {
  if (file.size() < bytes) {
    return damaged(file.path(), "is cut off: it has " + counted(file.size(), "byte") + " of " +
                                    std::to_string(bytes));
  }
  if (file.size() == bytes) {
    return {};
  }
  return {StatusCode::kPermanent, archive_file_name(file.path()) + " has " +
                                      counted(file.size() - bytes, "byte") + ' ' + what +
                                      ". If the run that wrote it was killed, the next run with "
                                      "the same --archive cuts them off, or `truncate -s " +
                                      std::to_string(bytes) + "`; nothing is put back"};
}

Result<OpenArchive> open_archive(const std::string& path) {
  const std::string manifest_path = path + std::string(kManifestSuffix);
  Result<ArchiveFile> manifest_file = ArchiveFile::open(manifest_path, ArchiveFile::Mode::kRead);
  if (!manifest_file) {
    return manifest_file.error();
  }
  if (!manifest_file->try_lock()) {
    return Status(StatusCode::kOverload,
                  archive_file_name(path) + " is in use by a run of retention");
  }
  Result<ArchiveFile> data = ArchiveFile::open(path, ArchiveFile::Mode::kRead);
  const Result<std::string> text = manifest_file->read_all();
  if (!data || !text) {
    return data ? text.error() : data.error();
  }
  std::optional<Manifest> manifest = parse_manifest(*text);
  if (!manifest) {
    return damaged(manifest_path, "is damaged");
  }
  Status status = check_end(*manifest_file, manifest->whole_bytes, "after its last line");
  if (status.is_ok()) {
    status = check_end(*data, manifest->data_bytes(), "of which its manifest does not know");
  }
  return status.is_ok() ? Result<OpenArchive>(OpenArchive{*std::move(manifest_file),
                                                          *std::move(data), *std::move(manifest)})
                        : status;
}

bool is_as_listed(const std::vector<Row>& rows, const ArchiveChunk& chunk,
                  const ArchiveHeader& header) {
  return rows.size() == chunk.rows && header.key_of(rows.front()) == chunk.first &&
         header.key_of(rows.back()) == chunk.last;
}

Result<std::vector<Row>> rows_of_chunk(const OpenArchive& archive, std::size_t number) {
  const ArchiveChunk& chunk = archive.manifest.chunks[number];
  const Result<std::string> member = archive.data.read(chunk.offset, chunk.bytes);
  if (!member) {
    return member.error();
  }
  const bool is_member = sha256(*member) == chunk.gzip_sha256;
  const auto text = is_member ? text_of_gzip_member(*member, chunk.text_bytes) : std::nullopt;
  const bool is_text = text && sha256(*text) == chunk.text_sha256;
  auto rows = is_text ? rows_of_ndjson(archive.manifest.header.columns, *text) : std::nullopt;
  if (!rows || !is_as_listed(*rows, chunk, archive.manifest.header)) {
    return damaged(archive.data.path(), "is damaged: chunk " + std::to_string(number + 1) +
                                            " is not what its manifest says");
  }
  return *std::move(rows);
}

// Calls `use` with the rows of each chunk.
template <typename Use>
Status for_each_chunk(const OpenArchive& archive, const ExecuteOptions& options, Use&& use) {
  for (std::size_t i = 0; i < archive.manifest.chunks.size(); ++i) {
    if (options.cancel.stop_requested()) {
      return {StatusCode::kCancelled, "stopped while reading the archive"};
    }
    const Result<std::vector<Row>> rows = rows_of_chunk(archive, i);
    Status status = rows ? use(*rows) : rows.error();
    if (!status.is_ok()) {
      return status;
    }
  }
  return {};
}

std::size_t bytes_of_row(const Row& row) {
  std::size_t bytes = 0;
  for (const Value& value : row) {
    const auto* const text = std::get_if<std::string>(&value);
    const auto* const blob = std::get_if<Blob>(&value);
    bytes += text != nullptr ? text->size() : blob != nullptr ? blob->size() : sizeof(double);
  }
  return bytes;
}

// How many rows one transaction takes, from the first; at least one.
std::size_t rows_at_once(std::span<const Row> rows) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < std::min(rows.size(), kRowsAtOnce) && (count == 0 || bytes < kBytesAtOnce)) {
    bytes += bytes_of_row(rows[count++]);
  }
  return count;
}

std::int64_t total(const Restored& restored) {
  return restored.rows + restored.already_there + restored.conflicting;
}

Status put_rows(const RestoreTarget& target, std::span<const Row> rows,
                const std::function<void(std::int64_t)>& on_progress, Restored& sum) {
  while (!rows.empty()) {
    const std::size_t count = rows_at_once(rows);
    const Result<Restored> put = target.put(rows.first(count));
    if (!put) {
      return put.error();
    }
    sum.rows += put->rows;
    sum.already_there += put->already_there;
    sum.conflicting += put->conflicting;
    rows = rows.subspan(count);
    if (on_progress) {
      on_progress(total(sum));
    }
  }
  return {};
}

}  // namespace

Result<Restored> restore(const std::string& file, const std::string& table, Database& database,
                         const ExecuteOptions& options,
                         const std::function<void(std::int64_t)>& on_progress) {
  const Result<OpenArchive> archive = open_archive(file);
  if (!archive) {
    return archive.error();
  }
  const ArchiveHeader& header = archive->manifest.header;
  const auto target =
      RestoreTarget::open(header, table.empty() ? header.table : table, database, options);
  if (!target) {
    return target.error();
  }
  Status status = for_each_chunk(*archive, options, [](const auto&) { return Status(); });
  if (!status.is_ok()) {
    return status;
  }
  Restored sum;
  status = for_each_chunk(*archive, options, [&](const std::vector<Row>& rows) {
    return put_rows(*target, rows, on_progress, sum);
  });
  return status.is_ok() ? Result<Restored>(sum) : status;
}

}  // namespace spillway::retention
