// SPDX-License-Identifier: MIT
//
// SIGTERM, SIGINT and SIGHUP as a request to finish.
#pragma once

#include <spillway/status.h>

namespace spillway {

/// From now on the first of these signals makes the returned file descriptor readable, for good,
/// and restores their default action: a second one ends the program at once. A signal that was
/// ignored at start (nohup, a shell's background job) stays so. For the whole process; call it
/// once. kInternal: the system has no more file descriptors.
[[nodiscard]] Result<int> install_stop_signals();

}  // namespace spillway
