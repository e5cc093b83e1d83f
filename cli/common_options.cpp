// SPDX-License-Identifier: MIT
#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include "cli/duration.h"

#include <optional>
#include <utility>

namespace spillway {

namespace {

constexpr std::chrono::milliseconds kDurationMax = std::chrono::hours(1);

}  // namespace

void add_database(CLI::App& command, DatabaseChoice& choice) {
  command.add_option("--db", choice.url);
  command.add_option("--token-file", choice.options.token_file);
}

void add_level(CLI::App& command, std::function<void(Level)> take) {
  command.add_option_function<std::string>("--level", [take = std::move(take)](
                                                          const std::string& text) {
    const auto level = parse_level(text);
    if (!level) {
      refuse_value("--level", text, "is no level; use trace, debug, info, warn, error or critical");
    }
    take(*level);
  });
}

void add_duration(CLI::App& command, const std::string& name, const std::string& example,
                  std::chrono::milliseconds& target) {
  command.add_option_function<std::string>(name, [name, example, &target](const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration) {
      refuse_value(
          name, text,
          "is not a positive whole number with a unit (ms, s, min or h), for example " + example);
    }
    if (*duration > kDurationMax) {
      refuse_value(name, text, "is longer than 1h; for example " + example);
    }
    target = *duration;
  });
}

void refuse_value(const std::string& option, const std::string& value, const std::string& why) {
  throw CLI::ValidationError(option, "'" + value + "' " + why);
}

Result<DatabaseFactory> factory_of(const DatabaseChoice& choice, OpenMode mode) {
  if (choice.url.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "--db is missing; name the database, for example --db sqlite:logs.db");
  }
  return database_factory(choice.url, mode, choice.options);
}

}  // namespace spillway
