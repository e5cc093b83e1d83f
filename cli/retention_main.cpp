// SPDX-License-Identifier: MIT
//
// The program `spillway-retention`: finds out what is asked for and calls the command.
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/program.h"
#include "cli/retention_command.h"
#include "cli/retention_help.h"
#include "cli/retention_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

using spillway::Arguments;
using spillway::RetentionCommand;

constexpr const char* kProgram = "spillway-retention";

struct Command {
  const char* name;
  RetentionCommand command;
  CLI::App* app = nullptr;
};

// The commands and what they were told. `app` comes first, so that it is the last to go.
struct CommandLine {
  CLI::App app{"", kProgram};
  spillway::RetentionSettings given;
  std::array<Command, 4> commands{
      Command{"run", RetentionCommand::kRun}, Command{"plan", RetentionCommand::kPlan},
      Command{"check", RetentionCommand::kCheck}, Command{"restore", RetentionCommand::kRestore}};

  CommandLine() {
    app.set_version_flag("--version", SPILLWAY_VERSION);
    for (Command& command : commands) {
      command.app = app.add_subcommand(command.name);
      spillway::add_retention_options(*command.app, command.command, given);
    }
    app.require_subcommand(0, 1);
  }
};

const Command* chosen(const CommandLine& line) {
  const auto* const found =
      std::find_if(line.commands.begin(), line.commands.end(),
                   [](const Command& command) { return command.app->parsed(); });
  return found == line.commands.end() ? nullptr : found;
}

// The names that several commands have mean the same in each.
bool takes_value(const CommandLine& line, const std::string& name) {
  return std::any_of(line.commands.begin(), line.commands.end(), [&name](const Command& command) {
    return spillway::takes_value(*command.app, name);
  });
}

// What stands behind `--` is no option, but may be the file to restore.
void add_operands(CommandLine& line, const std::vector<std::string>& operands) {
  for (const std::string& operand : operands) {
    const Command* const command = chosen(line);
    if (command == nullptr || command->command != RetentionCommand::kRestore ||
        spillway::has_setting(line.given, "FILE")) {
      throw CLI::ParseError("unexpected argument '" + operand + "'", CLI::ExitCodes::InvalidError);
    }
    line.given.push_back({"FILE", operand, "FILE"});
  }
}

int refuse(const CommandLine& line, const std::string& why) {
  const Command* const command = chosen(line);
  return static_cast<int>(spillway::refuse_usage(
      why, kProgram + (command == nullptr ? std::string() : std::string(" ") + command->name)));
}

int run(int argc, char** argv) {
  CommandLine line;
  Arguments arguments = spillway::read_arguments(
      spillway::arguments_of(argc, argv),
      [&line](const std::string& name) { return takes_value(line, name); });
  try {
    std::reverse(arguments.options.begin(), arguments.options.end());  // As CLI11 wants them.
    line.app.parse(std::move(arguments.options));
    add_operands(line, arguments.operands);
  } catch (const CLI::CallForHelp&) {
    return static_cast<int>(spillway::print_text(spillway::retention_help()));
  } catch (const CLI::CallForVersion&) {
    return static_cast<int>(spillway::print_text("spillway-retention " SPILLWAY_VERSION "\n"));
  } catch (const CLI::ParseError& error) {
    return refuse(line,
                  arguments.fault.empty() ? spillway::reason_of(error, line.app) : arguments.fault);
  }
  if (!arguments.fault.empty()) {
    return refuse(line, arguments.fault);
  }
  const Command* const command = chosen(line);
  return command == nullptr ? refuse(line, "no command given")
                            : static_cast<int>(run_retention(command->command, line.given));
}

}  // namespace

int main(int argc, char** argv) {
  return spillway::run_program(kProgram, [=] { return run(argc, argv); });
}
