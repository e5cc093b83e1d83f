// SPDX-License-Identifier: MIT
//
// RetentionOptions: what `spillway-retention` was told, on its command line and in its file.
//
// Both give settings, a name with a text; one table says of each which commands have it, what a
// file may hold for it, and what it means. Pure but for CLI11.
#pragma once

#include <spillway/clock.h>
#include <spillway/status.h>

#include "cli/common_options.h"
#include "retention/run.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

enum class RetentionCommand : std::uint8_t { kRun, kPlan, kCheck, kRestore };

struct RetentionOptions {
  RetentionCommand command = RetentionCommand::kRun;  ///< `run --dry-run` is a plan.
  DatabaseChoice database = {};
  retention::RunOptions run = {};  ///< For restore, no table: that of the archive.
  std::string file = {};           ///< What is restored.
  bool is_json = false;
  bool is_quiet = false;
  bool is_exact = false;
  bool is_dry_run = false;
  bool has_policy = false;  ///< Something says how long rows are kept, if only for ever.
};

/// One value as it was given.
struct RetentionSetting {
  std::string option;  ///< "--keep-level", or FILE.
  std::string text;    ///< "DEBUG=2d"; of a flag nothing.
  std::string place;   ///< For messages: the option, or file, line and key.
};
using RetentionSettings = std::vector<RetentionSetting>;

/// What a file may hold for an option.
enum class SettingType : std::uint8_t { kText, kNumber, kNumberOrText, kFlag, kLevels };

struct RetentionOption {
  const char* name;   ///< "--keep-level"; without dashes a positional.
  unsigned commands;  ///< A bit for each RetentionCommand that has a use for it.
  SettingType type;
  bool is_for_file;  ///< False: it is for one run, and stands in no file.
  /// The message of a failure does not name the option.
  Status (*apply)(std::string_view text, WallTime now, RetentionOptions& options);
};

[[nodiscard]] std::span<const RetentionOption> all_retention_options() noexcept;

/// Adds those that the command has a use for; parsing appends what is given to `given`.
void add_retention_options(CLI::App& command, RetentionCommand which, RetentionSettings& given);

/// True if `option` is among them.
[[nodiscard]] bool has_setting(const RetentionSettings& settings, std::string_view option);

/// What was given on the command line counts, and beside it what the file has, option by option and
/// level by level; of a file that all commands share each takes what it needs. kInvalidArgument: a
/// value cannot be used, or they do not go together; one line that names the place and the way out.
[[nodiscard]] Result<RetentionOptions> retention_options_of(RetentionCommand command,
                                                            const RetentionSettings& given,
                                                            const RetentionSettings& in_file,
                                                            WallTime now);

}  // namespace spillway
