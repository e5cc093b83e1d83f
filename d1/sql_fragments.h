// SPDX-License-Identifier: MIT
//
// Pieces of SQL text that several statements are put together from.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

/// The name in double quotes, as SQL takes any name.
[[nodiscard]] std::string quoted_name(std::string_view name);

/// Milliseconds since 1970 by the database's clock, the same throughout a statement. SQLite before
/// 3.42 has nothing finer than julianday that counts in one step.
inline constexpr std::string_view kDatabaseNow =
    "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)";

}  // namespace spillway
