// SPDX-License-Identifier: MIT
//
// What tells a table from another of the same name, in another database: a random text in
// TABLE_meta. Archives of both may lie in one directory.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <string>
#include <string_view>

namespace spillway::retention {

/// Makes it if there is none. `meta` is the quoted name of TABLE_meta, which must exist.
[[nodiscard]] Result<std::string> table_id_of(Database& database, const std::string& meta,
                                              const ExecuteOptions& options);

/// A name of TableForm without its quotes.
[[nodiscard]] std::string plain_column_name(std::string_view name);

}  // namespace spillway::retention
