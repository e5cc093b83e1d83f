// SPDX-License-Identifier: MIT
//
// The commands of `spillway-retention`.
#pragma once

#include "cli/retention_options.h"
#include "retention/end.h"

namespace spillway {

/// Reads the file of --config, opens the database, does what is asked for, and tells it: what was
/// done on stdout, in JSON also what failed; failures and warnings on stderr.
[[nodiscard]] retention::End run_retention(RetentionCommand command,
                                           const RetentionSettings& given);

}  // namespace spillway
