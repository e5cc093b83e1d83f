// SPDX-License-Identifier: MIT
#include "bench/retention.h"

#include <spillway/clock.h>
#include <spillway/sleeper.h>
#include <spillway/sqlite_database.h>

#include <spdlog/fmt/fmt.h>

#include "base/time_text.h"
#include "retention/run.h"
#include "table/log_table.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace spillway::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::hours kKeep{30 * 24};
constexpr std::int64_t kRowsOfAnInsert = 50'000;
constexpr milliseconds kPatience{60'000};
constexpr double kTimesMax = 4;
constexpr double kWaitPartMax = 0.05;
constexpr double kWaitMsMax = 50;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kWalMiBMax = 64;

Seconds since(SteadyTime begin) { return Clock::system().steady_now() - begin; }

Result<std::unique_ptr<SqliteDatabase>> open(const fs::path& file, OpenMode mode) {
  return SqliteDatabase::open(file, mode, {.busy_timeout = kPatience});
}

Result<StatementResult> run_one(Database& database, Statement statement) {
  auto results = database.execute(std::span(&statement, 1), {});
  return results ? Result<StatementResult>(std::move(results.value().front())) : results.error();
}

// Rows `step` ms apart, the first one twice as long ago as rows are kept.
Statement insert_of(std::int64_t first, std::int64_t rows, std::int64_t begin_ms, double step) {
  return {
      fmt::format("WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i < {}),"
                  " t(i, ms) AS (SELECT i, {} + CAST(i * {} AS INTEGER) FROM n)"
                  " INSERT INTO logs(created_at, writer, seq, level, context, message)"
                  " SELECT strftime('%Y-%m-%dT%H:%M:%S', ms / 1000, 'unixepoch') ||"
                  " printf('.%03dZ', ms % 1000), 1, i, 'INFO', 'bench', 'order ' || (100000 + i) ||"
                  " ' accepted for customer ' || (i % 97) || '{:x<150}' FROM t",
                  first, first + rows - 1, begin_ms, step, " ")};
}

// The number of rows that are older than `cutoff`.
Result<std::int64_t> make_table(const fs::path& file, std::int64_t rows, WallTime now) {
  const auto database = open(file, OpenMode::kCreate);
  if (!database) {
    return database.error();
  }
  const auto table = LogTable::named("logs");
  if (Status status = table->prepare(**database, {}); !status.is_ok()) {
    return status;
  }
  const WallTime begin = now - 2 * kKeep;
  const double step = static_cast<double>((now - begin).count()) / static_cast<double>(rows);
  for (std::int64_t row = 0; row < rows; row += kRowsOfAnInsert) {
    const auto inserted = run_one(**database, insert_of(row, std::min(kRowsOfAnInsert, rows - row),
                                                        begin.time_since_epoch().count(), step));
    if (!inserted) {
      return inserted.error();
    }
  }
  const auto expired = run_one(
      **database, {"SELECT count(*) FROM logs WHERE created_at < ?", {{time_text(now - kKeep)}}});
  return expired ? Result<std::int64_t>(std::get<std::int64_t>(expired->rows[0][0]))
                 : expired.error();
}

/// Notes when a run has begun to give space back.
class ReclaimWatch final : public Database {
 public:
  explicit ReclaimWatch(Database& inner) : inner_(inner) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    if (!begin_ && statements.front().sql.starts_with("PRAGMA auto_vacuum")) {
      begin_ = Clock::system().steady_now();
    }
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }
  [[nodiscard]] Seconds until_now() const { return begin_ ? since(*begin_) : Seconds(0); }

 private:
  Database& inner_;
  std::optional<SteadyTime> begin_;
};

// What was written so far must not be what the first fsync of a measurement waits for.
Status settle(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_settled = descriptor >= 0 && ::fsync(descriptor) == 0;
  ::close(descriptor);
  return is_settled ? Status() : Status(StatusCode::kStorageFull, "cannot settle " + file.string());
}

// What `remove` deletes, with a writer beside it.
template <typename Remove>
Result<Deletion> measure_deletion(const fs::path& file, Remove&& remove) {
  if (Status status = settle(file); !status.is_ok()) {
    return status;
  }
  Deletion deletion;
  {
    const auto database = open(file, OpenMode::kExisting);
    if (!database) {
      return database.error();
    }
    SteadyWriter writer(file);
    const SteadyTime begin = Clock::system().steady_now();
    const Result<std::int64_t> deleted = remove(**database);
    deletion.took = since(begin);
    deletion.writer = writer.stop();
    if (!deleted) {
      return deleted.error();
    }
    deletion.deleted = *deleted;
  }  // The last one to close moves the log into the file.
  deletion.file_bytes = static_cast<std::int64_t>(fs::file_size(file));
  return deletion;
}

Result<Deletion> measure_single(const fs::path& file, WallTime now) {
  return measure_deletion(file, [now](Database& database) -> Result<std::int64_t> {
    const auto deleted =
        run_one(database, {"DELETE FROM logs WHERE created_at < ?", {{time_text(now - kKeep)}}});
    return deleted ? Result<std::int64_t>(deleted->meta.changes) : deleted.error();
  });
}

