// SPDX-License-Identifier: MIT
//
// What a fuzzer stops at.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace spillway::fuzz {

/// Aborts if `holds` is false, which libFuzzer keeps the input of. `promise` says what was broken.
inline void require(bool holds, const char* promise) {
  if (!holds) {
    // Nothing can be done about a failed write on the way to abort.
    static_cast<void>(std::fprintf(stderr, "broken promise: %s\n", promise));
    std::abort();
  }
}

}  // namespace spillway::fuzz
