// SPDX-License-Identifier: MIT
#include "cli/follow_window.h"

#include "base/time_text.h"

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

// Sorts behind `time` and before every later one.
std::string just_behind(const std::string& time) { return time + '!'; }

}  // namespace

FollowWindow::FollowWindow(std::string floor, std::size_t seen_max)
    : floor_(std::move(floor)), seen_max_(seen_max) {}

std::string FollowWindow::since(std::chrono::milliseconds overlap) const {
  return std::max(floor_, time_text(looked_at_ - overlap));
}

bool FollowWindow::note(const LogKey& key) {
  if (key.created_at < floor_ || !seen_.insert(key).second) {
    return false;
  }
  if (seen_.size() > seen_max_) {
    // What is forgotten must not be looked at again. The rest of its millisecond is remembered
    // a little longer than needed.
    floor_ = std::max(floor_, just_behind(seen_.begin()->created_at));
    seen_.erase(seen_.begin());
  }
  return true;
}

void FollowWindow::looked_at(WallTime now) {
  looked_at_ = now;
  // A clock that was set back must not make a later look reach what is forgotten here.
  floor_ = std::max(floor_, time_text(now - 2 * kDeepOverlap));
  seen_.erase(seen_.begin(), seen_.lower_bound(LogKey{.created_at = floor_}));
}

}  // namespace spillway
