// SPDX-License-Identifier: MIT
//
// What a Database gives is counted before it is used: it may be anybody's, and an answer that came
// over a network can be short.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <span>
#include <vector>

namespace spillway {

/// kLost: the answer is not what the statements ask for.
[[nodiscard]] Status does_not_fit();

/// As Database::execute, and does_not_fit() where there are not as many results as statements.
[[nodiscard]] Result<std::vector<StatementResult>> execute_all(
    Database& database, std::span<const Statement> statements, const ExecuteOptions& options);

}  // namespace spillway
