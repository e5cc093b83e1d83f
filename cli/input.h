// SPDX-License-Identifier: MIT
//
// Reads a stream block by block until it ends or the program is asked to stop.
#pragma once

#include <spillway/status.h>

#include <functional>
#include <string_view>

namespace spillway {

/// Gives what can be read from `fd` to `on_block`, in order, and returns at the end of the stream.
///
/// When `stop_fd` becomes readable, what a pipe, socket or terminal holds at that moment is still
/// read, of a file nothing more. A descriptor in non-blocking mode is waited for. A failing read
/// gives kPermanent with the system's reason; what was read before has been handed on.
[[nodiscard]] Status read_blocks(int fd, int stop_fd,
                                 const std::function<void(std::string_view)>& on_block);

/// True if a read would not wait: there is something, or the end.
[[nodiscard]] bool is_readable_now(int fd) noexcept;

}  // namespace spillway
