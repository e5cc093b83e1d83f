// SPDX-License-Identifier: MIT
#include "sinks/pipeline_core.h"

#include "base/random.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace spillway {
namespace {

using std::chrono::milliseconds;

// A failure that is likely to be over soon is tried again 4 times within about 3 s before writes
// pause.
constexpr int kResendsMax = 4;
constexpr milliseconds kFirstResendDelay{200};

/// 0.2, 0.4, 0.8, 1.6 s, each 80 to 120 %, so that many writers do not come back together.
std::chrono::nanoseconds resend_delay(int resends, std::uint64_t& random_state) {
  const double factor = 0.8 + 0.4 * next_unit_random(random_state);
  const std::chrono::duration<double, std::milli> delay =
      kFirstResendDelay * (1 << resends) * factor;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(delay);
}

std::size_t row_bytes(const Record& row) noexcept {
  constexpr std::size_t kOtherColumns = 48;  // Time text, writer, seq and level.
  return row.context.size() + row.message.size() + row.fields.size() + kOtherColumns;
}

Extent extent_of(const Batch& batch) noexcept {
  Extent extent{.rows = batch.rows->size()};
  for (const Record& row : *batch.rows) {
    extent.bytes += row_bytes(row);
  }
  return extent;
}

/// An attempt that ended like this was most likely ended by its deadline. A bit less, for timers
/// count in milliseconds.
bool is_time_out(SteadyTime since, SteadyTime deadline, SteadyTime now) noexcept {
  constexpr int kPart = 20;
  return now >= deadline - (deadline - since) / kPart;
}

/// The earlier of two times, either of which may be never.
std::optional<SteadyTime> earlier(std::optional<SteadyTime> a, std::optional<SteadyTime> b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return std::min(*a, *b);
}

}  // namespace

PipelineCore::PipelineCore(const CoreOptions& options)
    : options_(options),
      gaps_(seqs_),
      gate_(options.overload),
      batch_size_({options.batch_rows_max, options.batch_bytes_max.value_or(kBatchBytes)}),
      random_state_(options.seed) {
  // Until the database has told its own, the first attempt, alone in flight, needs no limit.
  bucket_.set_rate(options.request_rate.value_or(RequestRate{}));
}

Actions PipelineCore::step(Event event, SteadyTime now) {
  std::visit([this, now](auto& each) { take(each, now); }, event);
  Actions actions;
  if (!is_done_) {
    if (gate_.is_paused(now)) {
      decide_arrivals_in_pause(now);
    }
    actions.send = choose_send(now);
    finish_closing(now, actions);
    actions.wake_at = next_wake(now);
  }
  actions.is_done = is_done_;
  actions.diagnostics = diagnostics_.take();
  return actions;
}

// Events.

void PipelineCore::take(RecordsArrived& event, SteadyTime now) {
  const std::int64_t first_seq = seqs_.next;
  seqs_.next += static_cast<std::int64_t>(event.records.records());
  queue_.arrive(std::move(event.records), first_seq, now);
}

void PipelineCore::take(RecordsShed& event, SteadyTime now) {
  const auto count = static_cast<std::int64_t>(sum(event.by_level));
  if (count == 0) {
    return;
  }
  const SkippedRecords shed{.by_level = event.by_level,
                            .from = event.from,
                            .to = event.to,
                            .first_seq = seqs_.next,
                            .last_seq = seqs_.next + count - 1};
  seqs_.next += count;
  gaps_.skip(event.reason, shed, now);
}

void PipelineCore::take(SendDone& event, SteadyTime now) {
  if (!in_flight_) {
    return;  // An attempt that was given up has ended after all.
  }
  if (!event.database.empty()) {
    database_ = std::move(event.database);
  }
  if (event.traits) {
    adapt_to(*event.traits);
  }
  bucket_.take(event.requests, now);
  Batch batch = *std::exchange(in_flight_, std::nullopt);
  has_failed_ = event.is_interrupted ? has_failed_ : !event.status.is_ok();
  if (event.status.is_ok()) {
    on_inserted(batch, event.inserted, now);
  } else if (note_doubt(batch, event.status); event.is_interrupted) {
    pending_.push_front(std::move(batch));
    // It has not had its attempt.
    gate_.give_back_slot(now);
    may_try_pending_ = may_try_pending_ || close_deadline_;
  } else {
    on_failed(std::move(batch), event.status, now);
  }
  if (pending_.empty()) {
    batch_size_.on_settled();
  }
}

