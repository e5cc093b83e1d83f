// SPDX-License-Identifier: MIT
//
// Goal: what Spillway itself asks of a database is understood by all kinds of them, D1's real
// engine included: the log table, its pages, and a whole pipeline. Method: one suite, run on each
// kind; what a statement wrote is taken from the database's own count.
#include <spillway/pipeline.h>
#include <spillway/sqlite_database.h>

#include "table/log_query.h"
#include "table/log_table.h"
#include "tests/contract/database_source.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Access;
using testing::DatabaseContract;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kWriter = 9'007'199'254'740'991;  // 2^53 - 1, the greatest there is.

// What was asked, and what the inserts into the log table wrote.
struct Asked {
  std::atomic<std::int64_t> requests = 0;
  std::atomic<std::int64_t> inserts = 0;
  std::atomic<std::int64_t> rows_written = 0;
};

class WatchedDatabase final : public Database {
 public:
  WatchedDatabase(std::unique_ptr<Database> inner, std::shared_ptr<Asked> asked)
      : inner_(std::move(inner)), asked_(std::move(asked)) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    ++asked_->requests;
    auto results = inner_->execute(statements, options);
    for (std::size_t i = 0; results && i < statements.size(); ++i) {
      if (statements[i].sql.starts_with("INSERT INTO \"logs\"")) {
        ++asked_->inserts;
        asked_->rows_written += (*results)[i].meta.rows_written;
      }
    }
    return results;
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_->traits(); }

 private:
  std::unique_ptr<Database> inner_;
  std::shared_ptr<Asked> asked_;
};

Record record_of(std::int64_t seq, const std::string& message = "hello",
                 Level level = Level::kInfo) {
  return make_record({.time = WallTime(milliseconds(1'787'898'912'345 + seq / 2)),
                      .level = level,
                      .context = seq % 3 == 0 ? "web" : "app",
                      .message = message},
                     seq);
}

std::vector<Record> records(std::int64_t count) {
  std::vector<Record> rows;
  for (std::int64_t seq = 1; seq <= count; ++seq) {
    rows.push_back(
        record_of(seq, "row " + std::to_string(seq), seq % 4 == 0 ? Level::kError : Level::kInfo));
  }
  return rows;
}

std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t last, std::int64_t step) {
  std::vector<std::int64_t> all;
  for (std::int64_t number = first; step > 0 ? number <= last : number >= last; number += step) {
    all.push_back(number);
  }
  return all;
}

class Log : public DatabaseContract {
 protected:
  void SetUp() override {
    DatabaseContract::SetUp();
    if (database != nullptr) {
      database = watched(std::move(database));
    }
  }
  std::unique_ptr<Database> watched(std::unique_ptr<Database> inner) {
    return std::make_unique<WatchedDatabase>(std::move(inner), asked);
  }

  void prepare() {
    const Status status = logs.prepare(*database, {});
    ASSERT_TRUE(status.is_ok()) << status.to_string();
  }
  Result<Inserted> insert(const std::vector<Record>& rows) {
    return logs.insert(*database, kWriter, rows, {});
  }
  std::int64_t count(const std::string& condition = "true") {
    return std::get<std::int64_t>(value_of("SELECT count(*) FROM logs WHERE " + condition));
  }
  // A log row is one row on the bill. SQLite does not count.
  void expect_written(std::int64_t rows) const {
    EXPECT_EQ(asked->rows_written, database->traits().dialect == Dialect::kD1 ? rows : 0);
  }

  // All pages of `rows_max` rows, one after the other.
  std::vector<LogRow> read(LogOrder order, std::size_t rows_max, LogFilter filter = {},
                           const LogWindow& window = {}) {
    const LogQuery query = std::move(LogQuery::of("logs", std::move(filter))).value();
    std::vector<LogRow> rows;
    std::optional<LogKey> beyond;
    for (bool is_last = false; !is_last;) {
      const auto page = query.read(*database, window, order, beyond, rows_max, {});
      if (!page) {
        ADD_FAILURE() << page.error().to_string();
        break;
      }
      rows.insert(rows.end(), page->rows.begin(), page->rows.end());
      is_last = page->is_last;
      beyond = page->end;
    }
    return rows;
  }
  std::vector<std::int64_t> seqs(LogOrder order, std::size_t rows_max, LogFilter filter = {},
                                 const LogWindow& window = {}) {
    std::vector<std::int64_t> found;
    for (const LogRow& row : read(order, rows_max, std::move(filter), window)) {
      found.push_back(row.key.seq);
    }
    return found;
  }

