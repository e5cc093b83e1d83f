// SPDX-License-Identifier: MIT
#include "d1/sqlite_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace spillway {
namespace {

std::string quoted(const std::string& path) { return '"' + path + '"'; }

std::string error_text(int error) { return std::generic_category().message(error); }

Status config(std::string message) { return {StatusCode::kConfig, std::move(message)}; }

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// 0, or why the process, with its effective ids, may not use the path so.
int access_error(const std::string& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

bool exists(const std::string& path) { return access_error(path, F_OK) == 0; }

// "; it belongs to uid 0, this process runs as uid 1000": who has to change what.
std::string owner_text(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  return "; it belongs to uid " + std::to_string(info.st_uid) + ", this process runs as uid " +
         std::to_string(::geteuid());
}

// The file that a symbolic link leads to, where SQLite keeps what belongs to the file; `path`
// itself if it is none.
std::string file_behind(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) {
    return path;
  }
  const std::string target = std::filesystem::canonical(path, error).string();
  return error ? path : target;
}

// SQLite keeps the log and the journal beside `file`, so it must be able to create them. `path` is
// what the user calls the file.
Status check_directory_is_writable(const std::string& path, const std::string& file) {
  const std::string directory = directory_of(file);
  const int error = access_error(directory, W_OK | X_OK);
  if (error == 0) {
    return {};
  }
  return config("cannot create files beside " + quoted(path) + " in directory " +
                quoted(directory) + ": " + error_text(error) + owner_text(directory));
}

Status check_missing_file(const std::string& path, OpenMode mode) {
  std::error_code error;
  if (const auto target = std::filesystem::read_symlink(path, error); !error) {
    return config("cannot open " + quoted(path) + ": it is a symbolic link to " +
                  quoted(target.string()) + ", which does not exist");
  }
  const std::string directory = directory_of(path);
  if (!exists(directory)) {
    return config("cannot open " + quoted(path) + ": directory " + quoted(directory) +
                  " does not exist; create it first");
  }
  if (mode != OpenMode::kCreate) {
    return config("cannot open " + quoted(path) + ": no such file");
  }
  return check_directory_is_writable(path, path);
}

// Left behind by another user, they make a file read-only that looks writable.
Status check_side_files(const std::string& file) {
  constexpr std::array kSuffixes = {"-wal", "-shm", "-journal"};
  for (const char* suffix : kSuffixes) {
    const std::string side_file = file + suffix;
    const int error = access_error(side_file, R_OK | W_OK);
    if (error != 0 && error != ENOENT) {
      return config("cannot write " + quoted(side_file) + ": " + error_text(error) +
                    owner_text(side_file));
    }
  }
  return {};
}

Status check_existing_file(const std::string& path, OpenMode mode) {
  const bool is_write = mode != OpenMode::kReadOnly;
  if (const int error = access_error(path, is_write ? R_OK | W_OK : R_OK); error != 0) {
    return config(std::string("cannot ") + (is_write ? "write " : "read ") + quoted(path) + ": " +
                  error_text(error) + owner_text(path));
  }
  if (!is_write) {
    return {};
  }
  const std::string file = file_behind(path);
  if (Status status = check_side_files(file); !status.is_ok()) {
    return status;
  }
  // While another process keeps the file open, its write-ahead log is there and serves us too.
  return exists(file + "-wal") ? Status() : check_directory_is_writable(path, file);
}

}  // namespace

Status check_database_file(const std::string& path, OpenMode mode) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return {StatusCode::kInvalidArgument, path.empty() ? "the path of the database is empty"
                                                       : "the path of the database holds NUL"};
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? check_missing_file(path, mode)
                           : config("cannot open " + quoted(path) + ": " + error_text(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return config(quoted(path) + " is a directory; name a file in it");
  }
  if (!S_ISREG(info.st_mode)) {
    return config(quoted(path) + " is not a regular file");
  }
  if (info.st_size == 1) {  // SQLite takes such a file for an empty one, and would overwrite it.
    return config(quoted(path) + " is not an SQLite database");
  }
  return check_existing_file(path, mode);
}

std::string as_plain_file_name(const std::string& path) {
  return path.front() == '/' ? path : "./" + path;
}

}  // namespace spillway
