// SPDX-License-Identifier: MIT
//
// ColumnCache: what was learnt of the columns of statements, by their text. A bounded memory that
// forgets what was not used for longest. One thread at a time.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

struct KnownColumns {
  std::size_t count = 0;
  /// Only where no change of the schema can change them.
  std::optional<std::vector<std::string>> names = {};
};

class ColumnCache {
 public:
  static constexpr std::size_t kEntriesMax = 256;
  /// Longer texts are not remembered.
  static constexpr std::size_t kTextBytesMax = 8'192;

  /// Null: unknown. Valid until the next call.
  [[nodiscard]] const KnownColumns* find(std::string_view sql);
  void remember(std::string_view sql, KnownColumns columns);
  void forget(std::string_view sql);

 private:
  struct Entry {
    std::string sql;
    KnownColumns columns;
  };

  std::list<Entry> entries_;  // The last used one first.
  std::map<std::string_view, std::list<Entry>::iterator> by_text_;
};

}  // namespace spillway
