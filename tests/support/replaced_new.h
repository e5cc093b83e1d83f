// SPDX-License-Identifier: MIT
//
// Replaces a test program's operator new by one that asks `on_allocation` first. To be included by
// the one source file of the program, which defines that function.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace spillway::testing {

/// Called before each allocation, on the thread that wants it. False: it is to fail.
[[nodiscard]] bool on_allocation(std::size_t bytes);

}  // namespace spillway::testing

// The thread sanitizer insists on its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPILLWAY_UNLESS_TAKEN gnu::weak
#endif
#endif
#ifndef SPILLWAY_UNLESS_TAKEN
#define SPILLWAY_UNLESS_TAKEN gnu::noinline  // GCC would otherwise see a free() that fits no new.
#endif

[[SPILLWAY_UNLESS_TAKEN]] void* operator new(std::size_t bytes) {
  const bool is_granted = spillway::testing::on_allocation(bytes);
  void* const memory = is_granted ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;  // NOLINT
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

[[SPILLWAY_UNLESS_TAKEN]] void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT: it is the allocator.
}

[[SPILLWAY_UNLESS_TAKEN]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
