// SPDX-License-Identifier: MIT
//
// ColumnCache: how many columns statements have, by their text, where the text does not tell. A
// bounded memory that forgets what was not used for longest. One thread at a time.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

class ColumnCache {
 public:
  static constexpr std::size_t kEntriesMax = 256;
  /// Of all texts together. A longer one is not remembered.
  static constexpr std::size_t kTextBytesMax = 1'000'000;

  /// Empty: unknown.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view sql);
  void remember(std::string_view sql, std::size_t columns);
  void forget(std::string_view sql);

 private:
  struct Entry {
    std::string sql;
    std::size_t columns;
  };

  std::list<Entry> entries_;  // The last used one first.
  std::map<std::string_view, std::list<Entry>::iterator> by_text_;
  std::size_t text_bytes_ = 0;
};

}  // namespace spillway
