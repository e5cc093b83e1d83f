// SPDX-License-Identifier: MIT
//
// guarded: how the public calls keep their promise that no exception leaves them.
//
// The Status for the lack of memory is made beforehand: making one takes memory.
#pragma once

#include <spillway/status.h>

#include <utility>

namespace spillway {

/// Makes what status_of_exception needs. If there is no memory even for that, the process ends.
void prepare_exception_statuses() noexcept;

/// In a catch block: the kInternal that stands for the exception at hand. It says "out of memory"
/// for std::bad_alloc only, else what the exception says.
[[nodiscard]] Status status_of_exception(Execution execution) noexcept;

/// What `call` returns, or the Status that `execution` says more about if it throws. What `call`
/// returns must be made from a Status.
template <typename Call>
[[nodiscard]] auto guarded(Execution execution, Call&& call) noexcept -> decltype(call()) {
  prepare_exception_statuses();
  try {
    return std::forward<Call>(call)();
  } catch (...) {  // A Database or a Clock may be anybody's, and so may be what it throws.
    return status_of_exception(execution);
  }
}

}  // namespace spillway
