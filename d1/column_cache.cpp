// SPDX-License-Identifier: MIT
#include "d1/column_cache.h"

namespace spillway {

std::optional<std::size_t> ColumnCache::find(std::string_view sql) {
  const auto found = by_text_.find(sql);
  if (found == by_text_.end()) {
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->columns;
}

void ColumnCache::remember(std::string_view sql, std::size_t columns) {
  forget(sql);
  if (sql.size() > kTextBytesMax) {
    return;
  }
  entries_.push_front({std::string(sql), columns});
  by_text_.emplace(entries_.front().sql, entries_.begin());
  text_bytes_ += sql.size();
  while (entries_.size() > kEntriesMax || text_bytes_ > kTextBytesMax) {
    forget(entries_.back().sql);
  }
}

void ColumnCache::forget(std::string_view sql) {
  const auto found = by_text_.find(sql);
  if (found != by_text_.end()) {
    const auto entry = found->second;
    text_bytes_ -= entry->sql.size();
    by_text_.erase(found);  // Its key points into the entry.
    entries_.erase(entry);
  }
}

}  // namespace spillway
