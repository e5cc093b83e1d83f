// SPDX-License-Identifier: MIT
#include "d1/database_url.h"

#include "base/ascii.h"
#include "base/steering.h"

#include <algorithm>
#include <cstddef>

namespace spillway {
namespace {

constexpr std::string_view kSqliteScheme = "sqlite:";
constexpr std::string_view kD1Scheme = "d1:";
constexpr std::string_view kSqliteWayOut =
    "; write sqlite:PATH, for example sqlite:logs.db or sqlite:/var/log/app.db";
constexpr std::string_view kD1WayOut = "; write d1://ACCOUNT_ID/DATABASE_ID";
constexpr std::string_view kAnyWayOut = "; write sqlite:PATH or d1://ACCOUNT_ID/DATABASE_ID";

// A password stands before an @, a token behind a ? or a #. What is before an @ may hold any of
// them, so nothing of it but the scheme is kept.
std::string_view without_secrets(std::string_view url) {
  if (url.find('@') == std::string_view::npos) {
    return url.substr(0, url.find_first_of("?#"));
  }
  const std::size_t colon = url.find(':');
  const bool has_scheme = colon != std::string_view::npos && url.substr(colon + 1, 2) == "//";
  return has_scheme ? url.substr(0, colon + 1) : std::string_view();
}

Status refused_url(std::string_view url, std::string_view reason, std::string_view way_out) {
  return {StatusCode::kInvalidArgument, "database URL " + shown_database_url(url) + ' ' +
                                            std::string(reason) + std::string(way_out)};
}

Result<DatabaseUrl> parse_sqlite_url(std::string_view url) {
  const std::string_view path = url.substr(kSqliteScheme.size());
  if (path.empty()) {
    return refused_url(url, "names no file", kSqliteWayOut);
  }
  if (path.substr(0, 2) == "//") {
    return refused_url(url, "has // after the scheme", kSqliteWayOut);
  }
  if (path == ":memory:") {
    return refused_url(url, "would keep nothing: a database in memory is not supported",
                       kSqliteWayOut);
  }
  if (path.find('\0') != std::string_view::npos) {
    return refused_url(url, "holds NUL", kSqliteWayOut);
  }
  return DatabaseUrl(SqliteUrl{std::string(path)});
}

Result<DatabaseUrl> parse_d1_url(std::string_view url) {
  std::string_view rest = url.substr(kD1Scheme.size());
  if (!rest.starts_with("//")) {
    return refused_url(url, "has no // after the scheme", kD1WayOut);
  }
  rest.remove_prefix(2);
  if (rest.find_first_of("?#@") != std::string_view::npos) {
    return refused_url(url, "holds more than two ids; a token is given in another way", kD1WayOut);
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view account = rest.substr(0, slash);
  const std::string_view database = rest.substr(std::min(slash + 1, rest.size()));
  if (database.empty()) {
    return refused_url(url, "names no database", kD1WayOut);
  }
  if ((!account.empty() && !is_d1_id(account)) || !is_d1_id(database)) {
    return refused_url(url, "has an id with something else than letters, digits, - and _ in it",
                       kD1WayOut);
  }
  return DatabaseUrl(D1Url{std::string(account), std::string(database)});
}

Status refused_scheme(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (url.empty()) {
    return {StatusCode::kInvalidArgument, "the database URL is empty" + std::string(kAnyWayOut)};
  }
  if (colon == std::string_view::npos) {
    return refused_url(url, "has no scheme", "; for a file write sqlite:PATH");
  }
  if (url.substr(0, colon) == "d1+https") {
    return refused_url(url, "is not supported in this version", kAnyWayOut);
  }
  return refused_url(url, "has an unknown scheme", kAnyWayOut);
}

}  // namespace

Result<DatabaseUrl> parse_database_url(std::string_view url) {
  if (url.starts_with(kSqliteScheme)) {
    return parse_sqlite_url(url);
  }
  if (url.starts_with(kD1Scheme)) {
    return parse_d1_url(url);
  }
  return refused_scheme(url);
}

std::string shown_database_url(std::string_view url) {
  const std::string_view shown = url.starts_with(kSqliteScheme) ? url : without_secrets(url);
  std::string text(shown);
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return '"' + text + (shown.size() < url.size() ? "…\"" : "\"");
}

bool is_d1_id(std::string_view id) noexcept {
  const auto is_allowed = [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_';
  };
  return !id.empty() && std::all_of(id.begin(), id.end(), is_allowed);
}

}  // namespace spillway
