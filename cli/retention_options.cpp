// SPDX-License-Identifier: MIT
#include "cli/retention_options.h"

#include <CLI/CLI.hpp>

#include "base/ascii.h"
#include "cli/duration.h"
#include "cli/time_point.h"
#include "retention/policy.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace spillway {
namespace {

using retention::LevelPolicy;

constexpr std::int64_t kChunkRowsMax = 100'000;
constexpr std::chrono::milliseconds kTargetLatencyMax = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kRuntimeMax = std::chrono::hours(1'000);
// D1 takes 100 parameters, and some are needed for other things than levels.
constexpr std::size_t kLevelsMax = 32;

constexpr const char* kKeepLevel = "--keep-level";

Status unusable(std::string_view text, const std::string& why) {
  return {StatusCode::kInvalidArgument, '\'' + std::string(text) + "' " + why};
}

Status set_text(std::string_view text, std::string& target) {
  if (text.empty() || text.find('\0') != std::string_view::npos) {
    return {StatusCode::kInvalidArgument, text.empty() ? "is empty" : "holds NUL"};
  }
  target = text;
  return {};
}

Status set_count(std::string_view text, std::int64_t max, const std::string& advice,
                 std::optional<std::int64_t>& target) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 1 || number > max) {
    return unusable(text, "is no " + advice);
  }
  target = number;
  return {};
}

Status set_count(std::string_view text, std::optional<std::int64_t>& target) {
  return set_count(text, std::numeric_limits<std::int64_t>::max(),
                   "whole number of rows from 1 on, for example 1000000", target);
}

Status set_length(std::string_view text, std::chrono::milliseconds max, const std::string& advice,
                  std::optional<std::chrono::milliseconds>& target) {
  const auto length = parse_duration(text);
  if (!length || *length > max) {
    return unusable(text, "is no " + advice);
  }
  target = length;
  return {};
}

Status apply_keep(std::string_view text, WallTime, RetentionOptions& options) {
  const auto keep = retention::parse_keep(text);
  if (!keep) {
    return keep.error();
  }
  options.run.policy.keep = *keep;
  options.has_policy = true;
  return {};
}

Status apply_keep_level(std::string_view text, WallTime, RetentionOptions& options) {
  auto level = retention::parse_level_keep(text);
  if (!level) {
    return level.error();
  }
  std::vector<LevelPolicy>& levels = options.run.policy.levels;
  const auto at = std::lower_bound(
      levels.begin(), levels.end(), *level,
      [](const LevelPolicy& a, const LevelPolicy& b) { return a.level < b.level; });
  if (at != levels.end() && at->level == level->level) {
    return unusable(text, "names " + level->level + " a second time; leave one of them out");
  }
  if (levels.size() == kLevelsMax) {
    return unusable(text, "is one level too many; at most 32 can be named");
  }
  levels.insert(at, *std::move(level));
  options.has_policy = true;
  return {};
}

Status apply_max_rows(std::string_view text, WallTime, RetentionOptions& options) {
  options.has_policy = true;
  return set_count(text, options.run.policy.max_rows);
}

Status apply_chunk(std::string_view text, WallTime, RetentionOptions& options) {
  if (text == "auto") {
    options.run.chunk.reset();
    return {};
  }
  return set_count(text, kChunkRowsMax, "number of rows from 1 to 100000; or write auto",
                   options.run.chunk);
}

// `time` has the form of a log table, and is in the calendar.
WallTime wall_time_of(const std::string& time) {
  const auto number = [&time](std::size_t at, std::size_t digits) {
    return std::stoi(time.substr(at, digits));
  };
  const std::chrono::sys_days day = std::chrono::year(number(0, 4)) / number(5, 2) / number(8, 2);
  return day + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
         std::chrono::seconds(number(17, 2)) + std::chrono::milliseconds(number(20, 3));
}

Status apply_now(std::string_view text, WallTime now, RetentionOptions& options) {
  const auto time = parse_time_point(text, now);
  if (!time) {
    return time.error();
  }
  options.run.now = wall_time_of(*time);
  return {};
}

