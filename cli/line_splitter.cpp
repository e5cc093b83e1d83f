// SPDX-License-Identifier: MIT
#include "cli/line_splitter.h"

#include <algorithm>

namespace spillway {
namespace {

// `bytes` counts the CR, if there is one, that belongs to the line's end.
void hand_on(std::string_view held, std::uint64_t bytes, bool ends_with_cr,
             const LineSplitter::OnLine& on_line) {
  const std::uint64_t line_bytes = bytes - (ends_with_cr ? 1 : 0);
  const auto kept = std::min<std::uint64_t>(line_bytes, LineSplitter::kHeldBytesMax);
  on_line(held.substr(0, static_cast<std::size_t>(kept)), line_bytes);
}

}  // namespace

void LineSplitter::feed(std::string_view block, const OnLine& on_line) {
  while (!block.empty()) {
    const std::size_t end = block.find('\n');
    const std::string_view piece = block.substr(0, end);
    if (end == std::string_view::npos) {
      hold(piece);
      return;
    }
    if (line_bytes_ == 0) {
      hand_on(piece, piece.size(), piece.ends_with('\r'), on_line);
    } else {
      hold(piece);
      end_held_line(on_line);
    }
    block.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const OnLine& on_line) {
  if (line_bytes_ > 0) {
    ends_with_cr_ = false;
    end_held_line(on_line);
  }
}

void LineSplitter::hold(std::string_view piece) {
  if (piece.empty()) {
    return;
  }
  held_.append(piece.substr(0, kHeldBytesMax - held_.size()));
  line_bytes_ += piece.size();
  ends_with_cr_ = piece.back() == '\r';
}

void LineSplitter::end_held_line(const OnLine& on_line) {
  hand_on(held_, line_bytes_, ends_with_cr_, on_line);
  held_.clear();
  line_bytes_ = 0;
  ends_with_cr_ = false;
}

}  // namespace spillway