void PipelineCore::take(CloseRequested& event, SteadyTime) {
  if (!close_deadline_) {
    may_try_pending_ = true;
    may_try_gaps_ = true;
  }
  close_deadline_ = earlier(close_deadline_, event.deadline);
}

// What an answer means.

void PipelineCore::adapt_to(const DatabaseTraits& database) {
  bucket_.set_rate(options_.request_rate.value_or(database.rate));
  const bool is_d1 = database.dialect == Dialect::kD1;
  batch_size_.set_bytes_max(options_.batch_bytes_max.value_or(is_d1 ? kBatchBytesD1 : kBatchBytes));
}

void PipelineCore::on_inserted(const Batch& batch, const Inserted& inserted, SteadyTime now) {
  settle_rows(batch, inserted.missing, now);
  collisions_ += static_cast<std::uint64_t>(inserted.collisions);
  diagnostics_.collided(inserted);
  batch_size_.on_stored(extent_of(batch));
  resends_ = 0;
  resend_at_ = SteadyTime::min();
  last_success_ = std::max(now, bucket_.available_at(TokenBucket::Share::kAllButLast));
  if (paused_since_ && !gate_.is_paused(now)) {
    diagnostics_.resumed(now - *paused_since_);
    paused_since_.reset();
  }
}

/// Each row is stored, but for those that a trigger has kept out.
void PipelineCore::settle_rows(const Batch& batch, std::vector<std::int64_t> missing,
                               SteadyTime now) {
  std::sort(missing.begin(), missing.end());
  for (std::size_t i = 0; i < batch.rows->size(); ++i) {
    if (std::binary_search(missing.begin(), missing.end(), (*batch.rows)[i].seq)) {
      refuse(batch, i, "it is not in the table after its insert: a trigger keeps rows out", now);
    } else if (i < batch.gaps.size()) {
      gaps_.stored(batch.gaps[i]);
      ++own_;
    } else {
      ++stored_;
    }
  }
}

void PipelineCore::note_doubt(Batch& batch, const Status& failure) {
  if (failure.execution() == Execution::kMaybe && !batch.is_in_doubt) {
    batch.is_in_doubt = true;
    for (const Gap& gap : batch.gaps) {
      gaps_.in_doubt(gap);
    }
  }
}

void PipelineCore::on_failed(Batch batch, const Status& failure, SteadyTime now) {
  const PauseRule rule = rule_of(batch, failure);
  gate_.be_quiet(rule.quiet, now);
  if (rule.remedy == Remedy::kSplit) {
    split_or_refuse(batch, failure, now);
    return;
  }
  const bool is_held = batch.is_in_doubt || batch.has_error();
  const bool is_too_slow = batch.is_in_doubt && batch.rows->size() > 1 && !close_deadline_ &&
                           BatchSize::is_large(extent_of(batch)) &&
                           is_time_out(in_flight_since_, in_flight_deadline_, now);
  if (is_too_slow) {  // Over a slow line it would never arrive in time.
    batch_size_.on_too_big(extent_of(batch));
    halve(batch);
  } else {
    pending_.push_front(std::move(batch));
  }
  const bool asked_for_quiet = rule.quiet.count() > 0;
  if (rule.remedy == Remedy::kResend && !asked_for_quiet && !gate_.is_paused(now) &&
      resends_ < kResendsMax) {
    resend_at_ = now + resend_delay(resends_++, random_state_);
    diagnostics_.resent(failure, now);
    return;
  }
  begin_pause(rule, failure, is_held, now);
  let_go_of_pending(gate_.reason(), Errors::kHoldOldest, now);
}

/// That a small batch is too big is said by a database in trouble, which may have stored it: as if
/// the answer were lost.
PauseRule PipelineCore::rule_of(const Batch& batch, const Status& failure) const {
  const bool is_trouble = failure.code() == StatusCode::kTooBig &&
                          failure.execution() == Execution::kMaybe &&
                          !BatchSize::is_large(extent_of(batch));
  return rule_for(is_trouble ? failure.with_code(StatusCode::kLost) : failure, options_.overload);
}

