// SPDX-License-Identifier: MIT
//
// Options that several commands have, spelled and refused in the same way.
#pragma once

#include <spillway/database.h>
#include <spillway/record.h>
#include <spillway/status.h>

#include <chrono>
#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so.
class App;
}

namespace spillway {

struct DatabaseChoice {
  std::string url;  ///< Empty: not given, which is a usage error.
  OpenOptions options;
};

/// --db and --token-file.
void add_database(CLI::App& command, DatabaseChoice& choice);
/// --level, handed to `take`.
void add_level(CLI::App& command, std::function<void(Level)> take);
/// A length of time from 1 ms to 1 h.
void add_duration(CLI::App& command, const std::string& name, const std::string& example,
                  std::chrono::milliseconds& target);

/// Makes parsing fail: "--level: 'x' is no level". Throws CLI::ValidationError.
[[noreturn]] void refuse_value(const std::string& option, const std::string& value,
                               const std::string& why);

/// What opens the database chosen. kInvalidArgument: --db is missing or of no known form.
[[nodiscard]] Result<DatabaseFactory> factory_of(const DatabaseChoice& choice, OpenMode mode);

}  // namespace spillway
