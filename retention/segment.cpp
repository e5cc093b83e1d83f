// SPDX-License-Identifier: MIT
#include "retention/segment.h"

#include <algorithm>
#include <optional>

namespace spillway::retention {

std::vector<Segment> segments_of(const std::vector<Rule>& rules, const Watermarks& watermarks) {
  std::vector<Segment> segments;
  std::optional<WallTime> before;  // The cut-off of the segment in front.
  for (const Rule& bound : rules) {
    Segment segment;
    std::optional<WallTime> begin = WallTime::max();  // Empty: from the table's beginning.
    for (const Rule& rule : rules) {
      const auto mark = watermarks.find(rule.name);
      const bool is_through = mark != watermarks.end() && mark->second >= bound.cutoff;
      if (rule.cutoff < bound.cutoff || is_through) {
        continue;
      }
      segment.rules.push_back(rule);
      if (mark == watermarks.end()) {
        begin.reset();
      } else if (begin) {
        begin = std::min(*begin, mark->second);
      }
    }
    segment.range.from = before && begin ? std::max(*before, *begin) : before ? before : begin;
    segment.range.before = bound.cutoff;
    if (!segment.rules.empty() && before != bound.cutoff) {
      segments.push_back(std::move(segment));
    }
    before = bound.cutoff;
  }
  return segments;
}

}  // namespace spillway::retention