void PipelineCore::halve(const Batch& batch) {
  auto [first, second] = batch.halves();
  pending_.push_front(std::move(second));
  pending_.push_front(std::move(first));
}

void PipelineCore::split_or_refuse(const Batch& batch, const Status& failure, SteadyTime now) {
  resends_ = 0;
  if (batch.rows->size() == 1) {
    refuse(batch, 0, failure.to_string(), now);
    return;
  }
  if (failure.code() == StatusCode::kTooBig) {
    batch_size_.on_too_big(extent_of(batch));
  }
  halve(batch);
}

void PipelineCore::refuse(const Batch& batch, std::size_t index, std::string_view why,
                          SteadyTime now) {
  const Record& row = (*batch.rows)[index];
  if (index < batch.gaps.size()) {
    // To count it as a gap of its own would be refused again, for ever.
    gaps_.refused(batch.gaps[index]);
  } else {
    skip(GapReason::kRefused, row.level, row.time, row.seq, now);
  }
  diagnostics_.refused(row.seq, why, now);
}

void PipelineCore::begin_pause(const PauseRule& rule, const Status& failure, bool is_held,
                               SteadyTime now) {
  if (!gate_.pause(rule, is_held, now)) {
    return;
  }
  ++pauses_;
  if (!paused_since_) {
    paused_since_ = now;
  }
  diagnostics_.paused(rule.pause, failure);
}

/// Batches in doubt are kept. The rows of the others are skipped, except the oldest ERROR if it is
/// to be held and nothing else is.
void PipelineCore::let_go_of_pending(GapReason reason, Errors errors, SteadyTime now) {
  resends_ = 0;
  resend_at_ = SteadyTime::min();
  std::deque<Batch> held;
  for (Batch& batch : std::exchange(pending_, {})) {
    if (batch.is_in_doubt) {
      held.push_back(std::move(batch));
    } else if (auto error =
                   skip_rows(batch, reason, held.empty() ? errors : Errors::kSkipAll, now)) {
      held.push_back(*std::move(error));
    }
  }
  pending_ = std::move(held);
}

/// Gives the oldest ERROR as a batch of its own, if it is to be held and there is one.
std::optional<Batch> PipelineCore::skip_rows(const Batch& batch, GapReason reason, Errors errors,
                                             SteadyTime now) {
  std::optional<Batch> held;
  for (const Gap& gap : batch.gaps) {
    gaps_.reopen(gap);
  }
  for (std::size_t i = batch.gaps.size(); i < batch.rows->size(); ++i) {
    const Record& row = (*batch.rows)[i];
    if (errors == Errors::kHoldOldest && !held && row.level >= Level::kError) {
      held = Batch{.rows = std::make_shared<const std::vector<Record>>(1, row)};
    } else {
      skip(reason, row.level, row.time, row.seq, now);
    }
  }
  return held;
}

// Skipping.

void PipelineCore::skip(GapReason reason, Level level, WallTime time, std::int64_t seq,
                        SteadyTime now) {
  gaps_.skip(reason, SkippedRecords::one(level, time, seq), now);
}

void PipelineCore::skip_front(GapReason reason, SteadyTime now) {
  const RecordView record = queue_.front();
  skip(reason, record.level, record.time, queue_.front_seq(), now);
  queue_.pop();
}

/// In a pause nothing waits: an ERROR takes the slot if there is one, everything else is skipped.
void PipelineCore::decide_arrivals_in_pause(SteadyTime now) {
  while (!queue_.is_empty()) {
    const RecordView record = queue_.front();
    const bool takes_slot =
        record.level >= Level::kError && !in_flight_ && pending_.empty() && gate_.has_slot(now);
    if (!takes_slot) {
      skip_front(gate_.reason(), now);
      continue;
    }
    std::vector<Record> row{make_record(record, queue_.front_seq())};
    pending_.push_back({.rows = std::make_shared<const std::vector<Record>>(std::move(row))});
    queue_.pop();
  }
}

// Sending.

std::optional<Send> PipelineCore::choose_send(SteadyTime now) {
  const bool is_too_late = close_deadline_ && now >= *close_deadline_;
  if (in_flight_ || is_too_late || now < may_send_at()) {
    return std::nullopt;
  }
  return gate_.is_paused(now) ? choose_send_in_pause(now) : choose_send_when_open(now);
}