  const LogTable logs = std::move(LogTable::named("logs")).value();
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();
};

// The table.

TEST_P(Log, MakesItsTableOnceAndThenOnlyLooks) {
  prepare();
  ASSERT_TRUE(insert(records(1)).has_value());
  const auto reader = source->open(Access::kReadOnly);
  const Status status = logs.prepare(*reader, {});
  EXPECT_TRUE(status.is_ok()) << status.to_string();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(value_of("SELECT value FROM logs_meta WHERE key = 'schema_version'"),
            Value(std::int64_t{1}));
}

TEST_P(Log, RefusesATableOfAnotherShape) {
  ASSERT_TRUE(status_of({{"CREATE TABLE logs(id INTEGER PRIMARY KEY, message TEXT)"}}).is_ok());
  const Status status = logs.prepare(*database, {});
  EXPECT_EQ(status.code(), StatusCode::kConfig) << status.to_string();
  EXPECT_THAT(rows_of("SELECT * FROM logs"), IsEmpty());
}

TEST_P(Log, SaysThatThereIsNoTable) {
  EXPECT_EQ(insert(records(1)).status().code(), StatusCode::kSchema);
  const auto page = LogQuery::of("logs", {})
                        .value()
                        .read(*database, {}, LogOrder::kNewestFirst, std::nullopt, 1, {});
  EXPECT_EQ(page.status().code(), StatusCode::kSchema);
}

// Rows.

TEST_P(Log, StoresRowsAsTheyAre) {
  prepare();
  std::vector<Record> rows{record_of(1), record_of(2, "\"\\\x01\n\x7f € \xF0\x9F\x8C\x8A"),
                           record_of(3, std::string("a\0b\xff", 4)), record_of(4, ""),
                           record_of(9'007'199'254'740'991, "12e3", Level::kCritical)};
  rows[1].fields = R"({"k":"a\"b\\","n":[1.5,null,9007199254740993]})";
  rows[3].context = "5";
  EXPECT_EQ(insert(rows).value().rows, 5);
  const std::vector<LogRow> stored = read(LogOrder::kOldestFirst, 100);
  ASSERT_THAT(stored, SizeIs(5));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(stored[i].key.writer, kWriter);
    EXPECT_EQ(stored[i].key.seq, rows[i].seq);
    EXPECT_EQ(stored[i].level, to_string(rows[i].level));
    EXPECT_EQ(stored[i].context, rows[i].context);
    EXPECT_EQ(stored[i].message, rows[i].message);
    EXPECT_EQ(stored[i].fields.value_or(""), rows[i].fields);
  }
  EXPECT_EQ(stored[0].key.created_at, "2026-08-28T06:35:12.345Z");
}

