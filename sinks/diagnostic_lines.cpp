// SPDX-License-Identifier: MIT
#include "sinks/diagnostic_lines.h"

#include <iomanip>
#include <sstream>
#include <utility>

namespace spillway {
namespace {

constexpr std::chrono::seconds kInterval{5};

std::string seconds_text(std::chrono::nanoseconds duration) {
  std::ostringstream text;
  text << std::setprecision(3) << std::chrono::duration<double>(duration).count() << " s";
  return text.str();
}

}  // namespace

void DiagnosticLines::paused(std::chrono::nanoseconds pause, const Status& failure) {
  lines_.push_back("log writes paused for " + seconds_text(pause) + ": " + failure.to_string());
}

void DiagnosticLines::resumed(std::chrono::nanoseconds after) {
  lines_.push_back("log writes resumed after " + seconds_text(after));
}

void DiagnosticLines::resent(const Status& failure, SteadyTime now) {
  if (now >= next_resend_) {
    lines_.push_back("an attempt to write failed and is made again: " + failure.to_string());
    next_resend_ = now + kInterval;
  }
}

/// A database that refuses every row would otherwise write a line for each.
void DiagnosticLines::refused(std::int64_t seq, std::string_view why, SteadyTime now) {
  if (now < next_refusal_) {
    ++untold_refusals_;
    return;
  }
  std::string line = "the database refused the row with seq " + std::to_string(seq) + ": ";
  line.append(why);
  if (untold_refusals_ > 0) {
    line += " (and " + std::to_string(std::exchange(untold_refusals_, 0)) + " more before it)";
  }
  lines_.push_back(std::move(line));
  next_refusal_ = now + kInterval;
}

void DiagnosticLines::collided(const Inserted& inserted) {
  if (inserted.collisions == 0 || std::exchange(has_told_collisions_, true)) {
    return;
  }
  lines_.push_back(std::to_string(inserted.collisions) +
                   " rows are in the table with other contents than were sent (first: seq " +
                   std::to_string(inserted.collided_seq) +
                   "): a trigger changes rows, or another writer has the same key; told once");
}

void DiagnosticLines::closed_too_early(const Stats& left, const std::string& open_gaps) {
  lines_.push_back(
      "closed before all was in the table: " + std::to_string(sum(left.skipped_pending)) +
      " records lost" + open_gaps + ", " + std::to_string(left.in_doubt) + " in doubt");
}

std::vector<std::string> DiagnosticLines::take() { return std::exchange(lines_, {}); }

}  // namespace spillway
