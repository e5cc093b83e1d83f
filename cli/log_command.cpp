// SPDX-License-Identifier: MIT
#include "cli/log_command.h"

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/pipeline.h>

#include "cli/closing_line.h"
#include "cli/failure.h"
#include "cli/input.h"
#include "cli/json_line.h"
#include "cli/level_word.h"
#include "cli/line_splitter.h"
#include "cli/output.h"
#include "cli/stop_signals.h"
#include "table/log_table.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace spillway {
namespace {

constexpr std::chrono::milliseconds kCloseTimeout = std::chrono::seconds(5);
// Between two looks at whether to go on waiting.
constexpr std::chrono::milliseconds kFlushStep(100);
// Without progress at the end of the input: the deadline of one attempt, see start_pipeline. One
// that fails sooner is made again meanwhile.
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(10);
// The look at the database before the first line is read must not keep the program in front
// waiting.
constexpr std::chrono::milliseconds kStartTimeout = std::chrono::seconds(2);

// Turns the blocks that were read into records of the pipeline.
class LineFeed {
 public:
  LineFeed(const LogOptions& options, Pipeline& pipeline)
      : options_(options), pipeline_(pipeline) {}

  void take(std::string_view block) {
    time_ = Clock::system().wall_now();
    splitter_.feed(block, on_line_);
  }
  void finish() { splitter_.finish(on_line_); }

 private:
  [[nodiscard]] Level level_of(std::string_view line) const noexcept {
    return options_.level_from == LevelSource::kLine ? level_word(line).value_or(options_.level)
                                                     : options_.level;
  }

  void take_line(std::string_view line, std::uint64_t line_bytes) {
    const bool is_whole = line_bytes == line.size();
    if (is_whole && options_.input == InputFormat::kJson) {
      if (const auto json = parse_json_line(line, options_.level_from)) {
        accept({.time = json->time.value_or(time_),
                .level = json->level.value_or(options_.level),
                .message = json->message,
                .fields = json->fields});
        return;
      }
    }
    accept({.time = time_,
            .level = level_of(line),
            .message = line,
            .message_bytes = is_whole ? 0 : line_bytes});
  }

  void accept(RecordView record) noexcept {
    record.context = options_.context;
    pipeline_.wait_for_room(record);
    pipeline_.accept(record);  // What is shed is counted in the closing line.
  }

  const LogOptions& options_;
  Pipeline& pipeline_;
  WallTime time_{};
  LineSplitter splitter_;
  const LineSplitter::OnLine on_line_ = [this](std::string_view line, std::uint64_t line_bytes) {
    take_line(line, line_bytes);
  };
};

// Looks at the table once in the foreground, so that a wrong configuration is told at once and to
// the person who made it. Not in D1: there the look would wait for a server, and whatever a server
// answers may be mended while the program runs. Success: the pipeline may start.
Status look_at(Database& database, const LogTable& table) {
  if (database.traits().dialect == Dialect::kD1) {
    return {};
  }
  ExecuteOptions limits;
  limits.deadline = Clock::system().steady_now() + kStartTimeout;
  limits.lock_wait = std::chrono::milliseconds(0);
  return table.prepare(database, limits);
}

// What no waiting will mend. Everything else (a lock, a full disk) is what the pipeline is for.
bool is_configuration_error(StatusCode code) noexcept {
  return code == StatusCode::kInvalidArgument || code == StatusCode::kConfig ||
         code == StatusCode::kPermanent || code == StatusCode::kSchema;
}

// How many requests the database takes, if the configuration can be used.
Result<RequestRate> check_configuration(const LogOptions& options,
                                        const DatabaseFactory& open_database) {
  const auto table = LogTable::named(options.table);
  if (!table) {
    return table.error().with_message("--table: " + table.error().message());
  }
  const auto database = open_database();
  const Status status = database ? look_at(**database, *table) : database.error();
  if (is_configuration_error(status.code())) {
    return status;
  }
  return database ? (*database)->traits().rate : RequestRate();
}

Result<std::unique_ptr<Pipeline>> start_pipeline(const LogOptions& options,
                                                 DatabaseFactory open_database) {
  PipelineOptions pipeline;
  pipeline.table = options.table;
  pipeline.overload = options.overload;
  pipeline.close_timeout = kCloseTimeout;
  pipeline.attempt_timeout = kPatience;
  return Pipeline::start(std::move(open_database), std::move(pipeline));
}

// False if reading failed. What was read before is in the pipeline in any case.
bool feed_from_stdin(const LogOptions& options, int stop_fd, Pipeline& pipeline) {
  LineFeed feed(options, pipeline);
  const Status read =
      read_blocks(STDIN_FILENO, stop_fd, [&feed](std::string_view block) { feed.take(block); });
  feed.finish();
  if (!read.is_ok()) {
    say("cannot read stdin: " + read.message());
  }
  return read.is_ok();
}

// Whether rows still go at the end of the input, when nobody in front is kept waiting any more:
// they went well when it ended, the last was accounted for a short while ago, and no pause has
// begun. An attempt that hangs is no progress: a second one is not waited for.
class Progress {
 public:
  Progress(const Stats& stats, const Pipeline& pipeline)
      : went_well_(pipeline.is_worth_waiting()), pauses_(stats.pauses), done_(done(stats)) {}

