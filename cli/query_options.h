// SPDX-License-Identifier: MIT
//
// QueryOptions: what `spillway d1 query` was told on its command line.
#pragma once

#include "cli/common_options.h"

#include <string>
#include <vector>

namespace spillway {

struct QueryOptions {
  DatabaseChoice database;
  std::string sql;  ///< Empty: not given, which is a usage error.
  std::vector<std::string> parameters;
  bool is_json = false;
};

/// As add_log_options.
void add_query_options(CLI::App& command, QueryOptions& options);

/// What stands behind `--`: SQL, if it was not given before, and parameters.
void add_operands(QueryOptions& options, std::vector<std::string> operands);

}  // namespace spillway