constexpr unsigned bit(RetentionCommand command) noexcept {
  return 1U << static_cast<unsigned>(command);
}

constexpr unsigned kForRun = bit(RetentionCommand::kRun);
constexpr unsigned kForPlan = bit(RetentionCommand::kPlan);
constexpr unsigned kForCheck = bit(RetentionCommand::kCheck);
constexpr unsigned kForRestore = bit(RetentionCommand::kRestore);
constexpr unsigned kForPolicy = kForRun | kForPlan | kForCheck;
constexpr unsigned kForAll = kForPolicy | kForRestore;
// A plan takes all that the run has which it is the plan of.
constexpr unsigned kForRuns = kForRun | kForPlan;

// The options are explained in retention_help.cpp.
constexpr RetentionOption kOptions[] = {
    {"--db", kForAll, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.database.url);
     }},
    {"--token-file", kForAll, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.database.options.token_file);
     }},
    {"--table", kForAll, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.run.choice.table);
     }},
    {"--time-column", kForPolicy, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.run.choice.time_column.emplace());
     }},
    {"--keep", kForPolicy, SettingType::kText, true, apply_keep},
    {kKeepLevel, kForPolicy, SettingType::kLevels, true, apply_keep_level},
    {"--max-rows", kForPolicy, SettingType::kNumber, true, apply_max_rows},
    {"--archive", kForRuns, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.run.archive);
     }},
    {"--chunk", kForRuns, SettingType::kNumberOrText, true, apply_chunk},
    {"--target-latency", kForRuns, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_length(text, kTargetLatencyMax, "time from 1ms to 10s; write for example 50ms",
                         options.run.target_latency);
     }},
    {"--max-runtime", kForRuns, SettingType::kText, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_length(text, kRuntimeMax,
                         "time from 1ms to 1000h with its unit (ms, s, min or h); write for "
                         "example 50min",
                         options.run.max_runtime);
     }},
    {"--max-written", kForRuns, SettingType::kNumber, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_count(text, options.run.max_written);
     }},
    {"--allow-delete", kForRuns, SettingType::kNumber, true,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_count(text, options.run.allow_delete);
     }},
    {"--now", kForRuns, SettingType::kText, false, apply_now},
    {"--json", kForAll, SettingType::kFlag, true,
     [](std::string_view, WallTime, RetentionOptions& options) {
       options.is_json = true;
       return Status();
     }},
    {"--quiet", kForRun | kForCheck | kForRestore, SettingType::kFlag, true,
     [](std::string_view, WallTime, RetentionOptions& options) {
       options.is_quiet = true;
       return Status();
     }},
    {"--exact", kForRuns, SettingType::kFlag, false,
     [](std::string_view, WallTime, RetentionOptions& options) {
       options.is_exact = true;
       return Status();
     }},
    {"--dry-run", kForRun, SettingType::kFlag, false,
     [](std::string_view, WallTime, RetentionOptions& options) {
       options.is_dry_run = true;
       return Status();
     }},
    {"--config", kForAll, SettingType::kText, false,
     [](std::string_view text, WallTime, RetentionOptions&) {
       std::string file;  // Who made the settings has read it.
       return set_text(text, file);
     }},
    {"FILE", kForRestore, SettingType::kText, false,
     [](std::string_view text, WallTime, RetentionOptions& options) {
       return set_text(text, options.file);
     }},
};

Status apply(const RetentionSetting& setting, WallTime now, RetentionOptions& options) {
  const auto* const option =
      std::find_if(std::begin(kOptions), std::end(kOptions),
                   [&setting](const auto& known) { return setting.option == known.name; });
  const Status status = option->apply(setting.text, now, options);
  return status.with_message(setting.place + ": " + status.message());
}

