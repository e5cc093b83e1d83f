// SPDX-License-Identifier: MIT
#include "d1/column_cache.h"

#include <utility>

namespace spillway {

const KnownColumns* ColumnCache::find(std::string_view sql) {
  const auto found = by_text_.find(sql);
  if (found == by_text_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return &found->second->columns;
}

void ColumnCache::remember(std::string_view sql, KnownColumns columns) {
  forget(sql);
  if (sql.size() > kTextBytesMax) {
    return;
  }
  entries_.push_front({std::string(sql), std::move(columns)});
  by_text_.emplace(entries_.front().sql, entries_.begin());
  if (entries_.size() > kEntriesMax) {
    by_text_.erase(entries_.back().sql);
    entries_.pop_back();
  }
}

void ColumnCache::forget(std::string_view sql) {
  const auto found = by_text_.find(sql);
  if (found != by_text_.end()) {
    const auto entry = found->second;
    by_text_.erase(found);  // Its key points into the entry.
    entries_.erase(entry);
  }
}

}  // namespace spillway