TEST_P(Log, StoresABatchInOneRequestAsOneRowWrittenEach) {
  prepare();
  asked->requests = 0;
  EXPECT_EQ(insert(records(2'000)).value().rows, 2'000);
  EXPECT_EQ(asked->requests, 1);
  expect_written(2'000);
  EXPECT_EQ(count("message = 'row ' || seq"), 2'000);
}

TEST_P(Log, DoublesNoRowThatIsSentAgain) {
  prepare();
  std::vector<Record> rows = records(20);
  ASSERT_EQ(insert(rows).value().rows, 20);
  const Inserted again = insert(rows).value();
  EXPECT_EQ(again.rows, 0);
  EXPECT_EQ(again.collisions, 0);
  rows.push_back(record_of(21));
  EXPECT_EQ(insert(rows).value().rows, 1);
  EXPECT_EQ(count(), 21);
  expect_written(21);
}

TEST_P(Log, CountsARowThatIsThereWithOtherContents) {
  prepare();
  std::vector<Record> rows = records(5);
  ASSERT_TRUE(insert(rows).has_value());
  rows[3].message = "another one";
  const Inserted again = insert(rows).value();
  EXPECT_EQ(again.rows, 0);
  EXPECT_EQ(again.collisions, 1);
  EXPECT_EQ(again.collided_seq, 4);
  EXPECT_EQ(count("message = 'row ' || seq"), 5) << "the table keeps what it had";
}

TEST_P(Log, NamesTheRowsThatATriggerKeepsOut) {
  prepare();
  ASSERT_TRUE(status_of({{"CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.seq IN (7, 9) "
                          "BEGIN SELECT raise(IGNORE); END"}})
                  .is_ok());
  const Inserted inserted = insert(records(10)).value();
  EXPECT_EQ(inserted.rows, 8);
  EXPECT_THAT(inserted.missing, ElementsAre(7, 9));
}

TEST_P(Log, StoresNothingOfABatchThatATriggerRefuses) {
  prepare();
  ASSERT_TRUE(status_of({{"CREATE TRIGGER g BEFORE INSERT ON logs WHEN new.seq = 9 "
                          "BEGIN SELECT raise(ABORT, 'not this one'); END"}})
                  .is_ok());
  const Status status = insert(records(10)).status();
  EXPECT_EQ(status.code(), StatusCode::kConstraint) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("not this one"));
  EXPECT_EQ(count(), 0);
}

TEST_P(Log, CutsNothingOfARowWhoseJsonIsTooLong) {
  prepare();
  const std::string controls(350'000, '\x01');  // Six bytes each in JSON.
  const std::vector<Record> rows{record_of(1), record_of(2, controls), record_of(3)};
  EXPECT_EQ(insert(rows).value().rows, 3);
  EXPECT_EQ(insert(rows).value().rows, 0) << "and the comparison takes it in that form";
  EXPECT_EQ(read(LogOrder::kOldestFirst, 10).at(1).message, controls);
}

// Pages.

TEST_P(Log, IsReadInPagesBothWays) {
  prepare();
  ASSERT_TRUE(insert(records(7)).has_value());  // Two rows of each time.
  for (const std::size_t rows_max : {1U, 2U, 3U, 7U, 100U}) {
    EXPECT_EQ(seqs(LogOrder::kOldestFirst, rows_max), numbers(1, 7, 1)) << rows_max;
    EXPECT_EQ(seqs(LogOrder::kNewestFirst, rows_max), numbers(7, 1, -1)) << rows_max;
  }
}

TEST_P(Log, IsReadThroughAFilterInAWindow) {
  prepare();
  ASSERT_TRUE(insert(records(24)).has_value());
  for (const std::size_t rows_max : {5U, 100U}) {
    EXPECT_EQ(seqs(LogOrder::kOldestFirst, rows_max, {.level_min = Level::kWarn}),
              numbers(4, 24, 4));
    EXPECT_EQ(seqs(LogOrder::kNewestFirst, rows_max, {.context = "web"}), numbers(24, 3, -3));
    EXPECT_THAT(seqs(LogOrder::kOldestFirst, rows_max, {.text = "row 2"}),
                ElementsAre(2, 20, 21, 22, 23, 24));
    EXPECT_THAT(seqs(LogOrder::kOldestFirst, rows_max,
                     {.level_min = Level::kError, .context = "web", .text = "1"}),
                ElementsAre(12));
  }
  const LogWindow window{.since = "2026-08-28T06:35:12.347", .until = "2026-08-28T06:35:12.349"};
  EXPECT_EQ(seqs(LogOrder::kOldestFirst, 2, {}, window), numbers(4, 7, 1));
  EXPECT_EQ(seqs(LogOrder::kNewestFirst, 3, {.text = "row"}, window), numbers(7, 4, -1));
  EXPECT_THAT(seqs(LogOrder::kNewestFirst, 3, {.text = "no such text"}), IsEmpty());
}

// All of it.

TEST_P(Log, TakesWhatAPipelineIsGiven) {
  constexpr int kRecords = 3'000;
  auto started = Pipeline::start(
      [this]() -> Result<std::unique_ptr<Database>> {
        return watched(source->open(Access::kReadWrite));
      },
      {.request_rate = RequestRate{}});
  ASSERT_TRUE(started.has_value()) << started.error().to_string();
  Pipeline& pipeline = **started;
  for (int i = 1; i <= kRecords; ++i) {
    pipeline.accept({.time = Clock::system().wall_now(),
                     .level = i % 1'000 == 0 ? Level::kError : Level::kInfo,
                     .context = "app",
                     .message = "order " + std::to_string(i)});
  }
  const Stats stats = pipeline.close(seconds(60));
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.issued, static_cast<std::uint64_t>(kRecords));
  EXPECT_EQ(stats.stored, static_cast<std::uint64_t>(kRecords));
  EXPECT_EQ(stats.skipped() + stats.in_doubt + stats.collisions + stats.pauses, 0U);
  EXPECT_EQ(count("message = 'order ' || seq"), kRecords);
  EXPECT_LE(asked->inserts, static_cast<std::int64_t>(stats.attempts));
  expect_written(kRecords);
}

INSTANTIATE_TEST_SUITE_P(On, Log, ::testing::ValuesIn(testing::database_kinds()), testing::name_of);

}  // namespace
}  // namespace spillway
