// SPDX-License-Identifier: MIT
//
// The program `spillway`: finds out what is asked for and calls the command.
#include <CLI/CLI.hpp>

#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/log_command.h"
#include "cli/output.h"

#include <csignal>
#include <exception>
#include <string>

namespace {

using spillway::ExitCode;

ExitCode print(const std::string& text) {
  return spillway::write_out(text) ? ExitCode::kDone : ExitCode::kError;
}

// CLI11's own words where they are clear, ours where they are not.
std::string reason_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return "unexpected argument '" + app.remaining(true).at(0) + "'";
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    return text.substr(0, text.find(':')) + " takes exactly one value";
  }
  return text;
}

ExitCode refuse(const std::string& why, const std::string& command) {
  spillway::say(why + "; see " + command + " --help");
  return ExitCode::kUsage;
}

ExitCode run(int argc, char** argv) {
  CLI::App app("", "spillway");
  app.set_version_flag("--version", SPILLWAY_VERSION);
  spillway::LogOptions options;
  CLI::App* const log = app.add_subcommand("log");
  spillway::add_log_options(*log, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(log->parsed() ? spillway::log_help() : spillway::program_help());
  } catch (const CLI::CallForVersion&) {
    return print("spillway " SPILLWAY_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    return refuse(reason_of(error, app), log->parsed() ? "spillway log" : "spillway");
  }
  return log->parsed() ? run_log(options) : refuse("no command given", "spillway");
}

}  // namespace

int main(int argc, char** argv) {
  spillway::reserve_standard_files();
  // A reader of stdout that is gone is told by write(2).
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& error) {  // The last line of defence: memory ran out.
    spillway::say(error.what());
    return static_cast<int>(ExitCode::kError);
  }
}
