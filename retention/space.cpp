// SPDX-License-Identifier: MIT
#include "retention/space.h"

#include "d1/attempt_limits.h"
#include "d1/exact_integer.h"
#include "d1/execute_all.h"
#include "d1/sqlite_connection.h"
#include "d1/sqlite_file.h"
#include "retention/chunk_size.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace spillway::retention {
namespace {

namespace fs = std::filesystem;

// Source: sqlite.org/fileformat2.html, "WAL File Format".
constexpr std::int64_t kWalHeaderBytes = 32;
constexpr std::int64_t kFrameHeaderBytes = 24;

// Of the pages that Spillway's files have. SQLite's automatic checkpoint begins at 1,000.
constexpr std::int64_t kFramesWanted = 750;
constexpr int kMovesMax = 10;
constexpr std::int64_t kCallsMax = 4;  // Transactions may grow meanwhile.

// Waits for neither readers nor writers.
constexpr const char* kMove = "PRAGMA wal_checkpoint(PASSIVE)";

// Small steps at first: nobody knows yet how long one takes.
constexpr std::int64_t kFirstStepPages = 64;
constexpr std::int64_t kStepPagesMax = 400;
constexpr std::int64_t kWorthBytes = 1024 * 1024;
constexpr std::int64_t kWorthShare = 10;  // A tenth of the file.

Status unreadable_path(const std::string& path, const std::error_code& error) {
  return {StatusCode::kConfig, "cannot look at \"" + path + "\": " + error.message()};
}

// What PRAGMA wal_checkpoint answers. Frames are empty where the file has no log, or another
// connection is moving it at this moment.
struct Checkpoint {
  bool is_complete = false;
  std::optional<std::int64_t> frames = {};
};

Result<Row> first_row_of(SqliteConnection& connection, const char* sql) {
  Result<SqliteStatement> statement = connection.prepare(sql);
  if (!statement) {
    return statement.error();
  }
  Row row;
  int code = statement->step();
  for (; code == SQLITE_ROW; code = statement->step()) {
    row = statement->row();
  }
  return code == SQLITE_DONE ? Result<Row>(std::move(row)) : connection.failure(code);
}

Result<Checkpoint> checkpoint(SqliteConnection& connection, const char* sql) {
  const Result<Row> row = first_row_of(connection, sql);
  if (!row) {
    return row.error();
  }
  constexpr std::size_t kCells = 3;  // Busy, frames in the log, frames moved.
  if (row->size() != kCells) {
    return does_not_fit();
  }
  const std::int64_t frames = exact_integer((*row)[1]).value_or(-1);
  Checkpoint done;
  done.is_complete = exact_integer((*row)[0]) == 0 && frames == exact_integer((*row)[2]);
  done.frames = frames < 0 ? std::nullopt : std::optional(frames);
  return done;
}

// Numbers that one PRAGMA each answers, read in one transaction.
template <std::size_t N>
Result<std::array<std::int64_t, N>> numbers_of(Database& database,
                                               const std::array<Statement, N>& statements,
                                               const ExecuteOptions& options) {
  const auto answers = execute_all(database, statements, options);
  if (!answers) {
    return answers.error();
  }
  std::array<std::int64_t, N> numbers{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::vector<Row>& rows = (*answers)[i].rows;
    const bool has_number = !rows.empty() && !rows.front().empty();
    numbers[i] = has_number ? exact_integer(rows.front().front()).value_or(0) : 0;
  }
  return numbers;
}

enum class AutoVacuum : std::int64_t { kNone = 0, kFull = 1, kIncremental = 2 };

struct Pages {
  AutoVacuum mode = AutoVacuum::kNone;
  std::int64_t free = 0;
  std::int64_t all = 0;
  std::int64_t bytes_each = 0;

  [[nodiscard]] std::int64_t free_bytes() const { return free * bytes_each; }
  [[nodiscard]] bool is_worth_it() const {
    return free * kWorthShare >= all && free_bytes() >= kWorthBytes;
  }
};

Result<Pages> pages_of(Database& database, const ExecuteOptions& options) {
  const std::array<Statement, 4> statements{{{"PRAGMA auto_vacuum"},
                                             {"PRAGMA freelist_count"},
                                             {"PRAGMA page_count"},
                                             {"PRAGMA page_size"}}};
  const auto numbers = numbers_of(database, statements, options);
  if (!numbers) {
    return numbers.error();
  }
  const auto [mode, free, all, bytes_each] = *numbers;
  return Pages{static_cast<AutoVacuum>(mode), free, all, bytes_each};
}

std::string note_of_kept_pages(const Pages& pages) {
  return std::to_string(pages.free_bytes()) +
         " bytes of the file are free, and stay in it for later rows: it was not made with "
         "auto_vacuum=INCREMENTAL; to make it smaller, stop what uses it and run "
         "PRAGMA auto_vacuum=INCREMENTAL; VACUUM";
}

// The next run can go on: nothing is wrong with the file.
bool is_put_off(const Status& failure) {
  return failure.code() == StatusCode::kOverload || failure.code() == StatusCode::kTransient ||
         failure.code() == StatusCode::kCancelled;
}

// In pages. The file loses some more than were free: those that say where which page is.
struct Step {
  std::int64_t no_longer_free = 0;
  std::int64_t given_back = 0;
};

// In one transaction, so that no other writer's pages are counted.
Result<Step> give_back(Database& database, std::int64_t pages, const ExecuteOptions& options) {
  const Statement free{"PRAGMA freelist_count"};
  const Statement all{"PRAGMA page_count"};
  const Statement vacuum{"PRAGMA incremental_vacuum(" + std::to_string(pages) + ")"};
  const auto numbers =
      numbers_of(database, std::array<Statement, 5>{free, all, vacuum, free, all}, options);
  if (!numbers) {
    return numbers.error();
  }
  const auto [free_before, all_before, none, free_after, all_after] = *numbers;
  return Step{free_before - free_after, all_before - all_after};
}

using Between = std::function<bool(std::chrono::microseconds)>;

// Until `pages.free` are given back: what others free meanwhile is for the next run.
Result<Reclaimed> give_all_back(Database& database, const Clock& clock, const Pages& pages,
                                ChunkSize size, const ExecuteOptions& options,
                                const Between& between) {
  Reclaimed reclaimed;
  for (std::int64_t left = pages.free; left > 0 && reclaimed.is_complete;) {
    const SteadyTime begin = clock.steady_now();
    const std::int64_t asked = std::min(size.rows(), left);
    const Result<Step> step = give_back(database, asked, options);
    if (!step) {
      reclaimed.is_complete = false;
      return is_put_off(step.error()) ? Result<Reclaimed>(reclaimed) : step.error();
    }
    const auto held =
        std::chrono::duration_cast<std::chrono::microseconds>(clock.steady_now() - begin);
    size.on_done(asked, held);
    reclaimed.bytes += step->given_back * pages.bytes_each;
    left = step->no_longer_free > 0 ? left - step->no_longer_free : 0;
    reclaimed.is_complete = between(held) || left <= 0;
  }
  return reclaimed;
}

}  // namespace

