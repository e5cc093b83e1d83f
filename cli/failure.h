// SPDX-License-Identifier: MIT
//
// What a command says and answers when the database fails it.
#pragma once

#include <spillway/status.h>

#include "cli/exit_code.h"

#include <cstdint>
#include <string>

namespace spillway {

/// What a statement can do to the database.
enum class Effect : std::uint8_t { kReads, kMayWrite };

/// The failure's message and, by its class, the way out. Nobody is told to repeat what may write
/// and may have been executed.
[[nodiscard]] std::string explained(const Status& failure, Effect effect = Effect::kMayWrite);

/// Says it, and gives the code to end with.
[[nodiscard]] ExitCode refuse(ExitCode code, const std::string& why);

/// True for a class of failure that passes by itself.
[[nodiscard]] bool may_work_later(StatusCode code) noexcept;

/// For a failure to open: what waiting cannot mend is kUsage.
[[nodiscard]] ExitCode exit_code_of_open(const Status& failure) noexcept;

/// For a failed statement: kUnavailable where the same may work later. What a server answers is
/// never kUsage; only what the caller passed can be.
[[nodiscard]] ExitCode exit_code_of_statement(const Status& failure) noexcept;

}  // namespace spillway
