// SPDX-License-Identifier: MIT
//
// LineSplitter: cuts a stream of bytes, fed in blocks of any size, into lines.
//
// A line ends at LF; one CR before it belongs to the end. A last line without LF counts, an empty
// line is a line, all other bytes are left as they are. Pure and for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace spillway {

class LineSplitter {
 public:
  /// The most of a line that is held in memory: the largest value a table takes. What follows is
  /// counted and let go, so that a file without line ends cannot fill the memory.
  static constexpr std::size_t kHeldBytesMax = 2'000'000;

  /// Takes the first kHeldBytesMax bytes of a line and the number of bytes that the whole line has.
  /// Both are without the line's end. The text is valid during the call only.
  using OnLine = std::function<void(std::string_view line, std::uint64_t line_bytes)>;

  /// Hands on every line that ends in `block`. A line that lies in it as a whole is not copied.
  void feed(std::string_view block, const OnLine& on_line);

  /// The stream has ended: hands on a last line without LF. A CR at its end is part of it.
  void finish(const OnLine& on_line);

 private:
  void hold(std::string_view piece);
  void end_held_line(const OnLine& on_line);

  std::string held_;              // The beginning of a line that has not ended yet.
  std::uint64_t line_bytes_ = 0;  // Its length so far, what is not held included.
  bool ends_with_cr_ = false;
};

}  // namespace spillway
