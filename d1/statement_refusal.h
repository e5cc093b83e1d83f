// SPDX-License-Identifier: MIT
//
// What SqliteDatabase and D1Database refuse in the same words, before anything is run.
#pragma once

#include <spillway/status.h>

#include "base/counted.h"

#include <cstddef>
#include <string>

namespace spillway {

[[nodiscard]] inline Status wrong_value_count(std::size_t parameters, std::size_t values) {
  return {StatusCode::kInvalidArgument, "the statement has " + counted(parameters, "parameter") +
                                            ", but " + counted(values, "value") +
                                            (values == 1 ? " was given" : " were given")};
}

/// `number`: which value, from 1.
[[nodiscard]] inline Status not_finite(std::size_t number) {
  return {StatusCode::kInvalidArgument,
          "value " + std::to_string(number) + " is NaN or infinite, which a database cannot hold"};
}

[[nodiscard]] inline Status transaction_control_refused() {
  return {StatusCode::kInvalidArgument,
          "BEGIN, COMMIT, ROLLBACK and SAVEPOINT are not accepted: one call is one transaction"};
}

}  // namespace spillway
