// SPDX-License-Identifier: MIT
//
// The refusal of what a caller gave, before anything was asked of a database.
#pragma once

#include <spillway/status.h>

#include <string>
#include <utility>

namespace spillway {

[[nodiscard]] inline Status invalid_argument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

}  // namespace spillway
