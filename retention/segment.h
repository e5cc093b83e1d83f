// SPDX-License-Identifier: MIT
//
// Segments: which stretches of a table are walked, and which rules have rows there. Pure.
//
// In a table of Spillway's own, time is the order: what lies between two cut-offs is expired for
// the rules with the later ones only, and what lies before a rule's watermark has been through it
// already. A table of others is one segment for all rules.
#pragma once

#include "retention/policy.h"
#include "retention/table_form.h"

#include <map>
#include <string>
#include <vector>

namespace spillway::retention {

struct Segment {
  Range range;
  std::vector<Rule> rules;  ///< At least one.
};

/// By a rule's name: everything older has been through the rule.
using Watermarks = std::map<std::string, WallTime>;

/// For an own table, oldest first. `rules` as rules_of gives them.
[[nodiscard]] std::vector<Segment> segments_of(const std::vector<Rule>& rules,
                                               const Watermarks& watermarks);

}  // namespace spillway::retention
