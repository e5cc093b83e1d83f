// SPDX-License-Identifier: MIT
#include "retention/archive.h"

#include "base/time_text.h"
#include "base/utf8.h"
#include "d1/execute_all.h"
#include "retention/archive_file.h"
#include "retention/archive_manifest.h"
#include "retention/archive_text.h"
#include "retention/table_id.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace spillway::retention {
namespace {

// Runs of several databases may choose the same name.
constexpr int kNamesMax = 100;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// As the beginning of a file's name. The manifest has the whole name.
std::string plain_name(std::string_view table) {
  constexpr std::size_t kBytesMax = 64;
  std::string name(table.substr(0, kBytesMax));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_plain(c); }, '_');
  return name;
}

// 20260828T063512345Z: file names with colons are awkward.
std::string plain_time(WallTime time) {
  std::string text = time_text(time);
  std::erase_if(text, [](char c) { return !is_plain(c); });
  return text;
}

ArchiveHeader header_for(const TableForm& form, std::string table_id) {
  ArchiveHeader header{.table = form.name, .table_id = std::move(table_id)};
  for (const std::string& column : form.columns) {
    header.columns.push_back(plain_column_name(column));
  }
  for (const std::string& column : form.key) {
    header.key.push_back(plain_column_name(column));
  }
  return header;
}

// A chunk is added, then either confirmed or taken back.
Status out_of_turn() {
  return {StatusCode::kInternal, "the last chunk of the archive is not settled, or there is none"};
}

bool has_writable_names(const ArchiveHeader& header) {
  return is_valid_utf8(header.table) &&
         std::all_of(header.columns.begin(), header.columns.end(), is_valid_utf8);
}

}  // namespace

struct Archive::Impl {
  std::string directory;
  std::string name;  // Of the file, without what tells it from others of the same name.
  ArchiveHeader header;
  WallTime created;

  std::optional<ArchiveFile> data = {};
  std::optional<ArchiveFile> manifest = {};
  std::string file = {};  // Empty: there is none.
  std::size_t chunks = 0;
  bool is_last_deleted = true;
  // Of the last chunk: its rows, and what the files were without it.
  std::int64_t last_rows = 0;
  std::uint64_t data_before = 0;
  std::uint64_t manifest_before = 0;
  std::int64_t rows = 0;
  Status broken = {};  // The files are not as they should be, so that nothing more may be added.

  [[nodiscard]] Status create_files();
  [[nodiscard]] Status create_files(const std::string& path);
  [[nodiscard]] Status remove_files();
  [[nodiscard]] Status write(const std::vector<Row>& chunk_rows);
  [[nodiscard]] Status prove(const std::vector<Row>& chunk_rows, const ArchiveChunk& chunk,
                             std::string_view member) const;
  [[nodiscard]] Status cut();
};

Status Archive::Impl::create_files() {
  const std::string path = directory + '/' + name;
  Status status = create_files(path + std::string(kArchiveSuffix));
  for (int i = 2; status.code() == StatusCode::kInvalidArgument && i < kNamesMax; ++i) {
    status = create_files(path + '-' + std::to_string(i) + std::string(kArchiveSuffix));
  }
  return status.code() == StatusCode::kInvalidArgument ? status.with_code(StatusCode::kConfig)
                                                       : status;
}

// The manifest comes first, so that no file is ever without one.
Status Archive::Impl::create_files(const std::string& path) {
  auto new_manifest = ArchiveFile::create(path + std::string(kManifestSuffix));
  if (!new_manifest) {
    return new_manifest.error();
  }
  manifest = *std::move(new_manifest);
  file = path;
  static_cast<void>(manifest->try_lock());  // Nobody else looks at it before it has a header.
  Status status = manifest->append(header_line(header, created));
  if (status.is_ok()) {
    auto new_data = ArchiveFile::create(path);
    status = new_data.status();
    if (new_data) {
      data = *std::move(new_data);
      status = sync_directory(directory);
    }
  }
  if (!status.is_ok()) {
    static_cast<void>(remove_files());  // What failed first is what counts.
  }
  return status;
}

// A file that is not ours has the name when there is no `data`.
Status Archive::Impl::remove_files() {
  Status status = data ? remove_archive_file(file) : Status();
  if (status.is_ok()) {
    status = remove_archive_file(file + std::string(kManifestSuffix));
  }
  data.reset();
  manifest.reset();
  file.clear();
  const Status synced = sync_directory(directory);
  return status.is_ok() ? synced : status;
}

