// SPDX-License-Identifier: MIT
//
// Where SqliteDatabase does not answer as D1 does, and why. docs/facts.md says more of each kind.
#pragma once

#include <span>
#include <string_view>

namespace spillway::golden {

struct Difference {
  std::string_view kind;  ///< As docs/facts.md names it.
  std::string_view case_name;
  /// The version of SQLite that answers as D1 does, as sqlite3_libversion_number() tells it.
  /// 0: none.
  int gone_with = 0;
};

[[nodiscard]] std::span<const Difference> known_differences();

}  // namespace spillway::golden
