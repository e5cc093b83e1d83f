// SPDX-License-Identifier: MIT
#include "bench/insert_rate.h"

#include <spillway/database.h>
#include <spillway/pipeline.h>

#include <spdlog/fmt/fmt.h>

#include "bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace spillway::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kRowsOfAPlainInsert = 14;  // Of 7 values each: 98 of D1's 100 parameters.
constexpr std::chrono::minutes kPatience{10};
const std::string kPipelineTable = "bench_pipeline";
const std::string kPlainTable = "bench_plain";
constexpr double kGoal = 10;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// A row of about 250 bytes.
std::string message(int row) {
  return fmt::format("order {} accepted for customer {} {:x<150}", 100'000 + row, row % 97, "");
}

Status run(Database& database, std::vector<Statement> statements) {
  return database.execute(statements, {}).status();
}

Status drop_tables(Database& database) {
  return run(database, {{"DROP TABLE IF EXISTS " + kPipelineTable},
                        {"DROP TABLE IF EXISTS " + kPipelineTable + "_meta"},
                        {"DROP TABLE IF EXISTS " + kPlainTable}});
}

/// What the pipeline's table looks like: docs/formats.md.
Status create_plain_table(Database& database) {
  return run(database,
             {{"CREATE TABLE " + kPlainTable +
               " (created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT NULL,"
               " level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT,"
               " PRIMARY KEY (created_at, writer, seq)) WITHOUT ROWID"}});
}

Result<std::int64_t> count_rows(Database& database, const std::string& table) {
  const Statement count{"SELECT CAST(count(*) AS TEXT) FROM " + table + " WHERE context = 'bench'"};
  const auto results = database.execute(std::span(&count, 1), {});
  if (!results) {
    return results.error();
  }
  return std::stoll(std::get<std::string>(results->front().rows.front().front()));
}

/// `rows` have to be in the table.
Result<double> rate(Database& database, const std::string& table, int rows, double seconds) {
  const Result<std::int64_t> stored = count_rows(database, table);
  if (!stored) {
    return stored.error();
  }
  if (*stored != rows) {
    return Status(StatusCode::kInternal,
                  fmt::format("{} of {} rows are in {}", *stored, rows, table));
  }
  return rows / seconds;
}

Result<double> pipeline_rate(Database& database, const DatabaseFactory& factory, int rows) {
  PipelineOptions options{.table = kPipelineTable, .close_timeout = std::chrono::hours(1)};
  options.request_rate = RequestRate{};  // What the account allows is not what is measured here.
  auto pipeline = Pipeline::start(factory, std::move(options));
  if (!pipeline) {
    return pipeline.error();
  }
  const SteadyClock::time_point start = SteadyClock::now();
  for (int row = 0; row < rows; ++row) {
    const std::string text = message(row);
    const RecordView record{.time = Clock::system().wall_now(),
                            .level = Level::kInfo,
                            .context = "bench",
                            .message = text};
    (*pipeline)->wait_for_room(record);
    (*pipeline)->accept(record);
  }
  static_cast<void>((*pipeline)->close(kPatience));
  return rate(database, kPipelineTable, rows, seconds_since(start));
}

Statement plain_insert(int first_row, int rows) {
  Statement insert{"INSERT INTO " + kPlainTable + " VALUES "};
  Row values;
  for (int row = first_row; row < first_row + rows; ++row) {
    insert.sql += row == first_row ? "(?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?)";
    // Numbers as doubles, which go to D1 as they are.
    for (Value value : {Value("2026-01-01T00:00:00.000Z"), Value(1.0), Value(double(row)),
                        Value("INFO"), Value("bench"), Value(message(row)), Value()}) {
      values.push_back(std::move(value));
    }
  }
  insert.rows.push_back(std::move(values));
  return insert;
}

Result<double> plain_rate(Database& database, int rows) {
  if (Status status = create_plain_table(database); !status.is_ok()) {
    return status;
  }
  const SteadyClock::time_point start = SteadyClock::now();
  for (int row = 0; row < rows; row += kRowsOfAPlainInsert) {
    Status status = run(database, {plain_insert(row, std::min(kRowsOfAPlainInsert, rows - row))});
    if (!status.is_ok()) {
      return status;
    }
  }
  return rate(database, kPlainTable, rows, seconds_since(start));
}

Result<InsertRates> measure_run(Database& database, const DatabaseFactory& factory,
                                const InsertRateOptions& options) {
  if (Status status = drop_tables(database); !status.is_ok()) {
    return status;
  }
  const Result<double> pipeline = pipeline_rate(database, factory, options.pipeline_rows);
  if (!pipeline) {
    return pipeline.error();
  }
  const Result<double> plain = plain_rate(database, options.plain_rows);
  if (!plain) {
    return plain.error();
  }
  return InsertRates{.pipeline = *pipeline, .plain = *plain};
}

InsertRates medians(const std::vector<InsertRates>& runs) {
  std::vector<double> pipeline;
  std::vector<double> plain;
  for (const InsertRates& run : runs) {
    pipeline.push_back(run.pipeline);
    plain.push_back(run.plain);
  }
  return {.pipeline = median(std::move(pipeline)), .plain = median(std::move(plain))};
}

double median_quotient(const std::vector<InsertRates>& runs) {
  std::vector<double> quotients;
  quotients.reserve(runs.size());
  for (const InsertRates& run : runs) {
    quotients.push_back(run.pipeline / run.plain);
  }
  return median(std::move(quotients));
}

}  // namespace

Result<std::vector<InsertRates>> measure_insert_rates(const InsertRateOptions& options) {
  const auto factory = database_factory(options.db, OpenMode::kCreate);
  if (!factory) {
    return factory.error();
  }
  const auto database = (*factory)();
  if (!database) {
    return database.error();
  }
  std::vector<InsertRates> runs;
  for (int number = 0; number < options.runs; ++number) {
    const Result<InsertRates> run = measure_run(**database, *factory, options);
    if (!run) {
      return run.error();
    }
    runs.push_back(*run);
  }
  if (Status status = drop_tables(**database); !status.is_ok()) {
    return status;
  }
  return runs;
}

std::string table_of(const std::vector<InsertRates>& runs) {
  const InsertRates rates = medians(runs);
  return fmt::format(
      "rows a second into the database; medians of {} runs\n\n"
      "{:<26}{:>10.0f}\n{:<26}{:>10.0f}\n\n{:<26}{:>10.1f}   goal: at least {:.0f}\n",
      runs.size(), "spillway", rates.pipeline, "one INSERT of 14 rows", rates.plain,
      "spillway / INSERT", median_quotient(runs), kGoal);
}

std::string json_of(const std::vector<InsertRates>& runs) {
  const InsertRates rates = medians(runs);
  return fmt::format(
      R"({{"runs":{},"rows_per_second":{{"spillway":{:.0f},"plain":{:.0f}}},"quotient":{:.2f},)"
      R"("goal":{}}})"
      "\n",
      runs.size(), rates.pipeline, rates.plain, median_quotient(runs), kGoal);
}

}  // namespace spillway::bench
