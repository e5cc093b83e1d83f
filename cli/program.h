// SPDX-License-Identifier: MIT
//
// What the mains of the programs have in common.
#pragma once

#include "cli/exit_code.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so.
class App;
class ParseError;
}  // namespace CLI

namespace spillway {

/// Makes the process ready, runs `run` and gives its exit status. Nothing gets out of it: an
/// exception is the end, with a line on stderr.
[[nodiscard]] int run_program(const char* name, const std::function<int()>& run);

/// What the caller of the program gave, without its name.
[[nodiscard]] std::vector<std::string> arguments_of(int argc, char** argv);

/// True if `command` has an option of this name ("--db") with a value behind it.
[[nodiscard]] bool takes_value(const CLI::App& command, const std::string& name);

/// Why the command line cannot be used: CLI11's own words where they are clear, ours where they are
/// not.
[[nodiscard]] std::string reason_of(const CLI::ParseError& error, const CLI::App& app);

/// Says it, and where the help is. kUsage.
[[nodiscard]] ExitCode refuse_usage(const std::string& why, const std::string& command);

/// On stdout.
[[nodiscard]] ExitCode print_text(const std::string& text);

}  // namespace spillway
