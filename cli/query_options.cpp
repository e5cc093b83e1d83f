// SPDX-License-Identifier: MIT
#include "cli/query_options.h"

#include <CLI/CLI.hpp>

#include <utility>

namespace spillway {

namespace {

bool looks_like_option(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return text.size() > 1 && text[0] == '-' && (text[1] == '-' || is_letter(text[1]));
}

// As CLI11 gives them: what is no option. It would take "[1,2]" as an option's value for two.
void take_parameters(const std::vector<std::string>& rest, std::vector<std::string>& parameters) {
  for (const std::string& text : rest) {
    if (looks_like_option(text)) {
      throw CLI::ValidationError("unexpected argument '" + text + "'");
    }
    parameters.push_back(text);
  }
}

}  // namespace

void add_operands(QueryOptions& options, std::vector<std::string> operands) {
  for (std::string& operand : operands) {
    std::string& sql = options.sql;
    if (sql.empty()) {
      sql = std::move(operand);
    } else {
      options.parameters.push_back(std::move(operand));
    }
  }
}

// The options are explained in help.cpp.
void add_query_options(CLI::App& command, QueryOptions& options) {
  add_database(command, options.database);
  command.add_flag("--json", options.is_json);
  command.add_option("SQL", options.sql);
  command.allow_extras();
  command.parse_complete_callback(
      [&command, &options] { take_parameters(command.remaining(), options.parameters); });
}

}  // namespace spillway
