// SPDX-License-Identifier: MIT
//
// The file of --config: the options of the command line without their dashes, in TOML.
//
//   db = "sqlite:/var/lib/app/logs.db"
//   keep = "30d"
//   max_rows = 50_000_000
//
//   [keep_level]
//   DEBUG = "2d"
//
// Words of a name are joined by '_'.
#pragma once

#include <spillway/status.h>

#include "cli/retention_options.h"

#include <string>
#include <string_view>

namespace spillway {

/// The settings of a text, in no order that means anything. `name` is the file's, for messages.
/// kInvalidArgument: it is no TOML, has a key that is not known or a value of another type than the
/// key's; one line that names file, line and key. Values are not looked at otherwise.
[[nodiscard]] Result<RetentionSettings> parse_retention_config(std::string_view text,
                                                               const std::string& name);

/// Reads the file. What it says decides what is deleted, so that one which others than its owner
/// can write is refused. kInvalidArgument: that, it cannot be read, or as above.
[[nodiscard]] Result<RetentionSettings> read_retention_config(const std::string& path);

}  // namespace spillway
