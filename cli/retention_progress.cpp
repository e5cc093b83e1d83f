// SPDX-License-Identifier: MIT
#include "cli/retention_progress.h"

#include "base/counted.h"
#include "cli/amount_text.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace spillway {
namespace {

constexpr std::chrono::milliseconds kBetweenLines(200);

// Of the way, from 0 to 1.
std::optional<double> share_of(const retention::Progress& progress) {
  if (!progress.reached || !progress.begin || !progress.end || *progress.end <= *progress.begin) {
    return std::nullopt;
  }
  const std::chrono::duration<double> whole = *progress.end - *progress.begin;
  return std::clamp((*progress.reached - *progress.begin) / whole, 0.0, 1.0);
}

// Without escape sequences: spaces go over what stood there.
void write_over(std::string text, std::size_t width) noexcept {
  text.resize(std::max(text.size(), width), ' ');
  text.insert(text.begin(), '\r');
  // Half a line is good enough, and the next one comes.
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace

std::string progress_text(const retention::Progress& progress) {
  std::string text = counted(progress.deleted, "row");
  const double seconds = std::chrono::duration<double>(progress.elapsed).count();
  if (seconds >= 1) {
    text += ", " + decimal_text(static_cast<double>(progress.deleted) / seconds, 0) + " rows/s";
  }
  const auto share = share_of(progress);
  if (!share) {
    return text;
  }
  text += ", " + decimal_text(*share * 100, 0) + " %";
  constexpr double kShareMin = 0.01;  // With less, the time left is a guess.
  if (seconds >= 1 && *share >= kShareMin) {
    const std::chrono::duration<double> left(seconds / *share * (1 - *share));
    text += ", " + length_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
  }
  return text;
}

ProgressLine::ProgressLine(bool is_wanted) noexcept
    : is_shown_(is_wanted && isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) {
    write_over("", width_);
    write_over("", 0);
  }
}

void ProgressLine::show(const retention::Progress& progress) {
  if (!is_shown_ || progress.elapsed < next_) {
    return;
  }
  const std::string text = progress_text(progress);
  write_over(text, width_);
  width_ = std::max(width_, text.size());
  next_ = progress.elapsed + kBetweenLines;
}

}  // namespace spillway
