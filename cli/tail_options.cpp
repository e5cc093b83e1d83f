// SPDX-License-Identifier: MIT
#include "cli/tail_options.h"

#include <CLI/CLI.hpp>

#include "cli/time_point.h"

#include <charconv>

namespace spillway {
namespace {

void add_time(CLI::App& command, const std::string& name, WallTime now, std::string& target) {
  command.add_option_function<std::string>(name, [name, now, &target](const std::string& text) {
    Result<std::string> time = parse_time_point(text, now);
    if (!time) {
      throw CLI::ValidationError(name, time.error().message());
    }
    target = *std::move(time);
  });
}

void add_limit(CLI::App& command, std::optional<std::size_t>& target) {
  command.add_option_function<std::string>("--limit", [&target](const std::string& text) {
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || rest != end || number < 1 || number > TailOptions::kLimitMax) {
      refuse_value("--limit", text, "is no number from 1 to 100000");
    }
    target = number;
  });
}

}  // namespace

// The options are explained in help.cpp.
void add_tail_options(CLI::App& command, TailOptions& options, WallTime now) {
  add_database(command, options.database);
  command.add_option("--table", options.table);
  add_time(command, "--since", now, options.window.since);
  add_time(command, "--until", now, options.window.until);
  add_level(command, [&options](Level level) { options.filter.level_min = level; });
  command.add_option("--context", options.filter.context);
  command.add_option("--grep", options.filter.text);
  add_limit(command, options.limit);
  command.add_flag("--follow", options.is_follow);
  add_duration(command, "--interval", "5s", options.interval);
  command.add_flag("--json", options.is_json);
}

Status check(const TailOptions& options) {
  const LogWindow& window = options.window;
  if (options.is_follow && !window.until.empty()) {
    return {StatusCode::kInvalidArgument, "--follow has no end; leave --until out"};
  }
  if (!options.is_follow && options.interval.count() != 0) {
    return {StatusCode::kInvalidArgument, "--interval is for --follow; leave it out or add that"};
  }
  if (!window.until.empty() && window.until <= window.since) {
    return {StatusCode::kInvalidArgument, "--until " + window.until + " is not after --since " +
                                              window.since + ": no row can be between them"};
  }
  return {};
}

}  // namespace spillway