// What one setting is about; levels are told apart, so that --keep-level DEBUG=1d leaves the others
// of a file as they are.
std::string subject_of(const RetentionSetting& setting) {
  return setting.option == kKeepLevel ? upper_case(setting.text.substr(0, setting.text.find('=')))
                                      : setting.option;
}

bool is_overridden(const RetentionSetting& setting, const RetentionSettings& given) {
  return std::any_of(given.begin(), given.end(), [&setting](const RetentionSetting& other) {
    return other.option == setting.option && subject_of(other) == subject_of(setting);
  });
}

Status apply_all(const RetentionSettings& given, const RetentionSettings& in_file, WallTime now,
                 RetentionOptions& options) {
  RetentionOptions whole_file;  // A value in it that cannot be used is told, used or not.
  for (const RetentionSetting& setting : in_file) {
    Status status = apply(setting, now, whole_file);
    if (status.is_ok() && !is_overridden(setting, given)) {
      status = apply(setting, now, options);
    }
    if (!status.is_ok()) {
      return status;
    }
  }
  for (const RetentionSetting& setting : given) {
    if (Status status = apply(setting, now, options); !status.is_ok()) {
      return status;
    }
  }
  return {};
}

Status refuse_together(const RetentionOptions& options, const RetentionSettings& given,
                       WallTime now) {
  const auto refused = [](const char* why) { return Status(StatusCode::kInvalidArgument, why); };
  const bool is_plan = options.command == RetentionCommand::kPlan;
  if (options.command == RetentionCommand::kRestore) {
    return options.file.empty() ? refused("FILE is missing; name the archive to restore")
                                : Status();
  }
  if (options.is_exact && !is_plan) {
    return refused("--exact is for plan; use that, or leave it out: run counts what it deletes");
  }
  if (is_plan && has_setting(given, "--quiet")) {
    return refused("--quiet leaves nothing of a plan; leave it out");
  }
  if (!is_plan && options.run.now && *options.run.now > now) {
    return refused("--now is later than now, where only plan can be; use that, or an earlier time");
  }
  if (!options.has_policy) {
    return refused(
        "nothing says how long rows are kept; give --keep, for example --keep 30d, --keep-level or "
        "--max-rows");
  }
  return {};
}

void add_option(CLI::App& command, const RetentionOption& option, RetentionSettings& given) {
  const std::string name = option.name;
  const auto take = [name, &given](const std::string& text) {
    given.push_back({name, text, name});
  };
  if (option.type == SettingType::kFlag) {
    command.add_flag_function(name, [take](std::int64_t count) {
      if (count > 0) {
        take("");
      }
    });
  } else if (option.type == SettingType::kLevels) {
    command
        .add_option_function<std::vector<std::string>>(
            name,
            [take](const std::vector<std::string>& texts) {
              std::for_each(texts.begin(), texts.end(), take);
            })
        ->allow_extra_args(false);
  } else {
    command.add_option_function<std::string>(name, take);
  }
}

}  // namespace

std::span<const RetentionOption> all_retention_options() noexcept { return kOptions; }

void add_retention_options(CLI::App& command, RetentionCommand which, RetentionSettings& given) {
  for (const RetentionOption& option : kOptions) {
    if ((option.commands & bit(which)) != 0) {
      add_option(command, option, given);
    }
  }
}

bool has_setting(const RetentionSettings& settings, std::string_view option) {
  return std::any_of(settings.begin(), settings.end(), [option](const RetentionSetting& setting) {
    return setting.option == option;
  });
}

Result<RetentionOptions> retention_options_of(RetentionCommand command,
                                              const RetentionSettings& given,
                                              const RetentionSettings& in_file, WallTime now) {
  RetentionOptions options;
  if (command == RetentionCommand::kRestore) {
    options.run.choice.table.clear();
  }
  Status status = apply_all(given, in_file, now, options);
  options.command = options.is_dry_run ? RetentionCommand::kPlan : command;
  if (status.is_ok()) {
    status = refuse_together(options, given, now);
  }
  if (!status.is_ok()) {
    return status;
  }
  return options;
}

}  // namespace spillway
