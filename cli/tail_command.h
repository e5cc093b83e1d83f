// SPDX-License-Identifier: MIT
//
// `spillway tail`: shows the newest rows of a log table, of a window of time, and as they come.
#pragma once

#include "cli/exit_code.h"
#include "cli/tail_options.h"

namespace spillway {

/// Reads only: the database is opened so that nothing can be written.
[[nodiscard]] ExitCode run_tail(const TailOptions& options);

}  // namespace spillway