Result<Deletion> measure_run(const fs::path& file, WallTime now, RetentionFigures& figures) {
  return measure_deletion(file, [&](Database& database) -> Result<std::int64_t> {
    ReclaimWatch watch(database);
    const retention::RunOptions options{.policy = {.keep = kKeep}, .now = now};
    const retention::World world{.clock = Clock::system(),
                                 .sleeper = Sleeper::system(),
                                 .owner = "bench",
                                 .sqlite_path = file,
                                 .random = [] { return 0.5; }};
    const retention::Report report = retention::run(watch, options, world);
    figures.reclaim = watch.until_now();
    figures.chunks = report.chunks;
    return report.verdict.end == retention::End::kDone
               ? Result<std::int64_t>(report.deleted)
               : Status(StatusCode::kInternal, "the run did not finish: " + report.verdict.why);
  });
}

double wait_ms(const Deletion& deletion) {
  return std::chrono::duration<double, std::milli>(deletion.writer.longest_wait).count();
}

double times_of(const RetentionFigures& figures) {
  return figures.run.took.count() / figures.single.took.count();
}

double wait_part_of(const RetentionFigures& figures) {
  return wait_ms(figures.run) / std::max(wait_ms(figures.single), 0.001);
}

std::string line_of(std::string_view what, double single, double run, std::string_view goal) {
  return fmt::format("{:<32}{:>14.2f}{:>14.2f}   {}\n", what, single, run, goal);
}

std::string json_of(const Deletion& deletion) {
  return fmt::format(
      R"({{"deleted":{},"seconds":{:.3f},"longest_wait_ms":{:.3f},"rows_written_beside":{},)"
      R"("wal_bytes_max":{},"file_bytes":{}}})",
      deletion.deleted, deletion.took.count(), wait_ms(deletion), deletion.writer.rows,
      deletion.writer.wal_bytes_max, deletion.file_bytes);
}

}  // namespace

Result<RetentionFigures> measure_retention(std::int64_t rows, const fs::path& directory) {
  const fs::path single = directory / "single.db";
  const fs::path run = directory / "run.db";
  const WallTime now = Clock::system().wall_now();
  const Result<std::int64_t> expired = make_table(single, rows, now);
  if (!expired) {
    return expired.error();
  }
  fs::copy_file(single, run);
  RetentionFigures figures{.rows = rows, .expired = *expired};
  figures.file_bytes = static_cast<std::int64_t>(fs::file_size(run));
  auto by_single = measure_single(single, now);
  if (!by_single) {
    return by_single.error();
  }
  figures.single = *by_single;
  auto by_run = measure_run(run, now, figures);
  if (!by_run) {
    return by_run.error();
  }
  figures.run = *by_run;
  return figures;
}

std::string table_of(const RetentionFigures& figures) {
  const Deletion& single = figures.single;
  const Deletion& run = figures.run;
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / kMiB; };
  std::string text = fmt::format(
      "{} rows, {} of them expired, in a file of {:.0f} MiB; a row is written every 5 ms\n\n"
      "{:<32}{:>14}{:>14}\n{:<32}{:>14}{:>14}\n",
      figures.rows, figures.expired, mib(figures.file_bytes), "", "one DELETE", "run",
      "rows deleted", single.deleted, run.deleted);
  text += line_of("seconds", single.took.count(), run.took.count(),
                  fmt::format("{:.2f} times; goal: at most {:.0f}", times_of(figures), kTimesMax));
  text += line_of("  of them for giving space back", 0, figures.reclaim.count(), "");
  text += line_of(
      "longest wait of the writer, ms", wait_ms(single), wait_ms(run),
      fmt::format("1/{:.0f}; goal: at most 1/{:.0f}, and below {:.0f} ms",
                  1 / std::max(wait_part_of(figures), 0.000'001), 1 / kWaitPartMax, kWaitMsMax));
  text += line_of("write-ahead log, MiB at most", mib(single.writer.wal_bytes_max),
                  mib(run.writer.wal_bytes_max), fmt::format("goal: at most {:.0f}", kWalMiBMax));
  text += line_of("file afterwards, MiB", mib(single.file_bytes), mib(run.file_bytes), "");
  return text + fmt::format("{:<32}{:>14}{:>14}\n", "transactions", 1, figures.chunks);
}

std::string json_of(const RetentionFigures& figures) {
  return fmt::format(
      R"({{"rows":{},"expired":{},"file_bytes":{},"single":{},"run":{},"reclaim_seconds":{:.3f},)"
      R"("chunks":{},"times":{:.3f},"wait_part":{:.5f},"goals":{{"times":{},"wait_part":{},)"
      R"("wait_ms":{},"wal_mib":{}}}}})"
      "\n",
      figures.rows, figures.expired, figures.file_bytes, json_of(figures.single),
      json_of(figures.run), figures.reclaim.count(), figures.chunks, times_of(figures),
      wait_part_of(figures), kTimesMax, kWaitPartMax, kWaitMsMax, kWalMiBMax);
}

}  // namespace spillway::bench