  [[nodiscard]] bool goes_on(const Stats& stats) {
    const SteadyTime now = Clock::system().steady_now();
    if (done(stats) != done_) {
      done_ = done(stats);
      done_at_ = now;
    }
    return went_well_ && stats.pauses == pauses_ && now - done_at_ < kPatience;
  }

 private:
  static std::uint64_t done(const Stats& stats) noexcept {
    return stats.stored + sum(stats.skipped_reported);
  }

  bool went_well_;
  std::uint64_t pauses_;
  std::uint64_t done_;
  SteadyTime done_at_ = Clock::system().steady_now();
};

// At the end of its input the program waits for all that is left in the queue, which at the rate of
// D1 or on a slow disk takes its time, as long as rows go. Whoever asks it to stop need not wait.
// What one transaction of a file holds is left to close, which waits longer for a lock.
void write_what_is_left(int stop_fd, const RequestRate& rate, Pipeline& pipeline) {
  const std::size_t left_to_close = rate.per_second > 0 ? 0 : PipelineOptions().batch_rows_max;
  Stats stats = pipeline.stats();
  Progress progress(stats, pipeline);
  while (!stats.is_complete && stats.undecided() >= left_to_close && progress.goes_on(stats) &&
         !is_readable_now(stop_fd)) {
    stats = pipeline.flush(kFlushStep);
  }
}

}  // namespace

ExitCode run_log(const LogOptions& options) {
  const auto stop_fd = install_stop_signals();
  if (!stop_fd) {
    return refuse(ExitCode::kError, stop_fd.error().message());
  }
  const auto open_database = factory_of(options.database, OpenMode::kCreate);
  if (!open_database) {
    return refuse(ExitCode::kUsage, open_database.error().message());
  }
  const auto rate = check_configuration(options, *open_database);
  if (!rate) {
    return refuse(ExitCode::kUsage, rate.error().message());
  }
  const auto pipeline = start_pipeline(options, *open_database);
  if (!pipeline) {
    return refuse(ExitCode::kError, pipeline.error().message());
  }
  if (isatty(STDIN_FILENO) != 0) {
    say("reading lines from the terminal; Ctrl-D ends");
  }
  const bool was_read = feed_from_stdin(options, *stop_fd, **pipeline);
  write_what_is_left(*stop_fd, *rate, **pipeline);
  const Stats stats = (*pipeline)->close(kCloseTimeout);
  if (!write_out(closing_line(stats)) || !was_read) {
    return ExitCode::kError;
  }
  return is_all_accounted_for(stats) ? ExitCode::kDone : ExitCode::kUnavailable;
}

}  // namespace spillway
