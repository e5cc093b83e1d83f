// SPDX-License-Identifier: MIT
//
// Which sanitizers this build has. They take several times the time and memory: what a test says of
// either is said of the program that users run.
#pragma once

namespace spillway::testing {

#if defined(__has_feature)
#define SPILLWAY_HAS_FEATURE(name) __has_feature(name)
#else
#define SPILLWAY_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SPILLWAY_HAS_FEATURE(address_sanitizer)
inline constexpr bool kHasAddressSanitizer = true;
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || SPILLWAY_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = kHasAddressSanitizer;
#endif

}  // namespace spillway::testing
