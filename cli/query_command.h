// SPDX-License-Identifier: MIT
//
// `spillway d1 query`: runs one statement and shows what it answers.
#pragma once

#include "cli/exit_code.h"
#include "cli/query_options.h"

namespace spillway {

/// The answer goes to stdout, what the statement did to stderr. Nothing is repeated.
[[nodiscard]] ExitCode run_query(const QueryOptions& options);

}  // namespace spillway
