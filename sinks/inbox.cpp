// SPDX-License-Identifier: MIT
#include "sinks/inbox.h"

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

// What is cut off here would not fit into a row anyway; it is not worth copying.
constexpr std::size_t kMessageBytesMax = 2'000'000;

// The start counts as a success, so that a file piped in whole is not shed before the first write
// was possible.
constexpr std::chrono::seconds kStartGrace{1};

/// The inbox that this thread works for or is inside of. A call into the same one (a diagnostic
/// callback, a Database or an allocator that logs) would feed on itself, or lock twice.
struct Entered {
  const Inbox* inbox = nullptr;
  bool is_call = false;
};
thread_local Entered entered;

class Entry {
 public:
  explicit Entry(const Inbox* inbox) noexcept : before_(std::exchange(entered, {inbox, true})) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() { entered = before_; }

 private:
  const Entered before_;
};

bool has_shed(const Mail& mail) noexcept {
  return sum(mail.shed.by_level) + sum(mail.overrun.by_level) != 0;
}

/// More records of these times that were not taken.
void add(RecordsShed& shed, std::size_t level, std::uint64_t records, WallTime from,
         WallTime to) noexcept {
  const bool is_first = sum(shed.by_level) == 0;
  shed.from = is_first ? from : std::min(shed.from, from);
  shed.to = is_first ? to : std::max(shed.to, to);
  shed.by_level[level] += records;
}

RecordView bounded(RecordView record) noexcept {
  if (record.message.size() > kMessageBytesMax) {
    record.message_bytes = std::max<std::uint64_t>(record.message_bytes, record.message.size());
    record.message = record.message.substr(0, kMessageBytesMax);
  }
  return record;
}

}  // namespace

Inbox::Inbox(const InboxOptions& options, const Clock& clock)
    : options_(options), clock_(clock), worth_waiting_until_(clock.steady_now() + kStartGrace) {}

/// False when there is no memory: the record is lost and counted, and the application goes on.
bool Inbox::push(const RecordView& record) noexcept {
  try {
    mail_.records.push(record);
    return true;
  } catch (...) {
    return false;
  }
}

bool Inbox::put_in(const RecordView& taken) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_closed_) {
    ++after_close_;
    return false;
  }
  const bool is_taken = has_room(taken) && push(taken);
  if (!is_taken) {
    add(mail_.shed, static_cast<std::size_t>(taken.level), 1, taken.time, taken.time);
  }
  wake_if_needed();
  return is_taken;
}

bool Inbox::accept(const RecordView& record) noexcept {
  if (is_own_thread()) {
    ++reentrant_;
    return false;
  }
  const Entry entry(this);
  return record.message.size() > kMessageBytesMax ? put_in(bounded(record)) : put_in(record);
}

void Inbox::wait_for_room(const RecordView& record) noexcept {
  constexpr std::chrono::milliseconds kLookAgain{100};
  const RecordView offered = bounded(record);
  const bool can_ever_fit =
      admits(offered.level, RecordQueue::bytes_of(offered), {}, options_.limit);
  std::unique_lock lock(mutex_);
  while (can_ever_fit && !is_closed_ && !has_room(offered)) {
    const SteadyTime now = clock_.steady_now();
    if (now >= worth_waiting_until_) {
      return;
    }
    ++waiting_for_room_;
    room_.wait_for(lock,
                   std::min<std::chrono::nanoseconds>(worth_waiting_until_ - now, kLookAgain));
    --waiting_for_room_;
  }
}

bool Inbox::is_worth_waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return !is_closed_ && clock_.steady_now() < worth_waiting_until_;
}

void Inbox::count_lost(std::uint64_t records, WallTime from, WallTime to) noexcept {
  if (is_own_thread()) {
    reentrant_ += records;
    return;
  }
  const Entry entry(this);
  const std::lock_guard lock(mutex_);
  if (is_closed_) {
    after_close_ += records;
    return;
  }
  add(mail_.overrun, kUnknownLevel, records, from, to);
  wake_if_needed();
}

void Inbox::own_this_thread() noexcept { entered = {this, false}; }

bool Inbox::is_own_thread() const noexcept { return entered.inbox == this; }

void Inbox::answer(SendDone answer) {
  const std::lock_guard lock(mutex_);
  mail_.answer = std::move(answer);
  attention_.notify_one();
}

std::uint64_t Inbox::request_flush() {
  const std::lock_guard lock(mutex_);
  attention_.notify_one();
  return ++mail_.flush_requests;
}

void Inbox::request_close(SteadyTime deadline) {
  if (is_own_thread() && entered.is_call) {  // The mutex is this thread's already.
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!is_closed_ || deadline < close_deadline_) {
    is_closed_ = true;
    close_deadline_ = deadline;
    mail_.close_deadline = deadline;
    attention_.notify_one();
    room_.notify_all();
  }
}

Mail Inbox::wait(std::optional<SteadyTime> wake_at) {
  std::unique_lock lock(mutex_);
  const std::optional<SteadyTime> until = earliest_wake(wake_at);
  while (!deserves_attention()) {
    const SteadyTime now = clock_.steady_now();
    if (until && now >= *until) {
      break;
    }
    is_intake_waiting_ = true;
    if (until) {
      attention_.wait_for(lock, *until - now);
    } else {
      attention_.wait(lock);
    }
    is_intake_waiting_ = false;
  }
  Mail taken = std::exchange(mail_, {});
  mail_.flush_requests = taken.flush_requests;
  flush_requests_taken_ = taken.flush_requests;
  is_idle_ = taken.records.is_empty() && !has_shed(taken);
  // Until the intake thread says otherwise, what it took is still there.
  downstream_.bytes += taken.records.bytes();
  downstream_.records += taken.records.records();
  return taken;
}

void Inbox::set_downstream(QueueFill fill, SteadyTime worth_waiting_until) {
  const std::lock_guard lock(mutex_);
  downstream_ = fill;
  worth_waiting_until_ = worth_waiting_until;
  if (waiting_for_room_ > 0) {
    room_.notify_all();
  }
}

QueueFill Inbox::fill() const noexcept {
  return {.bytes = downstream_.bytes + mail_.records.bytes(),
          .records = downstream_.records + mail_.records.records()};
}

bool Inbox::has_room(const RecordView& record) const noexcept {
  return admits(record.level, RecordQueue::bytes_of(record), fill(), options_.limit);
}

/// After records were taken the intake thread looks again by itself, so that a stream of them does
/// not wake it one by one.
std::optional<SteadyTime> Inbox::earliest_wake(std::optional<SteadyTime> wake_at) const {
  if (is_idle_) {
    return wake_at;
  }
  const SteadyTime look_again = clock_.steady_now() + options_.collect_max;
  return wake_at ? std::min(*wake_at, look_again) : look_again;
}

bool Inbox::deserves_attention() const noexcept {
  const bool has_request =
      mail_.answer || mail_.close_deadline || mail_.flush_requests != flush_requests_taken_;
  return has_request || mail_.records.errors() > 0 ||
         mail_.records.records() >= options_.wake_records ||
         mail_.records.bytes() >= options_.wake_bytes ||
         (is_idle_ && (has_shed(mail_) || !mail_.records.is_empty()));
}

void Inbox::wake_if_needed() noexcept {
  if (is_intake_waiting_ && deserves_attention()) {
    is_intake_waiting_ = false;  // One notification is enough.
    attention_.notify_one();
  }
}

}  // namespace spillway