// Whether what is on the disk gives the same rows again, before they are deleted.
Status Archive::Impl::prove(const std::vector<Row>& chunk_rows, const ArchiveChunk& chunk,
                            std::string_view member) const {
  const Result<std::string> read = data->read(chunk.offset, chunk.bytes);
  if (!read) {
    return read.error();
  }
  const auto text = text_of_gzip_member(*read, chunk.text_bytes);
  const bool is_same = *read == member && text && sha256(*text) == chunk.text_sha256 &&
                       rows_of_ndjson(header.columns, *text) == chunk_rows;
  return is_same ? Status()
                 : Status(StatusCode::kPermanent,
                          archive_file_name(file) +
                              " does not give back the rows that were written to it; the disk may "
                              "be failing");
}

Status Archive::Impl::write(const std::vector<Row>& chunk_rows) {
  const std::string text = ndjson_of_rows(header.columns, chunk_rows);
  const Result<std::string> member = gzip_member(text);
  if (!member) {
    return member.error();
  }
  const ArchiveChunk chunk{.rows = chunk_rows.size(),
                           .first = header.key_of(chunk_rows.front()),
                           .last = header.key_of(chunk_rows.back()),
                           .offset = data_before,
                           .bytes = member->size(),
                           .text_bytes = text.size(),
                           .text_sha256 = sha256(text),
                           .gzip_sha256 = sha256(*member)};
  Status status = data->append(*member);
  if (status.is_ok()) {
    status = prove(chunk_rows, chunk, *member);
  }
  return status.is_ok() ? manifest->append(chunk_line(chunks + 1, chunk)) : status;
}

// The manifest comes first, so that it never names what is not there.
Status Archive::Impl::cut() {
  if (chunks == 0) {
    broken = remove_files();
    return broken;
  }
  broken = manifest->cut(manifest_before);
  if (broken.is_ok()) {
    broken = data->cut(data_before);
  }
  return broken;
}

Archive::Archive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Archive::~Archive() = default;

Result<std::unique_ptr<Archive>> Archive::open(const std::string& directory, const TableForm& form,
                                               Database& database, WallTime now,
                                               std::int64_t number, const ExecuteOptions& options) {
  if (Status status = check_archive_directory(directory); !status.is_ok()) {
    return status;
  }
  const Result<std::string> table_id = table_id_of(database, form.meta(), options);
  if (!table_id) {
    return table_id.error();
  }
  ArchiveHeader header = header_for(form, *table_id);
  if (!has_writable_names(header)) {
    return Status(StatusCode::kConfig, "table \"" + form.name +
                                           "\" cannot be archived: its name or that of a column "
                                           "is not UTF-8");
  }
  const std::string name =
      plain_name(form.name) + '-' + plain_time(now) + '-' + std::to_string(number);
  return std::unique_ptr<Archive>(
      new Archive(std::make_unique<Impl>(Impl{directory, name, std::move(header), now})));
}

Status Archive::add(const std::vector<Row>& rows) {
  const auto is_whole = [columns = impl_->header.columns.size()](const Row& row) {
    return row.size() == columns;
  };
  if (rows.empty() || !std::all_of(rows.begin(), rows.end(), is_whole)) {
    return does_not_fit();
  }
  if (!impl_->is_last_deleted || !impl_->broken.is_ok()) {
    return impl_->broken.is_ok() ? out_of_turn() : impl_->broken;
  }
  if (!impl_->data) {
    if (Status status = impl_->create_files(); !status.is_ok()) {
      return status;
    }
  }
  impl_->data_before = impl_->data->size();
  impl_->manifest_before = impl_->manifest->size();
  Status status = impl_->write(rows);
  if (!status.is_ok()) {
    const Status undone = impl_->cut();
    return undone.is_ok() ? status : status.with_cause(undone);
  }
  ++impl_->chunks;
  impl_->is_last_deleted = false;
  impl_->last_rows = static_cast<std::int64_t>(rows.size());
  return {};
}

Status Archive::confirm() {
  if (impl_->is_last_deleted) {
    return out_of_turn();
  }
  Status status = impl_->manifest->append(deleted_line(impl_->chunks));
  if (status.is_ok()) {
    impl_->is_last_deleted = true;
    impl_->rows += impl_->last_rows;
  }
  return status;
}

Status Archive::take_back() {
  if (impl_->is_last_deleted) {
    return out_of_turn();
  }
  --impl_->chunks;
  impl_->is_last_deleted = true;
  return impl_->cut();
}

const std::string& Archive::file() const noexcept { return impl_->file; }

std::int64_t Archive::rows() const noexcept { return impl_->rows; }

}  // namespace spillway::retention
