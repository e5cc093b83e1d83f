// SPDX-License-Identifier: MIT
#include "cli/log_options.h"

#include <CLI/CLI.hpp>

#include "cli/duration.h"

#include <chrono>
#include <string>

namespace spillway {
namespace {

constexpr std::chrono::milliseconds kDurationMax = std::chrono::hours(1);

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& why) {
  throw CLI::ValidationError(option, "'" + value + "' " + why);
}

void add_duration(CLI::App& command, const std::string& name, const std::string& example,
                  std::chrono::milliseconds& target) {
  command.add_option_function<std::string>(name, [name, example, &target](const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration) {
      refuse(
          name, text,
          "is not a positive whole number with a unit (ms, s, min or h), for example " + example);
    }
    if (*duration > kDurationMax) {
      refuse(name, text, "is longer than 1h; for example " + example);
    }
    target = *duration;
  });
}

void add_level(CLI::App& command, Level& target) {
  command.add_option_function<std::string>("--level", [&target](const std::string& text) {
    const auto level = parse_level(text);
    if (!level) {
      refuse("--level", text, "is no level; use trace, debug, info, warn, error or critical");
    }
    target = *level;
  });
}

void add_level_source(CLI::App& command, LevelSource& target) {
  command.add_option_function<std::string>("--level-from", [&target](const std::string& text) {
    if (text != "line" && text != "none") {
      refuse("--level-from", text, "is not known; use line or none");
    }
    target = text == "line" ? LevelSource::kLine : LevelSource::kNone;
  });
}

// So far it only lets a script say what it means, and tells that there is nothing else yet.
void add_input(CLI::App& command) {
  command.add_option_function<std::string>("--input", [](const std::string& text) {
    if (text != "lines") {
      refuse("--input", text, "is not supported by this version; use lines");
    }
  });
}

}  // namespace

// The options are explained in help.cpp.
void add_log_options(CLI::App& command, LogOptions& options) {
  command.add_option("--db", options.db);
  command.add_option("--table", options.table);
  command.add_option("--context", options.context);
  add_level(command, options.level);
  add_level_source(command, options.level_from);
  add_input(command);
  add_duration(command, "--write-pause", "30s", options.overload.write_pause);
  add_duration(command, "--error-interval", "5s", options.overload.error_interval);
}

}  // namespace spillway
