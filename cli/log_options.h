// SPDX-License-Identifier: MIT
//
// LogOptions: what `spillway log` was told on its command line.
#pragma once

#include <spillway/overload_policy.h>
#include <spillway/record.h>

#include "cli/common_options.h"

#include <string>

namespace spillway {

enum class LevelSource : unsigned char {
  kLine,  ///< The level's word in the line, else LogOptions::level.
  kNone,  ///< LogOptions::level for every line.
};

enum class InputFormat : unsigned char {
  kLines,  ///< Every line is a message.
  kJson,   ///< A line that is a JSON object is a record, see parse_json_line.
};

struct LogOptions {
  DatabaseChoice database;
  std::string table = "logs";
  std::string context = "stdin";
  Level level = Level::kInfo;
  InputFormat input = InputFormat::kLines;
  LevelSource level_from = LevelSource::kLine;
  OverloadPolicy overload = OverloadPolicy::reference();
};

/// Adds the options to `command`; parsing fills `options`, which must live until then. A value that
/// cannot be used makes parsing throw a CLI::ParseError that names the option and gives an example.
void add_log_options(CLI::App& command, LogOptions& options);

}  // namespace spillway
