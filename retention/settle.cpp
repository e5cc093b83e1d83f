// SPDX-License-Identifier: MIT
#include "d1/execute_all.h"
#include "retention/archive.h"
#include "retention/archive_file.h"
#include "retention/archive_manifest.h"
#include "retention/table_id.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace spillway::retention {
namespace {

// What may have been left of one archive of this table.
struct Leftover {
  ArchiveFile manifest_file;
  std::string path;  // Of the data.
  Manifest manifest;
};

Status unsettled(const std::string& path, const std::string& why) {
  return {StatusCode::kConfig,
          "cannot settle what an earlier run left: " + archive_file_name(path) + ' ' + why +
              "; move the archive and its manifest elsewhere"};
}

Result<std::vector<std::string>> manifests_in(const std::string& directory) {
  const std::string suffix = std::string(kArchiveSuffix) + std::string(kManifestSuffix);
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().native().ends_with(suffix)) {
      paths.push_back(entry->path().native());
    }
  }
  if (error) {
    return Status(StatusCode::kConfig, "cannot read the directory " + archive_file_name(directory) +
                                           ": " + error.message());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Empty: it belongs to another table, or a run is at work on it. What cannot be opened or has no
// header yet belongs to somebody else as well.
Result<std::optional<Leftover>> leftover_of(const std::string& path, const TableForm& form,
                                            const std::string& table_id) {
  Result<ArchiveFile> file = ArchiveFile::open(path, ArchiveFile::Mode::kWrite);
  const auto before = file ? file->read_all() : file.error();
  const auto header = before ? parse_header(*before) : std::nullopt;
  if (!header || header->table != form.name || header->table_id != table_id || !file->try_lock()) {
    return std::optional<Leftover>();
  }
  const Result<std::string> text = file->read_all();
  if (!text) {
    return text.error();
  }
  std::optional<Manifest> manifest = parse_manifest(*text);
  if (!manifest) {
    return unsettled(path, "is damaged");
  }
  return std::optional(Leftover{*std::move(file),
                                path.substr(0, path.size() - kManifestSuffix.size()),
                                *std::move(manifest)});
}

// The first and the last row: both were deleted, or none. Where only one is there, rows came back
// by halves, from this very archive perhaps, and what is not there must stay in it.
Result<bool> is_in_table(const ArchiveChunk& chunk, const TableForm& form, Database& database,
                         const ExecuteOptions& options) {
  Statement look_up{"SELECT 1 FROM " + form.table() + " WHERE ", {chunk.first, chunk.last}};
  for (std::size_t i = 0; i < form.key.size(); ++i) {
    look_up.sql.append(i == 0 ? "" : " AND ").append(form.key[i]).append(" = ?");
  }
  ExecuteOptions repeatable = options;
  repeatable.is_idempotent = true;
  const auto answers = execute_all(database, std::span(&look_up, 1), repeatable);
  if (!answers) {
    return answers.error();
  }
  return answers->front().rows.size() == look_up.rows.size();
}

bool is_key_of(const TableForm& form, const ArchiveHeader& header) {
  return std::equal(form.key.begin(), form.key.end(), header.key.begin(), header.key.end(),
                    [](const std::string& quoted, const std::string& plain) {
                      return plain_column_name(quoted) == plain;
                    });
}

Status settle_last_chunk(Leftover& left, const TableForm& form, Database& database,
                         const ExecuteOptions& options) {
  Manifest& manifest = left.manifest;
  if (!is_key_of(form, manifest.header)) {
    return unsettled(left.path, "is of the table when it had another key");
  }
  const auto is_there = is_in_table(manifest.chunks.back(), form, database, options);
  if (!is_there) {
    return is_there.error();
  }
  if (!*is_there) {
    return left.manifest_file.append(deleted_line(manifest.chunks.size()));
  }
  manifest.chunks.pop_back();
  return left.manifest_file.cut(manifest.bytes_before_last);
}

Status remove_empty(const Leftover& left) {
  Status status = remove_archive_file(left.path);
  return status.is_ok() ? remove_archive_file(left.manifest_file.path()) : status;
}

// What was being written when the run was killed goes.
Status cut_data(const Leftover& left) {
  const std::uint64_t bytes = left.manifest.data_bytes();
  Result<ArchiveFile> data = ArchiveFile::open(left.path, ArchiveFile::Mode::kWrite);
  if (!data) {
    return data.error();
  }
  if (data->size() < bytes) {
    return unsettled(left.path, "is shorter than its manifest says");
  }
  return data->size() == bytes ? Status() : data->cut(bytes);
}

Status settle_one(Leftover& left, const TableForm& form, Database& database,
                  const ExecuteOptions& options) {
  const bool has_data = is_file_there(left.path);
  if (left.manifest_file.size() > left.manifest.whole_bytes) {
    Status status = left.manifest_file.cut(left.manifest.whole_bytes);
    if (!status.is_ok()) {
      return status;
    }
  }
  if (!left.manifest.is_last_deleted) {
    if (!has_data) {
      return unsettled(left.path, "is missing");
    }
    Status status = settle_last_chunk(left, form, database, options);
    if (!status.is_ok()) {
      return status;
    }
  }
  if (left.manifest.chunks.empty()) {
    return remove_empty(left);
  }
  // Without data but settled: somebody has moved the file to where it is kept.
  return has_data ? cut_data(left) : Status();
}

}  // namespace

Status Archive::settle(const std::string& directory, const TableForm& form, Database& database,
                       const ExecuteOptions& options) {
  if (Status status = check_archive_directory(directory); !status.is_ok()) {
    return status;
  }
  const Result<std::vector<std::string>> paths = manifests_in(directory);
  if (!paths || paths->empty()) {
    return paths.status();
  }
  const Result<std::string> table_id = table_id_of(database, form.meta(), options);
  if (!table_id) {
    return table_id.error();
  }
  for (const std::string& path : *paths) {
    Result<std::optional<Leftover>> left = leftover_of(path, form, *table_id);
    if (!left) {
      return left.error();
    }
    if (*left) {
      Status status = settle_one(**left, form, database, options);
      if (!status.is_ok()) {
        return status;
      }
    }
  }
  return {};
}

}  // namespace spillway::retention
