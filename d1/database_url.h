// SPDX-License-Identifier: MIT
//
// How a database is named: sqlite:PATH or d1://ACCOUNT_ID/DATABASE_ID. Pure.
#pragma once

#include <spillway/status.h>

#include <string>
#include <string_view>
#include <variant>

namespace spillway {

struct SqliteUrl {
  std::string path;
};

struct D1Url {
  std::string account_id;  ///< Empty: the environment names it.
  std::string database_id;
};

using DatabaseUrl = std::variant<SqliteUrl, D1Url>;

/// kInvalidArgument: not of a known form; the message shows the URL, its wrong part and the way
/// out.
[[nodiscard]] Result<DatabaseUrl> parse_database_url(std::string_view url);

/// The URL in quotes for a message: on one line, and without what may be a password or a token.
[[nodiscard]] std::string shown_database_url(std::string_view url);

/// True for what account and database ids are made of: it stands in the path of a request.
[[nodiscard]] bool is_d1_id(std::string_view id) noexcept;

}  // namespace spillway
