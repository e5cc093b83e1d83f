// SPDX-License-Identifier: MIT
#include "cli/follower.h"

#include "base/time_text.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "sinks/wait_bounds.h"

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A local file costs nothing to look at. To D1, a look every 5 s is 60 of the 1,200 requests that
// an account has in 5 minutes.
constexpr milliseconds kFileInterval = seconds(1);
constexpr milliseconds kServerInterval = seconds(5);
constexpr milliseconds kDeepInterval = seconds(30);

bool helps_to_wait(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kStorageFull:
    case StatusCode::kAuth:    // Somebody replaces the token,
    case StatusCode::kConfig:  // or puts the file back,
    case StatusCode::kSchema:  // in which a writer will make the table: that is how logs rotate.
      return true;
    default:
      return may_work_later(code);
  }
}

// The wait that the server names, or twice the interval.
milliseconds pause_after(const Status& failure, milliseconds interval) {
  const bool is_rate_limited = failure.code() == StatusCode::kRateLimited;
  const milliseconds own = is_rate_limited ? kRateLimitPause : 2 * interval;
  return std::clamp(failure.retry_after().value_or(own), kRetryAfterMin, kRetryAfterMax);
}

}  // namespace

Follower::Follower(LogReader& reader, RowPrinter& printer, const StopWatcher& stop,
                   std::string floor, milliseconds interval)
    : reader_(reader),
      printer_(printer),
      stop_(stop),
      floor_(std::move(floor)),
      window_(floor_),
      interval_(interval) {}

bool Follower::show(std::vector<LogRow> rows) {
  std::erase_if(rows, [this](const LogRow& row) { return !window_.note(row.key); });
  return printer_.print(rows);
}

// Rows that are there before the list is made, and not in it because it is short, are not new. So
// they are noted, but only after the list: what comes in between is shown.
Status Follower::begin(const std::function<Status()>& list) {
  const WallTime now = Clock::system().wall_now();
  const LogWindow recent{.since = std::max(floor_, time_text(now - FollowWindow::kDeepOverlap)),
                         .until = {}};
  std::vector<LogKey> present;
  Status status = reader_.for_each_page(recent, LogOrder::kOldestFirst, LogReader::kPageRows,
                                        [&present](const LogPage& page) {
                                          for (const LogRow& row : page.rows) {
                                            present.push_back(row.key);
                                          }
                                          return true;
                                        });
  if (status.is_ok()) {
    status = list();
  }
  if (status.is_ok()) {
    for (const LogKey& key : present) {
      window_.note(key);
    }
    window_.looked_at(now);
  }
  return status;
}

Status Follower::look(milliseconds overlap) {
  const WallTime now = Clock::system().wall_now();
  Status status = reader_.for_each_page(
      {.since = window_.since(overlap), .until = {}}, LogOrder::kOldestFirst, LogReader::kPageRows,
      [this](LogPage page) { return show(std::move(page.rows)); });
  if (status.is_ok()) {
    window_.looked_at(now);
  }
  return status;
}

bool Follower::must_end() const noexcept {
  return stop_.token().stop_requested() || printer_.state() != Printed::kAll;
}

Status Follower::persist(const std::function<Status()>& step) {
  Status status = step();
  bool is_told = false;
  while (!status.is_ok() && helps_to_wait(status.code()) && !must_end()) {
    if (!is_told) {
      say(explained(status, Effect::kReads) + "; --follow keeps trying");
      is_told = true;
    }
    if (stop_.wait_for(pause_after(status, interval_))) {
      return {};
    }
    status = step();
  }
  if (is_told && status.is_ok()) {
    say("the database answers again");
  }
  return status;
}

void Follower::choose_interval() {
  if (interval_ == milliseconds(0)) {
    const auto traits = reader_.connect();
    const bool is_file = traits && traits->dialect == Dialect::kSqlite;
    interval_ = is_file ? kFileInterval : kServerInterval;
  }
}

ExitCode Follower::exit_code(const Status& status) const {
  if (printer_.state() == Printed::kFailed) {
    return ExitCode::kError;
  }
  // Cancelled: the reader of stdout left, or a signal came, while a page was waited for.
  if (status.is_ok() || status.code() == StatusCode::kCancelled || must_end()) {
    return ExitCode::kDone;
  }
  say(explained(status, Effect::kReads));
  return exit_code_of_statement(status);
}

ExitCode Follower::run(const std::function<Status()>& list) {
  choose_interval();
  Status status = persist([this, &list] { return begin(list); });
  milliseconds since_deep{0};
  while (status.is_ok() && !must_end()) {
    if (stop_.wait_for(interval_)) {
      return ExitCode::kDone;
    }
    since_deep += interval_;
    const bool is_deep = since_deep >= kDeepInterval;
    const milliseconds overlap = is_deep ? FollowWindow::kDeepOverlap : FollowWindow::kOverlap;
    since_deep = is_deep ? milliseconds(0) : since_deep;
    status = persist([this, overlap] { return look(overlap); });
  }
  return exit_code(status);
}

}  // namespace spillway
