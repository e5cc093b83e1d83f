// SPDX-License-Identifier: MIT
#include "cli/retention_command.h"

#include <spillway/clock.h>
#include <spillway/sleeper.h>

#include "base/random.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/retention_config.h"
#include "cli/retention_progress.h"
#include "cli/retention_report.h"
#include "cli/stop_signals.h"
#include "cli/stop_watcher.h"
#include "d1/database_url.h"
#include "retention/archive.h"
#include "retention/plan.h"
#include "retention/run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <random>
#include <system_error>
#include <utility>
#include <variant>

namespace spillway {
namespace {

using retention::End;
using retention::Verdict;

// The codes that both have are the same.
End end_of(ExitCode code) noexcept { return static_cast<End>(static_cast<int>(code)); }

End end_of_statement(const Status& failure) noexcept {
  return failure.code() == StatusCode::kCancelled ? End::kStopped
                                                  : end_of(exit_code_of_statement(failure));
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

// "host:pid:random", for people and unique.
std::string owner_name(std::uint64_t number) {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  std::array<char, 16> hex{};
  const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return std::string(host.data()) + ':' + std::to_string(getpid()) + ':' +
         std::string(hex.data(), end.ptr);
}

std::string sqlite_path_of(const std::string& url) {
  const auto parsed = parse_database_url(url);
  const auto* const file = parsed ? std::get_if<SqliteUrl>(&*parsed) : nullptr;
  return file == nullptr ? std::string() : file->path;
}

// As it may be shown, without the quotes that sentences have around it.
std::string shown_database(const std::string& url) {
  const std::string quoted = shown_database_url(url);
  return quoted.substr(1, quoted.size() - 2);
}

// One call of the program, once its options are known.
class RetentionCall {
 public:
  RetentionCall(const RetentionOptions& options, const StopWatcher& stop)
      : options_(options), stop_(stop) {
    subject_.database = shown_database(options.database.url);
    limits_.cancel = stop.token();
  }

  [[nodiscard]] End execute() {
    const bool is_writing = options_.command == RetentionCommand::kRun ||
                            options_.command == RetentionCommand::kRestore;
    // A plan and a check get a connection that cannot write.
    const auto open_database =
        factory_of(options_.database, is_writing ? OpenMode::kExisting : OpenMode::kReadOnly);
    if (!open_database) {
      return fail(End::kUsage, open_database.error());
    }
    const auto database = (*open_database)();
    if (!database) {
      return fail(end_of(exit_code_of_open(database.error())), database.error());
    }
    subject_.is_d1 = (*database)->traits().dialect == Dialect::kD1;
    return execute_on(**database);
  }

 private:
  [[nodiscard]] End execute_on(Database& database) {
    const WallTime now = options_.run.now.value_or(Clock::system().wall_now());
    switch (options_.command) {
      case RetentionCommand::kRun:
        return tell(run(database));
      case RetentionCommand::kPlan:
        return tell(retention::plan(database, options_.run, options_.is_exact, now, limits_));
      case RetentionCommand::kCheck:
        return tell(retention::check(database, options_.run, now, limits_));
      case RetentionCommand::kRestore:
        break;
    }
    return restore(database);
  }

  [[nodiscard]] retention::Report run(Database& database) {
    ProgressLine line(!options_.is_quiet);
    std::uint64_t random = random_seed();
    retention::World world{Clock::system(), Sleeper::system()};
    world.stop = stop_.token();
    world.owner = owner_name(next_random(random));
    world.sqlite_path = sqlite_path_of(options_.database.url);
    world.random = [&random] { return next_unit_random(random); };
    world.on_progress = [&line](const retention::Progress& progress) { line.show(progress); };
    return retention::run(database, options_.run, world);
  }

  [[nodiscard]] End restore(Database& database) {
    const std::string& table = options_.run.choice.table;
    const auto restored = [&] {
      ProgressLine line(!options_.is_quiet);
      const SteadyTime begin = Clock::system().steady_now();
      return retention::restore(options_.file, table, database, limits_, [&](std::int64_t rows) {
        retention::Progress progress;
        progress.deleted = rows;
        progress.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
            Clock::system().steady_now() - begin);
        line.show(progress);
      });
    }();
    return restored ? tell(outcome_of(*restored, options_.file, table, subject_))
                    : fail(end_of_statement(restored.error()), restored.error());
  }

  template <typename Found>
  [[nodiscard]] End tell(const Result<Found>& found) const {
    return found ? tell(outcome_of(*found, subject_))
                 : fail(end_of_statement(found.error()), found.error());
  }

  [[nodiscard]] End tell(const RetentionOutcome& outcome) const {
    for (const std::string& warning : outcome.warnings) {
      say(place() + ": " + warning);
    }
    const End end = outcome.verdict.end;
    if (end != End::kDone) {
      say(place() + ": " + outcome.verdict.why);
    }
    const std::string& all = options_.is_json ? outcome.json : outcome.text;
    const bool is_silent = options_.is_quiet && (end == End::kDone || !options_.is_json);
    const bool is_told = is_silent || write_out(all);
    return is_told || end != End::kDone ? end : End::kError;
  }

  [[nodiscard]] End tell(retention::Report report) const {
    Verdict& verdict = report.verdict;
    const bool can_help = verdict.end == End::kError || verdict.end == End::kUnavailable;
    if (can_help && !verdict.failure.is_ok()) {
      verdict.why = explained(verdict.failure, Effect::kReads);
    }
    return tell(outcome_of(report, subject_));
  }

  // All of this may be repeated, so that nobody is warned of it. And where restoring is stopped,
  // something was changed.
  [[nodiscard]] End fail(End end, const Status& failure) const {
    const std::string why = end == End::kStopped ? failure.message() + "; it can be run again"
                                                 : explained(failure, Effect::kReads);
    RetentionOutcome outcome;
    outcome.verdict = {end, why};
    outcome.json = failure_json(outcome.verdict);
    return tell(outcome);
  }

  [[nodiscard]] std::string place() const {
    return retention_place(options_.run.choice.table, subject_);
  }

  const RetentionOptions& options_;
  const StopWatcher& stop_;
  RetentionSubject subject_;
  ExecuteOptions limits_;
};

// Before there are options, or a database to speak of.
End refuse_to_begin(End end, const std::string& why, bool is_json) {
  say(why);
  // Nothing more can be said if stdout fails too.
  static_cast<void>(is_json && write_out(failure_json({end, why})));
  return end;
}

Result<RetentionOptions> read_options(RetentionCommand command, const RetentionSettings& given) {
  const auto config = std::find_if(given.begin(), given.end(), [](const RetentionSetting& setting) {
    return setting.option == "--config";
  });
  RetentionSettings in_file;
  if (config != given.end()) {
    auto settings = read_retention_config(config->text);
    if (!settings) {
      return settings.error();
    }
    in_file = *std::move(settings);
  }
  return retention_options_of(command, given, in_file, Clock::system().wall_now());
}

// An archive that is not there is told before a database is opened.
Status check_file(const RetentionOptions& options) {
  if (options.command == RetentionCommand::kRestore && access(options.file.c_str(), R_OK) != 0) {
    return {StatusCode::kInvalidArgument,
            "cannot read " + options.file + ": " + std::generic_category().message(errno)};
  }
  return {};
}

}  // namespace

End run_retention(RetentionCommand command, const RetentionSettings& given) {
  const auto options = read_options(command, given);
  const Status status = options ? check_file(*options) : options.error();
  if (!status.is_ok()) {
    return refuse_to_begin(End::kUsage, status.message(), has_setting(given, "--json"));
  }
  if (options->database.url.empty()) {
    return refuse_to_begin(End::kUsage,
                           "--db is missing; name the database, for example --db sqlite:logs.db",
                           options->is_json);
  }
  const auto stop_fd = install_stop_signals();
  if (!stop_fd) {
    return refuse_to_begin(End::kError, stop_fd.error().message(), options->is_json);
  }
  return RetentionCall(*options, StopWatcher(*stop_fd)).execute();
}

}  // namespace spillway
