// SPDX-License-Identifier: MIT
#include <spillway/d1_database.h>
#include <spillway/database.h>
#include <spillway/sqlite_database.h>

#include "d1/d1_options.h"
#include "d1/database_url.h"
#include "d1/guarded.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace spillway {
namespace {

// As the Database that both are.
template <typename Opened>
Result<std::unique_ptr<Database>> as_database(Result<std::unique_ptr<Opened>> opened) {
  if (!opened) {
    return opened.error();
  }
  return std::unique_ptr<Database>(*std::move(opened));
}

Result<DatabaseFactory> sqlite_factory(const SqliteUrl& url, OpenMode mode) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(url.path, error);
  if (error) {
    return Status(StatusCode::kConfig, "cannot tell the current directory, which \"" + url.path +
                                           "\" is relative to: " + error.message());
  }
  return DatabaseFactory(
      [path = path.string(), mode] { return as_database(SqliteDatabase::open(path, mode)); });
}

Result<DatabaseFactory> d1_factory(const D1Url& url, OpenMode mode, const OpenOptions& options) {
  auto d1 = d1_options_for(url, mode, options);
  if (!d1) {
    return d1.error();
  }
  return DatabaseFactory([d1 = *std::move(d1)] {
    return guarded(Execution::kNo, [&] { return as_database(D1Database::open(d1)); });
  });
}

Result<std::unique_ptr<Database>> open_any(std::string_view url, OpenMode mode,
                                           const OpenOptions& options) {
  const auto parsed = parse_database_url(url);
  if (!parsed) {
    return parsed.error();
  }
  if (const auto* sqlite = std::get_if<SqliteUrl>(&*parsed)) {
    return as_database(SqliteDatabase::open(sqlite->path, mode));
  }
  auto d1 = d1_options_for(std::get<D1Url>(*parsed), mode, options);
  return d1 ? as_database(D1Database::open(*std::move(d1))) : d1.error();
}

Result<DatabaseFactory> any_factory(std::string_view url, OpenMode mode,
                                    const OpenOptions& options) {
  const auto parsed = parse_database_url(url);
  if (!parsed) {
    return parsed.error();
  }
  if (const auto* sqlite = std::get_if<SqliteUrl>(&*parsed)) {
    return sqlite_factory(*sqlite, mode);
  }
  return d1_factory(std::get<D1Url>(*parsed), mode, options);
}

}  // namespace

Result<std::unique_ptr<Database>> open(std::string_view url, OpenMode mode,
                                       const OpenOptions& options) {
  return guarded(Execution::kNo, [&] { return open_any(url, mode, options); });
}

Result<DatabaseFactory> database_factory(std::string_view url, OpenMode mode,
                                         const OpenOptions& options) {
  return guarded(Execution::kNo, [&] { return any_factory(url, mode, options); });
}

}  // namespace spillway
