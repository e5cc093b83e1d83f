// SPDX-License-Identifier: MIT
#include "retention/course.h"

#include "base/time_text.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace spillway::retention {
namespace {

constexpr std::chrono::hours kFullWalkEvery{7 * 24};

// Rows came back since the last full walk began, or nobody knows of one.
bool is_full_walk_due(const LoadedState& before, WallTime now) {
  const auto& full = before.state.full_walk;
  return !full || now - *full >= kFullWalkEvery || *full > now ||
         (before.restored && *before.restored >= *full);
}

}  // namespace

std::optional<WallTime> time_of_place(const std::optional<Row>& place) {
  if (!place || place->empty()) {
    return std::nullopt;
  }
  const auto* const text = std::get_if<std::string>(&place->front());
  return text == nullptr ? std::nullopt : parse_time_text(*text);
}

Course::Course(const LoadedState& before, const Policy& policy, bool is_own, WallTime now,
               const Ends& ends)
    : is_own_(is_own), now_(now), rules_(rules_of(policy, now)) {
  const bool is_same_policy = before.state.policy == to_string(policy);
  if (is_same_policy) {
    state_ = before.state;
  } else {
    // Whom a rule is for may have changed, so that no watermark means what it did.
    state_.oldest = before.state.oldest;
  }
  is_full_walk_ = !is_own || !is_same_policy || is_full_walk_due(before, now) || state_.place;
  marks_ = state_.watermarks;
  if (!is_full_walk_ && ends.oldest && is_expired(*ends.oldest, rules_)) {
    // Something old has come in behind the watermarks.
    is_full_walk_ = std::all_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
      const auto mark = marks_.find(rule.name);
      return mark == marks_.end() || ends.oldest->time < mark->second;
    });
  }
  const bool is_restored_since = before.restored && before.restored >= state_.at;
  begin_ = is_restored_since ? std::nullopt : state_.place;
  state_.policy = to_string(policy);
  state_.at = now;
  state_.newest = ends.newest;
}

std::vector<Segment> Course::segments() const {
  if (is_own_) {
    return segments_of(rules_, is_full_walk_ ? marks_of_full_walk() : marks_);
  }
  std::vector<Segment> all;
  if (!rules_.empty()) {
    all.push_back({Range{.beyond = begin_}, rules_});
  }
  return all;
}

Watermarks Course::marks_of_full_walk() const {
  Watermarks marks;
  if (const auto reached = time_of_place(begin_)) {
    for (const Rule& rule : rules_) {
      marks[rule.name] = *reached;
    }
  }
  return marks;
}

void Course::on_place(const Segment& segment, const std::optional<Row>& place) {
  if (is_full_walk_ && place) {
    state_.place = place;
  }
  const auto reached = place ? time_of_place(place) : segment.range.before;
  if (is_own_ && reached) {
    note_watermarks(segment, *reached);
  }
}

void Course::note_watermarks(const Segment& segment, WallTime reached) {
  for (const Rule& rule : segment.rules) {
    const auto [mark, is_new] = state_.watermarks.try_emplace(rule.name, reached);
    if (!is_new) {
      mark->second = std::max(mark->second, reached);
    }
  }
}

void Course::on_walked() {
  state_.place.reset();
  if (is_full_walk_) {
    state_.full_walk = now_;
  }
}

}  // namespace spillway::retention
