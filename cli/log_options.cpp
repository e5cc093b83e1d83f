// SPDX-License-Identifier: MIT
#include "cli/log_options.h"

#include <CLI/CLI.hpp>

#include <string>

namespace spillway {
namespace {

void add_level_source(CLI::App& command, LevelSource& target) {
  command.add_option_function<std::string>("--level-from", [&target](const std::string& text) {
    if (text != "line" && text != "none") {
      refuse_value("--level-from", text, "is not known; use line or none");
    }
    target = text == "line" ? LevelSource::kLine : LevelSource::kNone;
  });
}

void add_input(CLI::App& command, InputFormat& target) {
  command.add_option_function<std::string>("--input", [&target](const std::string& text) {
    if (text != "lines" && text != "json") {
      refuse_value("--input", text, "is not known; use lines or json");
    }
    target = text == "json" ? InputFormat::kJson : InputFormat::kLines;
  });
}

}  // namespace

// The options are explained in help.cpp.
void add_log_options(CLI::App& command, LogOptions& options) {
  add_database(command, options.database);
  command.add_option("--table", options.table);
  command.add_option("--context", options.context);
  add_level(command, [&options](Level level) { options.level = level; });
  add_level_source(command, options.level_from);
  add_input(command, options.input);
  add_duration(command, "--write-pause", "30s", options.overload.write_pause);
  add_duration(command, "--error-interval", "5s", options.overload.error_interval);
}

}  // namespace spillway
