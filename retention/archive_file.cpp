// SPDX-License-Identifier: MIT
#include "retention/archive_file.h"

#include "base/one_line.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace spillway::retention {
namespace {

constexpr mode_t kOwnerOnly = 0600;

Status file_failure(const char* what, const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {is_full ? StatusCode::kStorageFull : StatusCode::kConfig,
          std::string("cannot ") + what + ' ' + archive_file_name(path) + ": " +
              std::generic_category().message(error)};
}

// Some file systems cannot sync a directory, and say so.
int fsync_error(int descriptor) noexcept {
  return ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

std::string archive_file_name(const std::string& path) { return '"' + one_line(path) + '"'; }

Result<ArchiveFile> ArchiveFile::create(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int descriptor = ::open(path.c_str(), flags, kOwnerOnly);
  if (descriptor < 0) {
    const Status failure = file_failure("create", path, errno);
    return errno == EEXIST ? failure.with_code(StatusCode::kInvalidArgument) : failure;
  }
  ArchiveFile file(descriptor, path, 0);
  if (::fchmod(descriptor, kOwnerOnly) != 0) {
    return file_failure("set the mode of", path, errno);
  }
  return file;
}

Result<ArchiveFile> ArchiveFile::open(const std::string& path, Mode mode) {
  // O_NONBLOCK: a FIFO would hold us up before we could refuse it.
  const int access = mode == Mode::kRead ? O_RDONLY : O_RDWR | O_NOFOLLOW;
  const int descriptor = ::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return file_failure("open", path, errno);
  }
  ArchiveFile file(descriptor, path, 0);
  const Status status = file.take_size();
  return status.is_ok() ? Result<ArchiveFile>(std::move(file)) : status;
}

ArchiveFile::ArchiveFile(ArchiveFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_) {}

ArchiveFile& ArchiveFile::operator=(ArchiveFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}

ArchiveFile::~ArchiveFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);  // All that counts was synced: nothing can be lost.
  }
}

Status ArchiveFile::take_size() {
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) {
    return file_failure("read", path_, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return {StatusCode::kConfig, archive_file_name(path_) + " is not a regular file"};
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
  return {};
}

// 0, or why not.
int ArchiveFile::write_at_end(std::string_view bytes) const noexcept {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data() + written, bytes.size() - written,
                                   static_cast<off_t>(size_ + written));
    if (count == 0) {
      return ENOSPC;
    }
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    written += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return fsync_error(descriptor_);
}

Status ArchiveFile::append(std::string_view bytes) {
  if (const int error = write_at_end(bytes); error != 0) {
    Status failure = file_failure("write", path_, error);
    const Status undone = cut(size_);
    return undone.is_ok() ? failure : failure.with_cause(undone);
  }
  size_ += bytes.size();
  return {};
}

Result<std::string> ArchiveFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  // Only a hint: it takes clean pages out of the cache.
  static_cast<void>(::posix_fadvise(descriptor_, static_cast<off_t>(offset),
                                    static_cast<off_t>(bytes), POSIX_FADV_DONTNEED));
  std::string text(std::min(bytes, size_ - std::min(offset, size_)), '\0');
  std::size_t taken = 0;
  while (taken < text.size()) {
    const ssize_t count = ::pread(descriptor_, text.data() + taken, text.size() - taken,
                                  static_cast<off_t>(offset + taken));
    if (count < 0 && errno != EINTR) {
      return file_failure("read", path_, errno);
    }
    if (count == 0) {
      text.resize(taken);
    }
    taken += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return text;
}

Status ArchiveFile::cut(std::uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    return file_failure("cut", path_, errno);
  }
  size_ = size;
  const int error = fsync_error(descriptor_);
  return error == 0 ? Status() : file_failure("write", path_, error);
}

// Where a file system has no locks, nobody has it marked.
bool ArchiveFile::try_lock() {
  const bool is_marked = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !is_marked && take_size().is_ok();
}

Status check_archive_directory(const std::string& directory) {
  const auto refused = [&directory](const std::string& why) {
    return Status(StatusCode::kConfig,
                  "the archive directory " + archive_file_name(directory) + ' ' + why);
  };
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    return errno == ENOENT ? refused("does not exist; create it first")
                           : refused("cannot be used: " + std::generic_category().message(errno));
  }
  if (!S_ISDIR(info.st_mode)) {
    return refused("is no directory");
  }
  if (::faccessat(AT_FDCWD, directory.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    return refused("cannot be written: " + std::generic_category().message(errno));
  }
  return {};
}

Status sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return file_failure("open the directory", directory, errno);
  }
  const int error = fsync_error(descriptor);
  ::close(descriptor);
  return error == 0 ? Status() : file_failure("write the directory", directory, error);
}

Status remove_archive_file(const std::string& path) {
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status()
                                                        : file_failure("remove", path, errno);
}

bool is_file_there(const std::string& path) noexcept {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) == 0;
}

}  // namespace spillway::retention
