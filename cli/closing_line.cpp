// SPDX-License-Identifier: MIT
#include "cli/closing_line.h"

#include "base/json_writer.h"
#include "sinks/level_counts.h"

#include <cstddef>

namespace spillway {
namespace {

void write_skipped(JsonWriter& json, const Stats& stats) {
  LevelCounts skipped = stats.skipped_reported;
  for (std::size_t i = 0; i < skipped.size(); ++i) {
    skipped[i] += stats.skipped_pending[i];
  }
  json.key("skipped");
  write_level_counts(json, skipped);
}

}  // namespace

std::string closing_line(const Stats& stats) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  json.key("issued").value(stats.issued);
  json.key("stored").value(stats.stored);
  write_skipped(json, stats);
  json.key("unreported").value(sum(stats.skipped_pending));
  json.key("in_doubt").value(stats.undecided());
  json.key("dead_lettered").value(stats.dead_lettered);
  json.key("spooled").value(stats.spooled);
  json.key("pauses").value(stats.pauses);
  json.key("attempts").value(stats.attempts);
  json.key("own").value(stats.own);
  json.end_object();
  line += '\n';
  return line;
}

bool is_all_accounted_for(const Stats& stats) noexcept {
  return stats.stored + sum(stats.skipped_reported) == stats.issued;
}

}  // namespace spillway