Wal::Wal(std::string file, std::int64_t bytes_max, std::unique_ptr<SqliteConnection> connection)
    : file_(std::move(file)), bytes_max_(bytes_max), connection_(std::move(connection)) {}

Wal::~Wal() = default;

Result<std::unique_ptr<Wal>> Wal::open(const std::string& path, std::int64_t bytes_max) {
  if (Status status = check_database_file(path, OpenMode::kExisting); !status.is_ok()) {
    return status;
  }
  std::error_code error;
  const fs::path real = fs::canonical(path, error);  // The log lies beside what a link leads to.
  if (error) {
    return unreadable_path(path, error);
  }
  auto connection = SqliteConnection::open(
      real, OpenMode::kExisting, AttemptLimits(Clock::system(), std::chrono::milliseconds::zero()));
  if (!connection) {
    return connection.error();
  }
  return std::unique_ptr<Wal>(new Wal(real.string() + "-wal", bytes_max, *std::move(connection)));
}

Result<std::int64_t> Wal::file_bytes() const {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file_, error);
  if (error == std::errc::no_such_file_or_directory) {
    return 0;
  }
  return error ? Result<std::int64_t>(unreadable_path(file_, error))
               : static_cast<std::int64_t>(bytes);
}

Status Wal::move_when_due() {
  if (++calls_ < calls_until_due_) {
    return {};
  }
  const auto moved = checkpoint(*connection_, kMove);
  const std::int64_t frames = moved ? moved->frames.value_or(0) : 0;
  is_long_ = frames >= kFramesWanted / 2;
  calls_until_due_ = std::clamp<std::int64_t>(
      kFramesWanted * calls_ / std::max<std::int64_t>(frames, 1), 1, kCallsMax);
  calls_ = 0;
  return moved.status();
}

void Wal::begin_anew() {
  for (int again = 0; is_long_ && again < kMovesMax; ++again) {
    const auto moved = checkpoint(*connection_, kMove);
    is_long_ = moved && !moved->is_complete;
  }
}

Result<std::int64_t> Wal::bytes_in_use() {
  Result<std::int64_t> bytes = file_bytes();
  if (!bytes || *bytes < bytes_max_ / 2) {
    return bytes;
  }
  // First what needs no lock that a writer waits for. The rest is then quickly done.
  if (const auto passive = checkpoint(*connection_, kMove); !passive) {
    return passive.error();
  }
  // That all is moved is not enough: as long as a reader looks into the log, the next writer goes
  // on at its end. This tells, because it fails then.
  const auto emptied = checkpoint(*connection_, "PRAGMA wal_checkpoint(TRUNCATE)");
  if (!emptied) {
    return emptied.error();
  }
  if (emptied->is_complete || !emptied->frames) {
    return file_bytes();
  }
  const Result<Value> page_size = connection_->run("PRAGMA page_size");
  if (!page_size) {
    return page_size.error();
  }
  return kWalHeaderBytes +
         *emptied->frames * (kFrameHeaderBytes + exact_integer(*page_size).value_or(0));
}

Result<Reclaimed> reclaim(Database& database, const Clock& clock,
                          std::chrono::microseconds step_target, const ExecuteOptions& options,
                          const Between& between) {
  const Result<Pages> pages = pages_of(database, options);
  if (!pages) {
    return is_put_off(pages.error()) ? Result<Reclaimed>(Reclaimed{.is_complete = false})
                                     : pages.error();
  }
  if (!pages->is_worth_it() || pages->mode == AutoVacuum::kFull) {
    return Reclaimed{};
  }
  if (pages->mode != AutoVacuum::kIncremental) {
    return Reclaimed{.note = note_of_kept_pages(*pages)};
  }
  const ChunkLimits limits{.first = kFirstStepPages, .max = kStepPagesMax, .target = step_target};
  return give_all_back(database, clock, *pages, ChunkSize(limits), options, between);
}

}  // namespace spillway::retention
