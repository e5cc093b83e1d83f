// SPDX-License-Identifier: MIT
#include "retention/course.h"

#include "base/time_text.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace spillway::retention {
namespace {

constexpr std::chrono::hours kFullWalkEvery{7 * 24};
constexpr std::chrono::minutes kClocksMayDiffer{5};  // clock_guard lets that pass.

// Rows come back by the database's clock.
bool is_restored_since(const LoadedState& before, const std::optional<WallTime>& time) {
  return before.restored && (!time || *before.restored + kClocksMayDiffer >= *time);
}

// Rows came back since the last full walk began, or nobody knows of one.
bool is_full_walk_due(const LoadedState& before, WallTime now) {
  const auto& full = before.state.full_walk;
  return !full || now - *full >= kFullWalkEvery || *full > now || is_restored_since(before, full);
}

// A rule lets it go, and has already been through all that is so old.
bool is_late(const OldestRow& row, const std::vector<Rule>& rules, const Watermarks& marks) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    const auto mark = marks.find(rule.name);
    return mark != marks.end() && row.time < mark->second && is_expired(row, {rule});
  });
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
  // A clock that was ahead once has left marks that would hide rows for as long.
  std::erase_if(state_.watermarks, [now](const auto& mark) { return mark.second > now; });
  marks_ = state_.watermarks;
  is_full_walk_ = is_full_walk_ || (ends.oldest && is_late(*ends.oldest, rules_, marks_));
  if (is_restored_since(before, state_.at)) {
    state_.place.reset();
  }
  begin_ = state_.place;
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

// What expired behind the place since the walk was there begins at the rule's own watermark.
Watermarks Course::marks_of_full_walk() const {
  Watermarks marks;
  if (const auto reached = time_of_place(begin_)) {
    for (const auto& [name, mark] : marks_) {
      marks[name] = std::min(mark, *reached);
    }
  }
  return marks;
}

void Course::on_place(const Segment& segment, const std::optional<Row>& place) {
  // What expired behind it meanwhile does not move the place of a full walk back.
  const bool is_behind = is_own_ && place && state_.place && *place < *state_.place;
  if (is_full_walk_ && place && !is_behind) {
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
