// SPDX-License-Identifier: MIT
//
// How counts by level are written: {"INFO":1200,"ERROR":4}, without zeros.
#pragma once

#include <spillway/stats.h>

#include "base/json_writer.h"

#include <cstddef>

namespace spillway {

inline void write_level_counts(JsonWriter& json, const LevelCounts& counts) {
  json.begin_object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) {
      json.key(i == kUnknownLevel ? "UNKNOWN" : to_string(static_cast<Level>(i))).value(counts[i]);
    }
  }
  json.end_object();
}

}  // namespace spillway
