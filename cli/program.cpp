// SPDX-License-Identifier: MIT
#include "cli/program.h"

#include <CLI/CLI.hpp>

#include "cli/failure.h"
#include "cli/output.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

namespace spillway {

int run_program(const char* name, const std::function<int()>& run) {
  set_program_name(name);
  reserve_standard_files();
  // A reader of stdout that is gone is told by write(2).
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // So is a file that grew to the limit that was set for it.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  try {
    return run();
  } catch (const std::bad_alloc&) {  // There may be no memory for a text of our own.
    say_out_of_memory();
  } catch (const std::exception& error) {  // The last line of defence.
    say(error.what());
  }
  return static_cast<int>(ExitCode::kError);
}

std::vector<std::string> arguments_of(int argc, char** argv) {
  return {argv + std::min(argc, 1), argv + argc};
}

bool takes_value(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  return option != nullptr && !option->get_positional() && option->get_items_expected_max() > 0;
}

std::string reason_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return "unexpected argument '" + app.remaining(true).at(0) + "'";
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    const bool is_repeated = text.find("received") != std::string::npos;
    return text.substr(0, text.find(':')) + (is_repeated ? " is given twice" : " has no value");
  }
  return text;
}

ExitCode refuse_usage(const std::string& why, const std::string& command) {
  return refuse(ExitCode::kUsage, why + "; see " + command + " --help");
}

ExitCode print_text(const std::string& text) {
  return write_out(text) ? ExitCode::kDone : ExitCode::kError;
}

}  // namespace spillway
