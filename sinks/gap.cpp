// SPDX-License-Identifier: MIT
#include "sinks/gap.h"

#include "base/json_writer.h"
#include "base/time_text.h"
#include "sinks/level_counts.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace spillway {
namespace {

void add(LevelCounts& to, const LevelCounts& counts) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] += counts[i];
  }
}

bool is_pause(GapReason reason) noexcept { return reason < GapReason::kQueueFull; }

/// Of a flood, which comes and goes.
bool waits_for_more(GapReason reason) noexcept {
  return reason == GapReason::kQueueFull || reason == GapReason::kOverrun;
}

std::string gap_cause(GapReason reason, std::string_view database) {
  switch (reason) {
    case GapReason::kQueueFull:
      return "Log queue was full";
    case GapReason::kOverrun:
      return "Async logger's queue overran";
    case GapReason::kRefused:
      return "Database refused rows";
    default:
      return "Log persistence paused while " + describe_pause(reason, database);
  }
}

std::string gap_message(GapReason reason, std::string_view database, std::uint64_t total) {
  return gap_cause(reason, database) + ", " + std::to_string(total) + " skipped";
}

std::string gap_fields(const Gap& gap) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kind").value("gap").key("reason").value(to_string(gap.reason));
  json.key("from").value(time_text(gap.skipped.from)).key("to").value(time_text(gap.skipped.to));
  json.key("total").value(sum(gap.skipped.by_level));
  json.key("skipped");
  write_level_counts(json, gap.skipped.by_level);
  json.key("first_seq").value(gap.skipped.first_seq).key("last_seq").value(gap.skipped.last_seq);
  json.end_object();
  return text;
}

std::string describe_loss(GapReason reason, std::string_view database, std::uint64_t total) {
  std::string text = std::to_string(total);
  if (is_pause(reason)) {
    return text + " while " + describe_pause(reason, database);
  }
  switch (reason) {
    case GapReason::kQueueFull:
      return text + " when the queue was full";
    case GapReason::kOverrun:
      return text + " when the async logger's queue overran";
    case GapReason::kRefused:
      return text + " refused by the database";
    default:
      return text + " left in the queue";
  }
}

}  // namespace

std::string_view to_string(GapReason reason) noexcept {
  constexpr std::array<std::string_view, kGapReasonCount> kNames = {
      "overload", "rate_limited", "unreachable", "quota",   "schema",  "storage_full", "auth",
      "config",   "permanent",    "queue_full",  "overrun", "refused", "closed"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string describe_pause(GapReason reason, std::string_view database) {
  const std::string name(database);
  switch (reason) {
    case GapReason::kOverload:
      return name + (database == "SQLite" ? " was busy" : " was overloaded");
    case GapReason::kRateLimited:
      return name + " was limiting requests";
    case GapReason::kUnreachable:
      return name + " was unreachable";
    default:
      return name + " refused writes (" + std::string(to_string(reason)) + ")";
  }
}

SkippedRecords SkippedRecords::one(Level level, WallTime time, std::int64_t seq) noexcept {
  SkippedRecords records{.from = time, .to = time, .first_seq = seq, .last_seq = seq};
  records.by_level[static_cast<std::size_t>(level)] = 1;
  return records;
}

void SkippedRecords::merge(const SkippedRecords& other) noexcept {
  add(by_level, other.by_level);
  from = std::min(from, other.from);
  to = std::max(to, other.to);
  first_seq = std::min(first_seq, other.first_seq);
  last_seq = std::max(last_seq, other.last_seq);
}

bool SkippedRecords::has_error() const noexcept {
  return by_level[static_cast<std::size_t>(Level::kError)] > 0 ||
         by_level[static_cast<std::size_t>(Level::kCritical)] > 0;
}

Record make_gap_record(const Gap& gap, std::string_view database) {
  return {.time = gap.skipped.to,
          .seq = gap.seq,
          .level = Level::kWarn,
          .context = "spillway",
          .message = gap_message(gap.reason, database, sum(gap.skipped.by_level)),
          .fields = gap_fields(gap)};
}

void GapLedger::skip(GapReason reason, const SkippedRecords& records, SteadyTime now) {
  add(skipped_, records.by_level);
  Slot& at = slot(reason);
  if (at.open) {
    at.open->skipped.merge(records);
    return;
  }
  at.open = Gap{.reason = reason, .skipped = records, .opened_at = now};
  if (!at.has_sealed && reason != GapReason::kClosed) {
    at.open->seq = seqs_.take_for_gap();
  }
}

std::optional<SteadyTime> GapLedger::due_at(std::chrono::milliseconds age) const noexcept {
  std::optional<SteadyTime> earliest;
  for (const Slot& at : slots_) {
    if (at.open && at.open->seq != 0) {
      const bool waits = waits_for_more(at.open->reason);
      const SteadyTime due = waits ? at.open->opened_at + age : at.open->opened_at;
      earliest = earliest ? std::min(*earliest, due) : due;
    }
  }
  return earliest;
}

std::vector<Gap> GapLedger::seal(SteadyTime now, std::chrono::milliseconds age) {
  std::vector<Gap> sealed;
  for (Slot& at : slots_) {
    const bool waits = at.open && waits_for_more(at.open->reason);
    if (at.open && at.open->seq != 0 && (!waits || at.open->opened_at + age <= now)) {
      sealed.push_back(*std::exchange(at.open, std::nullopt));
      at.has_sealed = true;
    }
  }
  return sealed;
}

void GapLedger::stored(const Gap& gap) noexcept {
  add(reported_, gap.skipped.by_level);
  release(gap.reason);
}

void GapLedger::in_doubt(const Gap& gap) noexcept { release(gap.reason); }

void GapLedger::refused(const Gap& gap) noexcept {
  has_refused_ = true;
  release(gap.reason);
}

void GapLedger::release(GapReason reason) noexcept {
  Slot& at = slot(reason);
  at.has_sealed = false;
  if (at.open && at.open->seq == 0) {
    at.open->seq = seqs_.take_for_gap();
  }
}

void GapLedger::reopen(const Gap& gap) {
  Slot& at = slot(gap.reason);
  Gap whole = gap;
  if (at.open) {
    whole.skipped.merge(at.open->skipped);
  }
  at.open = whole;
  at.has_sealed = false;
}

std::optional<std::int64_t> GapLedger::first_open_seq() const noexcept {
  std::optional<std::int64_t> first;
  for (const Slot& at : slots_) {
    if (at.open) {
      const std::int64_t seq = at.open->skipped.first_seq;
      first = first ? std::min(*first, seq) : seq;
    }
  }
  return first;
}

bool GapLedger::has_open_error() const noexcept {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& at) { return at.open && at.open->skipped.has_error(); });
}

std::string GapLedger::describe_open(std::string_view database) const {
  std::string text;
  for (const Slot& at : slots_) {
    if (at.open) {
      text += text.empty() ? " (" : ", ";
      text += describe_loss(at.open->reason, database, sum(at.open->skipped.by_level));
    }
  }
  return text.empty() ? text : text + ")";
}

}  // namespace spillway
