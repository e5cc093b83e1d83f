// SPDX-License-Identifier: MIT
//
// `spillway log`: reads lines from stdin and persists them through the log pipeline.
#pragma once

#include "cli/exit_code.h"
#include "cli/log_options.h"

namespace spillway {

/// Runs until stdin ends or a signal asks to stop, and prints the closing line. Errors of the
/// configuration are told before anything is read.
[[nodiscard]] ExitCode run_log(const LogOptions& options);

}  // namespace spillway