/// Before that nothing goes, whatever it is.
SteadyTime PipelineCore::may_send_at() const noexcept {
  const bool may_take_last = close_deadline_ || tells_of_error_next();
  const auto share = may_take_last ? TokenBucket::Share::kAll : TokenBucket::Share::kAllButLast;
  return std::max(gate_.quiet_until(), bucket_.available_at(share));
}

bool PipelineCore::tells_of_error_next() const noexcept {
  return pending_.empty() ? queue_.records().errors() > 0 || gaps_.has_open_error()
                          : pending_.front().tells_of_error();
}

std::optional<Send> PipelineCore::choose_send_in_pause(SteadyTime now) {
  if (!pending_.empty() && (gate_.has_slot(now) || may_try_pending_)) {
    may_try_pending_ = false;
    return send_pending(now);
  }
  if (may_try_gaps_ && gaps_.due_at(gap_age())) {
    may_try_gaps_ = false;
    return send(build_batch(now), now);
  }
  return std::nullopt;
}

std::optional<Send> PipelineCore::choose_send_when_open(SteadyTime now) {
  if (!pending_.empty()) {
    return now >= resend_at_ ? send_pending(now) : std::nullopt;
  }
  const std::optional<SteadyTime> due = batch_due_at(now);
  return due && *due <= now ? send(build_batch(now), now) : std::nullopt;
}

std::optional<Send> PipelineCore::send_pending(SteadyTime now) {
  Batch batch = std::move(pending_.front());
  pending_.pop_front();
  return send(std::move(batch), now);
}

std::optional<Send> PipelineCore::send(Batch batch, SteadyTime now) {
  gate_.on_attempt(now, batch.is_in_doubt || batch.has_error());
  ++attempts_;
  in_flight_ = std::move(batch);
  const SteadyTime deadline = now + options_.attempt_timeout;
  in_flight_since_ = now;
  in_flight_deadline_ = close_deadline_ ? std::min(deadline, *close_deadline_) : deadline;
  return Send{
      .rows = in_flight_->rows, .deadline = in_flight_deadline_, .lock_wait = lock_wait(now)};
}

LockWait PipelineCore::lock_wait(SteadyTime now) const noexcept {
  if (close_deadline_) {
    return LockWait::kUntilDeadline;
  }
  return gate_.is_paused(now) ? LockWait::kNone : LockWait::kUsual;
}

Batch PipelineCore::build_batch(SteadyTime now) {
  Batch batch;
  batch.gaps = gaps_.seal(now, gap_age());
  std::vector<Record> rows;
  rows.reserve(std::min(batch.gaps.size() + queue_.records().records(), batch_size_.max().rows));
  for (const Gap& gap : batch.gaps) {
    rows.push_back(make_gap_record(gap, database_));
  }
  fill_from_queue(rows);
  batch.rows = std::make_shared<const std::vector<Record>>(std::move(rows));
  return batch;
}

void PipelineCore::fill_from_queue(std::vector<Record>& rows) {
  const Extent max = batch_size_.max();
  std::size_t bytes = 0;
  while (!queue_.is_empty() && rows.size() < max.rows) {
    Record row = make_record(queue_.front(), queue_.front_seq());
    bytes += row_bytes(row);
    if (!rows.empty() && bytes > max.bytes) {
      return;
    }
    rows.push_back(std::move(row));
    queue_.pop();
  }
}

bool PipelineCore::is_batch_full() const noexcept {
  const Extent max = batch_size_.max();
  return queue_.records().records() >= max.rows || queue_.records().bytes() >= max.bytes;
}

bool PipelineCore::is_urgent() const noexcept {
  const auto is_flushed = [this](std::int64_t seq) { return seq <= flush_through_; };
  const std::optional<std::int64_t> first_gap = gaps_.first_open_seq();
  return close_deadline_ || (!queue_.is_empty() && is_flushed(queue_.front_seq())) ||
         (first_gap && is_flushed(*first_gap));
}

milliseconds PipelineCore::gap_age() const noexcept {
  return is_urgent() ? milliseconds(0) : options_.batch_age_max;
}

