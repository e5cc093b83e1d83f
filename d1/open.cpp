// SPDX-License-Identifier: MIT
#include <spillway/database.h>
#include <spillway/sqlite_database.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

constexpr std::string_view kSqliteScheme = "sqlite:";
constexpr std::string_view kWayOut =
    "; write sqlite:PATH, for example sqlite:logs.db or sqlite:/var/log/app.db";

// The URL for a message: one line, and without what may be a password.
std::string shown(std::string_view url) {
  constexpr char kFirstPrintable = ' ';
  const std::size_t secret_end = url.rfind('@');
  std::string text(secret_end == std::string_view::npos ? url : url.substr(0, url.find(':') + 1));
  const auto is_control = [](char c) { return c >= 0 && c < kFirstPrintable; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return '"' + text + (secret_end == std::string_view::npos ? "\"" : "…\"");
}

Status refused(std::string_view url, std::string_view reason, std::string_view way_out = kWayOut) {
  return {StatusCode::kInvalidArgument,
          "database URL " + shown(url) + ' ' + std::string(reason) + std::string(way_out)};
}

bool is_sqlite(std::string_view url) { return url.starts_with(kSqliteScheme); }

std::string_view sqlite_path(std::string_view url) { return url.substr(kSqliteScheme.size()); }

Status check_sqlite_path(std::string_view url, std::string_view path) {
  if (path.empty()) {
    return refused(url, "names no file");
  }
  if (path.substr(0, 2) == "//") {
    return refused(url, "has // after the scheme");
  }
  if (path == ":memory:") {
    return refused(url, "would keep nothing: a database in memory is not supported");
  }
  if (path.find('\0') != std::string_view::npos) {
    return refused(url, "holds NUL");
  }
  return {};
}

Status refuse_scheme(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (url.empty()) {
    return {StatusCode::kInvalidArgument, "the database URL is empty" + std::string(kWayOut)};
  }
  if (colon == std::string_view::npos) {
    return refused(url, "has no scheme", "; for a file write sqlite:PATH");
  }
  const std::string_view scheme = url.substr(0, colon);
  if (scheme == "d1" || scheme == "d1+https") {
    return refused(url, "is not supported in this version");
  }
  return refused(url, "has an unknown scheme");
}

Status check_url(std::string_view url) {
  return is_sqlite(url) ? check_sqlite_path(url, sqlite_path(url)) : refuse_scheme(url);
}

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, OpenMode mode) {
  auto database = SqliteDatabase::open(path, mode);
  if (!database) {
    return database.error();
  }
  return std::unique_ptr<Database>(*std::move(database));
}

}  // namespace

Result<std::unique_ptr<Database>> open(std::string_view url, OpenMode mode,
                                       const OpenOptions&) {
  if (Status status = check_url(url); !status.is_ok()) {
    return status;
  }
  return open_sqlite(std::string(sqlite_path(url)), mode);
}

Result<DatabaseFactory> database_factory(std::string_view url, OpenMode mode,
                                         const OpenOptions&) {
  if (Status status = check_url(url); !status.is_ok()) {
    return status;
  }
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(sqlite_path(url), error);
  if (error) {
    return Status(
        StatusCode::kConfig,
        "database URL " + shown(url) + ": cannot tell the current directory: " + error.message());
  }
  return DatabaseFactory([path = path.string(), mode] { return open_sqlite(path, mode); });
}

}  // namespace spillway
