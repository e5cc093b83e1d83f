// SPDX-License-Identifier: MIT
//
// The program `spillway`: finds out what is asked for and calls the command.
#include <spillway/clock.h>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/log_command.h"
#include "cli/program.h"
#include "cli/query_command.h"
#include "cli/tail_command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using spillway::Arguments;
using spillway::ExitCode;
using spillway::reason_of;
using spillway::refuse_usage;

// The commands and what they were told. `app` comes first, so that it is the last to go.
struct CommandLine {
  CLI::App app{"", "spillway"};
  spillway::LogOptions log_options;
  spillway::TailOptions tail_options;
  spillway::QueryOptions query_options;
  CLI::App* log = app.add_subcommand("log");
  CLI::App* tail = app.add_subcommand("tail");
  CLI::App* d1 = app.add_subcommand("d1");
  CLI::App* query = d1->add_subcommand("query");

  CommandLine() {
    app.set_version_flag("--version", SPILLWAY_VERSION);
    spillway::add_log_options(*log, log_options);
    spillway::add_tail_options(*tail, tail_options, spillway::Clock::system().wall_now());
    spillway::add_query_options(*query, query_options);
  }
};

std::string help(const CommandLine& line) {
  if (line.log->parsed()) {
    return spillway::log_help();
  }
  if (line.tail->parsed()) {
    return spillway::tail_help();
  }
  return line.d1->parsed() ? spillway::query_help() : spillway::program_help();
}

std::string command_name(const CommandLine& line) {
  if (line.d1->parsed()) {
    return line.query->parsed() ? "spillway d1 query" : "spillway d1";
  }
  if (line.log->parsed()) {
    return "spillway log";
  }
  return line.tail->parsed() ? "spillway tail" : "spillway";
}

ExitCode run(const CommandLine& line) {
  if (line.log->parsed()) {
    return run_log(line.log_options);
  }
  if (line.tail->parsed()) {
    return run_tail(line.tail_options);
  }
  return line.query->parsed() ? run_query(line.query_options)
                              : refuse_usage("no command given", command_name(line));
}

// The names that several commands have mean the same in each.
bool takes_value(const CommandLine& line, const std::string& name) {
  return spillway::takes_value(*line.log, name) || spillway::takes_value(*line.tail, name) ||
         spillway::takes_value(*line.query, name);
}

Arguments read_arguments(const CommandLine& line, int argc, char** argv) {
  return spillway::read_arguments(
      spillway::arguments_of(argc, argv),
      [&line](const std::string& name) { return takes_value(line, name); });
}

// What stands behind `--` becomes SQL and its parameters. The other commands have no use for it.
void add_operands(CommandLine& line, std::vector<std::string> operands) {
  if (!operands.empty() && !line.query->parsed()) {
    throw CLI::ParseError("unexpected argument '" + operands.front() + "'",
                          CLI::ExitCodes::InvalidError);
  }
  add_operands(line.query_options, std::move(operands));
}

ExitCode run(int argc, char** argv) {
  CommandLine line;
  Arguments arguments = read_arguments(line, argc, argv);
  try {
    std::reverse(arguments.options.begin(), arguments.options.end());  // As CLI11 wants them.
    line.app.parse(std::move(arguments.options));
    add_operands(line, std::move(arguments.operands));
  } catch (const CLI::CallForHelp&) {
    return spillway::print_text(help(line));
  } catch (const CLI::CallForVersion&) {
    return spillway::print_text("spillway " SPILLWAY_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    return refuse_usage(arguments.fault.empty() ? reason_of(error, line.app) : arguments.fault,
                        command_name(line));
  }
  return arguments.fault.empty() ? run(line) : refuse_usage(arguments.fault, command_name(line));
}

}  // namespace

int main(int argc, char** argv) {
  return spillway::run_program("spillway", [=] { return static_cast<int>(run(argc, argv)); });
}
