// SPDX-License-Identifier: MIT
#include "sinks/batch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace spillway {

bool Batch::has_error() const noexcept {
  return std::any_of(rows->begin(), rows->end(),
                     [](const Record& row) { return row.level >= Level::kError; });
}

bool Batch::tells_of_error() const noexcept {
  return has_error() || std::any_of(gaps.begin(), gaps.end(),
                                    [](const Gap& gap) { return gap.skipped.has_error(); });
}

std::int64_t Batch::first_seq() const noexcept {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Record& row : *rows) {
    first = std::min(first, row.seq);
  }
  for (const Gap& gap : gaps) {
    first = std::min(first, gap.skipped.first_seq);
  }
  return first;
}

std::pair<Batch, Batch> Batch::halves() const {
  const auto part = [this](std::size_t begin, std::size_t end) {
    const auto offset = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
    const std::size_t gaps_begin = std::min(begin, gaps.size());
    const std::size_t gaps_end = std::min(end, gaps.size());
    return Batch{.rows = std::make_shared<const std::vector<Record>>(rows->begin() + offset(begin),
                                                                     rows->begin() + offset(end)),
                 .gaps = {gaps.begin() + offset(gaps_begin), gaps.begin() + offset(gaps_end)},
                 .is_in_doubt = is_in_doubt};
  };
  const std::size_t middle = rows->size() / 2;
  return {part(0, middle), part(middle, rows->size())};
}

}  // namespace spillway