std::optional<SteadyTime> PipelineCore::batch_due_at(SteadyTime now) const {
  const std::optional<SteadyTime> gap = gaps_.due_at(gap_age());
  if (queue_.is_empty()) {
    return gap;
  }
  const bool is_due = is_batch_full() || queue_.records().errors() > 0 || is_urgent();
  return earlier(gap, is_due ? now : queue_.front_arrived_at() + options_.batch_age_max);
}

// Waiting and closing.

/// When choose_send could next find something, if nothing arrives before.
std::optional<SteadyTime> PipelineCore::next_opportunity(SteadyTime now) const {
  const std::optional<SteadyTime> next = gate_.is_paused(now) ? next_opportunity_in_pause(now)
                                         : pending_.empty()   ? batch_due_at(now)
                                                              : std::max(resend_at_, now);
  return next ? std::max(*next, may_send_at()) : next;
}

std::optional<SteadyTime> PipelineCore::next_opportunity_in_pause(SteadyTime now) const {
  const bool has_pending = !pending_.empty();
  const bool has_gaps = gaps_.due_at(gap_age()).has_value();
  if (!has_pending && !has_gaps) {
    return std::nullopt;
  }
  if ((has_pending && may_try_pending_) || (has_gaps && may_try_gaps_)) {
    return now;
  }
  return earlier(gate_.paused_until(), has_pending ? gate_.slot_at() : std::nullopt);
}

std::optional<SteadyTime> PipelineCore::next_wake(SteadyTime now) const {
  const bool is_past_deadline = close_deadline_ && now >= *close_deadline_;
  if (is_done_ || is_past_deadline) {  // All that is still expected is an answer.
    return std::nullopt;
  }
  return earlier(close_deadline_, in_flight_ ? std::nullopt : next_opportunity(now));
}

void PipelineCore::finish_closing(SteadyTime now, Actions& actions) {
  if (!close_deadline_) {
    return;
  }
  if (in_flight_) {
    actions.cancel_send = now >= *close_deadline_;
    return;
  }
  const std::optional<SteadyTime> next = next_opportunity(now);
  if (now >= *close_deadline_ || !next || *next >= *close_deadline_) {
    give_up(now);
  }
}

/// Nothing more can be done: what is left is counted and told.
void PipelineCore::give_up(SteadyTime now) {
  while (!queue_.is_empty()) {
    skip_front(GapReason::kClosed, now);
  }
  let_go_of_pending(GapReason::kClosed, Errors::kSkipAll, now);
  is_done_ = true;
  if (const Stats left = stats(); !left.is_complete) {
    diagnostics_.closed_too_early(left, gaps_.describe_open(database_));
  }
}

// The account.

Stats PipelineCore::stats() const {
  Stats stats;
  stats.issued = static_cast<std::uint64_t>(last_seq() - seqs_.for_gaps);
  stats.stored = stored_;
  stats.queued = queue_.records().records();
  for (const Batch& batch : pending_) {
    (batch.is_in_doubt ? stats.in_doubt : stats.queued) += batch.records();
  }
  if (in_flight_) {
    (in_flight_->is_in_doubt ? stats.in_doubt : stats.in_flight) += in_flight_->records();
  }
  stats.skipped_reported = gaps_.reported();
  for (std::size_t level = 0; level < stats.skipped_pending.size(); ++level) {
    stats.skipped_pending[level] = gaps_.skipped()[level] - gaps_.reported()[level];
  }
  stats.own = own_;
  stats.pauses = pauses_;
  stats.attempts = attempts_;
  stats.collisions = collisions_;
  stats.is_complete = stats.undecided() == 0 && sum(stats.skipped_pending) == 0;
  assert(stats.issued == stats.stored + stats.undecided() + stats.skipped());
  return stats;
}

std::int64_t PipelineCore::settled_through() const {
  std::int64_t first_open = seqs_.next;
  const auto consider = [&first_open](std::int64_t seq) { first_open = std::min(first_open, seq); };
  if (!queue_.is_empty()) {
    consider(queue_.front_seq());
  }
  if (in_flight_) {
    consider(in_flight_->first_seq());
  }
  for (const Batch& batch : pending_) {
    consider(batch.first_seq());
  }
  if (const auto gap = gaps_.first_open_seq()) {
    consider(*gap);
  }
  return first_open - 1;
}

}  // namespace spillway
