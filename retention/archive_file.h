// SPDX-License-Identifier: MIT
//
// ArchiveFile: one of the two files of an archive. What is appended is on the disk when the call
// returns, or not in the file at all.
//
// Failures are kStorageFull (no room, a quota, a limit of file size) or kConfig; the message names
// the file and what the system says.
#pragma once

#include <spillway/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace spillway::retention {

class ArchiveFile {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite };

  /// A new file of mode 0600, whatever the umask. kInvalidArgument: the name is taken, by a
  /// symbolic link too.
  [[nodiscard]] static Result<ArchiveFile> create(const std::string& path);
  /// A file that is there, and no device or the like. For kWrite it must not be a symbolic link.
  [[nodiscard]] static Result<ArchiveFile> open(const std::string& path, Mode mode);

  ArchiveFile(ArchiveFile&& other) noexcept;
  ArchiveFile& operator=(ArchiveFile&& other) noexcept;
  ~ArchiveFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Writes behind all that is there, and waits for the disk.
  [[nodiscard]] Status append(std::string_view bytes);
  /// From the disk rather than from what was written, where the system lets us choose. Less than
  /// `bytes` where the file ends.
  [[nodiscard]] Result<std::string> read(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] Result<std::string> read_all() const { return read(0, size_); }
  /// Cuts it to `size` bytes, and waits for the disk.
  [[nodiscard]] Status cut(std::uint64_t size);

  /// Marks the file as in use, until the object goes, and looks at its size again. False: somebody
  /// else has it marked.
  [[nodiscard]] bool try_lock();

 private:
  ArchiveFile(int descriptor, std::string path, std::uint64_t size) noexcept
      : descriptor_(descriptor), path_(std::move(path)), size_(size) {}

  [[nodiscard]] Status take_size();
  [[nodiscard]] int write_at_end(std::string_view bytes) const noexcept;

  int descriptor_;
  std::string path_;
  std::uint64_t size_;
};

/// kConfig: there is no such directory, or files cannot be made in it.
[[nodiscard]] Status check_archive_directory(const std::string& directory);
/// So that files which were made or removed in it stay so.
[[nodiscard]] Status sync_directory(const std::string& directory);
/// No failure: it is not there.
[[nodiscard]] Status remove_archive_file(const std::string& path);
[[nodiscard]] bool is_file_there(const std::string& path) noexcept;

/// The file's name in a message.
[[nodiscard]] std::string archive_file_name(const std::string& path);

}  // namespace spillway::retention
