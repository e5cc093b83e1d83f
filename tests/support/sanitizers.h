// SPDX-License-Identifier: MIT
//
// Whether this build has sanitizers, which take several times the time and memory: what a test says
// of either is said of the program that users run.
#pragma once

namespace spillway::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif
#else
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace spillway::testing
