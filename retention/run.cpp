// SPDX-License-Identifier: MIT
#include "retention/run.h"

#include <spillway/prepared_statement.h>

#include "base/counted.h"
#include "base/time_text.h"
#include "d1/execute_all.h"
#include "retention/archive.h"
#include "retention/budget.h"
#include "retention/chunk_size.h"
#include "retention/course.h"
#include "retention/edge_rows.h"
#include "retention/guards.h"
#include "retention/lease.h"
#include "retention/pace.h"
#include "retention/patient_database.h"
#include "retention/space.h"
#include "retention/state.h"
#include "retention/walk.h"
#include "table/log_schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kRenewEvery{15};
constexpr seconds kWaitForReader{5};
constexpr milliseconds kReclaimStep{10};
constexpr milliseconds kTimeToFinish{1'500};  // After a signal: two seconds in all.

milliseconds patience_with(Dialect dialect) {
  return dialect == Dialect::kD1 ? seconds(60) : seconds(10);
}

ChunkLimits limits_of(const RunOptions& options, Dialect dialect) {
  ChunkLimits limits;
  if (dialect == Dialect::kD1) {
    limits = {.first = 1'000, .max = 50'000, .target = milliseconds(250)};
  }
  if (!options.archive.empty()) {
    limits.max = limits.first;  // They are held in memory.
  }
  if (options.target_latency) {
    limits.target = *options.target_latency;
  }
  if (options.chunk) {
    limits = {.first = *options.chunk, .max = *options.chunk, .target = std::chrono::hours(1)};
  }
  return limits;
}

class Run {
 public:
  Run(Database& database, const RunOptions& options, const World& world)
      : options_(options),
        world_(world),
        dialect_(database.traits().dialect),
        begin_(world.clock.steady_now()),
        now_(options.now.value_or(world.clock.wall_now())),
        budget_(options, world),
        database_(database, world, patience_with(dialect_)),
        size_(limits_of(options, dialect_)) {
    report_.table = options.choice.table;
    report_.now = now_;
  }

  Report go() {
    Stop stop = prepare();
    if (!stop) {
      stop = work();
      finish(*stop);
    }
    report_.verdict = *std::move(stop);
    report_.cost = database_.cost();
    report_.took = since_begin();
    return std::move(report_);
  }

 private:
  using Stop = std::optional<Verdict>;  // Empty: go on.

  [[nodiscard]] milliseconds since_begin() const {
    return std::chrono::duration_cast<milliseconds>(world_.clock.steady_now() - begin_);
  }
  [[nodiscard]] ExecuteOptions reading() const {
    ExecuteOptions options = budget_.limits();
    options.is_idempotent = true;
    return options;
  }
  [[nodiscard]] std::int64_t kept(const std::string& why) const {
    const auto found = report_.kept.find(why);
    return found == report_.kept.end() ? 0 : found->second;
  }
  // What was asked for goes before what it made fail.
  [[nodiscard]] Verdict verdict(const Status& failure) const {
    const Stop stop = budget_.stopped();
    return stop ? *stop : verdict_of(failure);
  }

  [[nodiscard]] Stop prepare();
  [[nodiscard]] Stop take_lease();
  [[nodiscard]] Stop prepare_archive();
  [[nodiscard]] Verdict work();
  [[nodiscard]] Stop plan_course();
  [[nodiscard]] Stop check_guards(const LoadedState& before, const Course::Ends& ends);
  [[nodiscard]] Stop walk_all();
  [[nodiscard]] Stop walk_beyond_max_rows();
  [[nodiscard]] Stop walk(Segment segment, bool is_by_age);
  [[nodiscard]] Stop used_up(Walk& walk, std::int64_t written) const;
  void absorb(const Chunk& chunk);
  [[nodiscard]] Stop between_chunks(const Walk& walk);
  void tell_progress(const Walk& walk) const;
  [[nodiscard]] Stop keep_lease_and_state();
  [[nodiscard]] Stop wait_for_wal();
  [[nodiscard]] Verdict conclude();
  void tell_whether_falling_behind();
  void give_space_back();
  void finish(const Verdict& verdict);

  const RunOptions& options_;
  const World& world_;
  const Dialect dialect_;
  const SteadyTime begin_;
  const WallTime now_;
  Budget budget_;
  PatientDatabase database_;
  ChunkSize size_;
  Pace pace_;
  TableForm form_;
  std::optional<Lease> lease_;
  SteadyTime renewed_{};
  std::unique_ptr<Archive> archive_;
  std::unique_ptr<Wal> wal_;
  State before_;
  std::optional<Course> course_;  // Once the guards let the run pass.
  milliseconds last_chunk_took_{0};
  Report report_;
};

Run::Stop Run::prepare() {
  auto form = read_table_form(database_, options_.choice, reading());
  if (!form) {
    return verdict(form.error());
  }
  form_ = *std::move(form);
  if (form_.level.empty() && !options_.policy.levels.empty()) {
    return Verdict{End::kUsage, "the table has no column level; leave --keep-level out"};
  }
  if (const Refusal refusal = named_column_guard(form_, options_.choice, options_.allow_delete)) {
    return Verdict{End::kUsage, *refusal};
  }
  const auto clocks = clock_guard(database_, world_.clock.wall_now(), reading());
  if (!clocks) {
    return verdict(clocks.error());
  }
  if (*clocks) {
    return Verdict{End::kRefused, **clocks};
  }
  return take_lease();
}

Run::Stop Run::take_lease() {
  const std::vector<Statement> create = create_statements(form_.name);
  const std::array<Statement, 2> meta{create[1], create[2]};
  if (const auto made = execute_all(database_, meta, reading()); !made) {
    return verdict(made.error());
  }
  auto answer = Lease::take(database_, form_.meta(), world_.owner, budget_.limits());
  if (!answer) {
    return verdict(answer.error());
  }
  if (!answer->lease) {
    const auto left = std::chrono::ceil<seconds>(answer->holder.left);
    return Verdict{End::kLeaseHeld, "another run is at work (" + answer->holder.owner +
                                        "); should it have died, its lease ends in " +
                                        std::to_string(left.count()) + " s"};
  }
  lease_ = *std::move(answer->lease);
  renewed_ = world_.clock.steady_now();
  return std::nullopt;
}

// From here on the lease is ours, and `finish` gives it back.
Verdict Run::work() {
  Stop stop = plan_course();
  if (!stop) {
    stop = prepare_archive();
  }
  if (!stop) {
    stop = walk_all();
  }
  report_.oldest.reset();  // It was the oldest before.
  Verdict verdict = stop ? *std::move(stop) : conclude();
  if (verdict.end == End::kStopped && !budget_.is_told_to_stop()) {
    tell_whether_falling_behind();
  }
  if (verdict.end == End::kDone || verdict.end == End::kNotMet) {
    give_space_back();
  }
  return verdict;
}

Run::Stop Run::plan_course() {
  const auto loaded = load_state(database_, form_.meta(), reading());
  if (!loaded) {
    return verdict(loaded.error());
  }
  before_ = loaded->state;
  if (loaded->is_spoilt) {
    report_.warnings.emplace_back("the state of the last run cannot be read; it is made anew");
  }
  const std::vector<Rule> rules = rules_of(options_.policy, now_);
  const auto oldest = oldest_row(database_, form_, reading());
  if (!oldest) {
    return verdict(oldest.error());
  }
  const auto newest = newest_row(database_, form_, now_,
                                 rules.empty() ? WallTime::min() : rules.back().cutoff, reading());
  if (!newest) {
    return verdict(newest.error());
  }
  report_.oldest = *oldest ? std::optional((*oldest)->time) : std::nullopt;
  const Course::Ends ends{*oldest, *newest};
  if (Stop stop = check_guards(*loaded, ends)) {
    return stop;
  }
  course_.emplace(*loaded, options_.policy, form_.is_own, now_, ends);
  return std::nullopt;
}

Run::Stop Run::check_guards(const LoadedState& before, const Course::Ends& ends) {
  const auto unit = unit_guard(database_, form_, now_, reading());
  if (!unit) {
    return verdict(unit.error());
  }
  if (*unit) {
    return Verdict{End::kRefused, **unit};
  }
  const auto share = share_guard(database_, form_,
                                 Intent{.policy = options_.policy,
                                        .now = now_,
                                        .allow_delete = options_.allow_delete,
                                        .before = before.state,
                                        .newest = ends.newest},
                                 reading());
  if (!share) {
    return verdict(share.error());
  }
  return *share ? Stop(Verdict{End::kRefused, **share}) : std::nullopt;
}

Run::Stop Run::prepare_archive() {
  if (options_.archive.empty()) {
    return std::nullopt;
  }
  if (Status status = Archive::settle(options_.archive, form_, database_, reading());
      !status.is_ok()) {
    return verdict(status);
  }
  auto archive =
      Archive::open(options_.archive, form_, database_, now_, lease_->generation(), reading());
  if (!archive) {
    return verdict(archive.error());
  }
  archive_ = *std::move(archive);
  return std::nullopt;
}

Run::Stop Run::walk_all() {
  if (!world_.sqlite_path.empty()) {
    if (auto wal = Wal::open(world_.sqlite_path)) {
      wal_ = *std::move(wal);
      // From here on `wal_` moves the log, while no lock is held.
      static_cast<void>(database_.prepare("PRAGMA wal_autocheckpoint=0").run(reading()));
      // A DELETE that calls a function keeps a journal of its own, a file else.
      static_cast<void>(database_.prepare("PRAGMA temp_store=MEMORY").run(reading()));
    }
  }
  for (Segment& segment : course_->segments()) {
    if (Stop stop = walk(std::move(segment), true)) {
      return stop;
    }
  }
  course_->on_walked();
  return walk_beyond_max_rows();
}

Run::Stop Run::walk_beyond_max_rows() {
  if (!options_.policy.max_rows) {
    return std::nullopt;
  }
  auto last = first_key_beyond(database_, form_, *options_.policy.max_rows, reading());
  if (!last) {
    return verdict(last.error());
  }
  if (!*last) {
    return std::nullopt;
  }
  const Rule all{.name = "max-rows",
                 .levels = {.names = {}, .is_all_but = true},
                 .keep = milliseconds(0),
                 .cutoff = now_};
  // Rows that stay were met by age already.
  const std::map<std::string, std::int64_t> by_age = std::exchange(report_.kept, {});
  Stop stop = walk({Range{.last = **last}, {all}}, false);
  for (const auto& [why, count] : by_age) {
    report_.kept[why] = std::max(report_.kept[why], count);
  }
  return stop;
}

Run::Stop Run::walk(Segment segment, bool is_by_age) {
  const Levels& levels = segment.rules.front().levels;
  const bool takes_all = segment.rules.size() == 1 && levels.is_all_but && levels.names.empty();
  Walk walk({.database = database_,
             .form = form_,
             .lease = *lease_,
             .world = world_,
             .size = size_,
             .pace = pace_,
             .wal = wal_.get(),
             .archive = archive_.get(),
             .limits = budget_.limits(),
             .now = now_,
             .counts_kept = course_->is_full_walk() || takes_all},
            std::move(segment));
  while (!walk.is_done()) {
    const std::int64_t written = database_.cost().rows_written;
    Stop stop = budget_.stopped(last_chunk_took_);
    if (stop) {
      return stop;
    }
    if (budget_.used_up(report_.deleted, written)) {
      stop = used_up(walk, written);
      if (!stop && is_by_age) {
        course_->on_place(walk.segment(), std::nullopt);
      }
      return stop;
    }
    const SteadyTime begin = world_.clock.steady_now();
    auto step = walk.next(budget_.rows_left(report_.deleted, written));
    if (auto* const ended = std::get_if<Verdict>(&step)) {
      stop = budget_.stopped();
      return stop ? stop : Stop(std::move(*ended));
    }
    last_chunk_took_ = std::chrono::duration_cast<milliseconds>(world_.clock.steady_now() - begin);
    absorb(std::get<Chunk>(step));
    if (is_by_age) {
      course_->on_place(walk.segment(), walk.place());
    }
    if (stop = between_chunks(walk); stop) {
      return stop;
    }
  }
  return std::nullopt;
}

// Empty: it was just enough, nothing of the segment is left.
Run::Stop Run::used_up(Walk& walk, std::int64_t written) const {
  const auto has_more = walk.has_more();
  if (!has_more) {
    return verdict(has_more.error());
  }
  return *has_more ? budget_.used_up(report_.deleted, written) : std::nullopt;
}

void Run::absorb(const Chunk& chunk) {
  ++report_.chunks;
  report_.deleted += chunk.deleted;
  for (const auto& [name, count] : chunk.deleted_by) {
    report_.deleted_by[name] += count;
  }
  for (const auto& [name, count] : chunk.kept) {
    report_.kept[name] += count;
  }
}

Run::Stop Run::between_chunks(const Walk& walk) {
  tell_progress(walk);
  if (Stop stop = keep_lease_and_state()) {
    return stop;
  }
  return wait_for_wal();
}

void Run::tell_progress(const Walk& walk) const {
  if (!world_.on_progress) {
    return;
  }
  Progress progress{.deleted = report_.deleted, .elapsed = since_begin()};
  if (form_.is_own && !course_->rules().empty()) {
    progress.reached = time_of_place(walk.place());
    progress.begin = report_.oldest;
    progress.end = course_->rules().back().cutoff;
  }
  world_.on_progress(progress);
}

Run::Stop Run::keep_lease_and_state() {
  if (world_.clock.steady_now() - renewed_ < kRenewEvery) {
    return std::nullopt;
  }
  const std::array<Statement, 3> statements{lease_->fence(), lease_->renewal(),
                                            save_statement(form_.meta(), course_->state())};
  // To renew it twice does no harm.
  if (const auto done = execute_all(database_, statements, reading()); !done) {
    const auto is_held = lease_->holds(database_, reading());
    return is_held && !*is_held
               ? Verdict{End::kLeaseHeld, "another run took over; this one has stopped"}
               : verdict(done.error());
  }
  renewed_ = world_.clock.steady_now();
  return std::nullopt;
}

Run::Stop Run::wait_for_wal() {
  const SteadyTime patience = world_.clock.steady_now() + kWaitForReader;
  if (wal_ != nullptr) {
    static_cast<void>(wal_->move_when_due());  // Whatever it says, the size counts.
  }
  while (wal_ != nullptr) {
    const auto bytes = wal_->bytes_in_use();
    if (!bytes || *bytes < kWalBytesMax / 2) {
      return std::nullopt;
    }
    if (Stop stop = budget_.stopped()) {
      return stop;
    }
    if (world_.clock.steady_now() >= patience) {
      return Verdict{End::kStopped,
                     "a reader holds an old view of the file, so that its log (-wal) would grow "
                     "without end; end that reader and run again"};
    }
    static_cast<void>(world_.sleeper.sleep(milliseconds(20), world_.stop));
  }
  return std::nullopt;
}

Verdict Run::conclude() {
  const auto oldest = oldest_row(database_, form_, reading());
  if (!oldest) {
    return verdict(oldest.error());
  }
  report_.oldest = *oldest ? std::optional((*oldest)->time) : std::nullopt;
  course_->on_oldest(report_.oldest);
  if (const std::int64_t refused = kept("refused"); refused > 0) {
    return {End::kNotMet, counted(refused, "expired row") +
                              " had to stay: the table does not let them go (a trigger, a foreign "
                              "key)"};
  }
  if (*oldest && is_expired(**oldest, course_->rules())) {
    course_->on_late_row();
    return {End::kNotMet, "a row of " + time_text((*oldest)->time) +
                              " is still there, older than the policy lets it be; the next run "
                              "walks the whole table"};
  }
  if (const std::int64_t odd = kept("unit"); odd > 0) {
    return {End::kNotMet, counted(odd, "row") +
                              " with integers that are neither seconds nor milliseconds had to "
                              "stay: nobody knows how old they are"};
  }
  report_.is_met = true;
  course_->on_met();
  return {};
}

// In time, which costs one row to know: a table that grew by a day while a run cut half a day off
// its old end grows twice as fast as it is cut.
void Run::tell_whether_falling_behind() {
  const auto oldest = oldest_row(database_, form_, reading());
  if (!course_ || !oldest || !*oldest) {
    return;
  }
  report_.oldest = (*oldest)->time;
  course_->on_oldest(report_.oldest);
  if (!form_.is_own || !before_.at || !before_.oldest || !is_expired(**oldest, course_->rules())) {
    return;
  }
  const milliseconds grown = now_ - *before_.at;
  const milliseconds cut = (*oldest)->time - *before_.oldest;
  if (grown > cut) {
    report_.falling_behind = static_cast<double>(grown.count()) /
                             static_cast<double>(std::max<std::int64_t>(cut.count(), 1));
  }
}

void Run::give_space_back() {
  if (dialect_ != Dialect::kSqlite) {
    return;
  }
  // Half the time for others is enough here: a step is short, and nobody waits for two of them.
  const auto go_on = [this](std::chrono::microseconds held) {
    pace_.on_released(held / 2, world_.clock.steady_now());
    const bool goes_on = !keep_lease_and_state() && !wait_for_wal() && !budget_.stopped() &&
                         pace_.wait(world_.clock, world_.sleeper, world_.stop);
    if (wal_ != nullptr) {
      wal_->begin_anew();
    }
    return goes_on;
  };
  const auto reclaimed = reclaim(database_, world_.clock, kReclaimStep, budget_.limits(), go_on);
  if (!reclaimed) {
    report_.warnings.push_back("free space was not given back: " + reclaimed.error().message());
    return;
  }
  report_.reclaimed_bytes = reclaimed->bytes;
  if (!reclaimed->note.empty()) {
    report_.warnings.push_back(reclaimed->note);
  }
}

// Also after a signal, and then in a short time.
void Run::finish(const Verdict& verdict) {
  if (archive_ != nullptr) {
    report_.archive_file = archive_->file();
    report_.archived = archive_->rows();
  }
  if (verdict.end == End::kLeaseHeld) {
    return;
  }
  ExecuteOptions last;
  last.deadline = world_.clock.steady_now() + kTimeToFinish;
  last.is_idempotent = true;
  if (course_) {
    const std::array<Statement, 2> save{lease_->fence(),
                                        save_statement(form_.meta(), course_->state())};
    if (const auto saved = execute_all(database_, save, last); !saved) {
      report_.warnings.push_back("how far the run came was not written down: " +
                                 saved.error().message());
    }
  }
  // Should this fail, the lease ends by itself.
  static_cast<void>(lease_->release(database_, last));
}

}  // namespace

double Cost::dollars() const noexcept {
  constexpr double kPerRowRead = 0.001 / 1'000'000;
  constexpr double kPerRowWritten = 1.0 / 1'000'000;
  return static_cast<double>(rows_read) * kPerRowRead +
         static_cast<double>(rows_written) * kPerRowWritten;
}

Report run(Database& database, const RunOptions& options, const World& world) {
  return Run(database, options, world).go();
}

}  // namespace spillway::retention
