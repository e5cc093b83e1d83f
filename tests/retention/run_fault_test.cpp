// SPDX-License-Identifier: MIT
//
// Goal: whatever the database refuses, loses or holds on to, a run deletes nothing but what the
// policy lets go, forgets nothing of it, and says how it ended.
#include "retention/edge_rows.h"
#include "tests/retention/run_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace spillway::retention {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Status overload() { return {StatusCode::kOverload, "D1 DB is overloaded."}; }
Status lost() { return {StatusCode::kLost, "connection reset"}; }
// As D1 says it: see classify.cpp.
Status too_much() {
  return Status(StatusCode::kTooBig, "D1 DB exceeded its CPU time limit and was reset.")
      .with_execution(Execution::kMaybe);
}

// SQLite in the manner of D1: chunks that may grow to 50,000 rows, and a patience of a minute.
class LikeD1 final : public Database {
 public:
  explicit LikeD1(Database& inner) : inner_(inner) {}
  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override {
    return {.name = "D1", .dialect = Dialect::kD1};
  }

 private:
  Database& inner_;
};

class RunFault : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    between.emplace(*database);
    d1.emplace(*between);
  }

  /// 100 rows that have expired, and two that have not.
  void make_hundred_and_two() {
    make_log_table();
    add_minutes(100, days_ago(31));
    add(days_ago(29));
    add(now);
  }
  [[nodiscard]] std::int64_t expired() {
    return count("created_at < '" + time_text(days_ago(30)) + "'");
  }
  /// How many rows the chunk's first DELETE would take now.
  std::int64_t rows_of_deletion(std::span<const Statement> statements) {
    Statement count = statements[1];
    count.sql.replace(0, std::string("DELETE").size(), "SELECT count(*)");
    return exact_integer(last_of({std::move(count)}).rows[0][0]).value_or(-1);
  }
  /// As if a minute had passed since its holder died.
  void let_lease_end() {
    value_of(
        "UPDATE logs_meta SET value = json_set(value, '$.until', 0) WHERE key = "
        "'retention_lease' RETURNING 1");
  }

  std::optional<FaultyDatabase> between;  // It fails as told,
  std::optional<LikeD1> d1;               // and so does this.
};

TEST_P(RunFault, WaitsLongerAndLongerForAnOverloadedDatabase) {
  make_hundred_and_two();
  int deletions = 0;
  between->fail_before([&](std::span<const Statement> statements) {
    deletions += does_delete(statements) ? 1 : 0;
    return does_delete(statements) && deletions >= 4 && deletions < 8 ? overload() : Status();
  });
  const Report report = run_on(*d1, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(report.deleted, 100);
  EXPECT_EQ(count(), 2);
  std::vector<milliseconds> waits = clock.slept();
  std::erase_if(waits, [](milliseconds wait) { return wait < milliseconds(200); });
  EXPECT_THAT(waits, ElementsAre(milliseconds(250), milliseconds(500), milliseconds(1'000),
                                 milliseconds(2'000)));
}

TEST_P(RunFault, LeavesTheRestToTheNextRunWhenTheOverloadDoesNotEnd) {
  make_hundred_and_two();
  int deletions = 0;
  between->fail_before([&](std::span<const Statement> statements) {
    deletions += does_delete(statements) ? 1 : 0;
    return deletions > 3 ? overload() : Status();
  });
  const SteadyTime begin = clock.steady_now();
  const Report report = run_on(*d1, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(report.verdict.end, End::kUnavailable);
  EXPECT_THAT(report.verdict.why, HasSubstr("overloaded"));
  EXPECT_THAT(clock.steady_now() - begin, AllOf(Ge(std::chrono::seconds(50)), Le(minutes(2))));
  EXPECT_EQ(report.deleted, 30);
  EXPECT_EQ(count(), 72);
  between->fail_before(nullptr);
  let_lease_end();  // It could not be given back either.
  const Report next = run_on(*d1, {.policy = keep(30)});
  EXPECT_EQ(next.verdict.end, End::kDone) << next.verdict.why;
  EXPECT_EQ(count(), 2);
}

TEST_P(RunFault, RepeatsAChunkWhoseAnswerIsLost) {
  make_hundred_and_two();
  for (const bool is_executed : {true, false}) {
    int deletions = 0;
    const auto every_third = [&](std::span<const Statement> statements) {
      return does_delete(statements) && ++deletions % 3 == 0 ? lost() : Status();
    };
    between->fail_before(is_executed ? nullptr : FaultyDatabase::Fault(every_third));
    between->fail_after(is_executed ? FaultyDatabase::Fault(every_third) : nullptr);
    const Report report = run_on(*d1, {.policy = keep(30), .chunk = 10});
    EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
    EXPECT_EQ(count(), 2);
    EXPECT_GE(deletions, 10);
    add_minutes(100, days_ago(31));
  }
}

TEST_P(RunFault, RepeatsARenewalWhoseAnswerIsLost) {
  make_hundred_and_two();
  int losses = 0;
  between->fail_after([&](std::span<const Statement> statements) {
    const bool is_renewal = statements.size() == 3 && statements[1].sql.starts_with("UPDATE");
    if (does_delete(statements)) {
      clock.pass(std::chrono::seconds(6));
    }
    return is_renewal && ++losses % 2 == 1 ? lost() : Status();
  });
  const Report report = run_on(*d1, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(count(), 2);
  EXPECT_GE(losses, 4);
}

TEST_P(RunFault, LearnsWhatIsTooMuchForTheDatabase) {
  make_log_table();
  add_minutes(50'000, days_ago(31));
  add_rows(20'000, now, "INFO");
  constexpr std::int64_t kMost = 5'000;
  std::int64_t first_refused = 0;
  int refused_again = 0;
  between->fail_before([&](std::span<const Statement> statements) {
    const std::int64_t rows = does_delete(statements) ? rows_of_deletion(statements) : 0;
    if (rows <= kMost) {
      return Status();
    }
    refused_again += first_refused > 0 && rows >= first_refused ? 1 : 0;
    first_refused = first_refused > 0 ? first_refused : rows;
    return too_much();
  });
  const Report report = run_on(*d1, {.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(report.deleted, 50'000);
  EXPECT_EQ(count(), 20'000);
  EXPECT_LE(refused_again, 3);
}

TEST_P(RunFault, PassesASingleRowThatIsTooMuchForTheDatabase) {
  make_hundred_and_two();
  add(days_ago(31) - minutes(50), "HUGE");
  between->fail_before([&](std::span<const Statement> statements) {
    if (!does_delete(statements)) {
      return Status();
    }
    Statement huge = statements[1];
    huge.sql.replace(0, std::string("DELETE").size(), "SELECT count(*)");
    huge.sql += " AND level = 'HUGE'";
    return exact_integer(last_of({std::move(huge)}).rows[0][0]) == 1 ? too_much() : Status();
  });
  const Report report = run_on(*d1, {.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kNotMet);
  EXPECT_EQ(report.deleted, 100);
  EXPECT_THAT(report.kept, ElementsAre(Pair("refused", 1)));
  EXPECT_THAT(rows_of("SELECT level FROM logs ORDER BY 1"), ::testing::SizeIs(3));
}

TEST_P(RunFault, DeletesNothingWithoutAnAnswerToWhatItAsksFirst) {
  make_hundred_and_two();
  struct Case {
    const char* asked;  // A part of the SQL.
    Status failure;
    End end;
  };
  const std::vector<Case> cases{
      {"ORDER BY \"created_at\" DESC", lost(), End::kUnavailable},
      {"LIMIT 1 OFFSET", lost(), End::kUnavailable},
      {"julianday", lost(), End::kUnavailable},
      {"retention_state", {StatusCode::kPermanent, "malformed"}, End::kError},
      {"ORDER BY \"created_at\" DESC", {StatusCode::kPermanent, "malformed"}, End::kError},
      {"LIMIT 1 OFFSET", {StatusCode::kPermanent, "malformed"}, End::kError},
      {"LIMIT 1 OFFSET", {StatusCode::kAuth, "Authentication error"}, End::kError},
      {"table_xinfo", {StatusCode::kQuota, "daily limit"}, End::kUnavailable}};
  for (const Case& one : cases) {
    int met = 0;
    int deletions = 0;
    between->fail_before([&](std::span<const Statement> statements) {
      deletions += does_delete(statements) ? 1 : 0;
      const bool is_meant =
          std::any_of(statements.begin(), statements.end(), [&one](const Statement& statement) {
            return statement.sql.find(one.asked) != std::string::npos &&
                   !statement.sql.starts_with("INSERT");
          });
      met += is_meant ? 1 : 0;
      return is_meant ? one.failure : Status();
    });
    const Report report = run_on(*d1, {.policy = keep(30)});
    EXPECT_EQ(report.verdict.end, one.end) << one.asked << ": " << report.verdict.why;
    EXPECT_GE(met, 1) << one.asked;
    EXPECT_EQ(deletions, 0) << one.asked;
  }
  EXPECT_EQ(count(), 102);
}

TEST_P(RunFault, IsDoneWithAnEmptyTable) {
  make_log_table();
  const Policy policy{.keep = hours(24), .levels = {{"DEBUG", hours(1)}}, .max_rows = 10};
  for (int i = 0; i < 2; ++i) {
    const Report report = run_with({.policy = policy, .max_written = 10});
    EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
    EXPECT_EQ(report.deleted, 0);
    EXPECT_TRUE(report.is_met);
    EXPECT_EQ(report.oldest, std::nullopt);
  }
}

TEST_P(RunFault, KeepsWhatIsDoneWhenToldToStop) {
  make_hundred_and_two();
  int deletions = 0;
  between->fail_before([&](std::span<const Statement> statements) {
    deletions += does_delete(statements) ? 1 : 0;
    if (deletions == 4) {
      stop.request_stop();
    }
    return Status();
  });
  const Report report = run_on(*between, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(report.verdict.end, End::kStopped);
  EXPECT_THAT(report.verdict.why, HasSubstr("signal"));
  EXPECT_THAT(report.warnings, ElementsAre());
  EXPECT_THAT(report.deleted, AllOf(Ge(30), Le(40)));
  EXPECT_EQ(count(), 102 - report.deleted);
  stop = {};
  deletions = 100;
  const Report next = run_on(*between, {.policy = keep(30), .chunk = 10});
  EXPECT_EQ(next.verdict.end, End::kDone) << next.verdict.why << ": at once, and where it was";
  EXPECT_EQ(next.deleted, 100 - report.deleted);
  EXPECT_LE(next.chunks, 8);
}

TEST_P(RunFault, BeginsNoChunkThatWouldTakeTooLong) {
  make_hundred_and_two();
  between->fail_after([&](std::span<const Statement> statements) {
    if (does_delete(statements)) {
      clock.pass(std::chrono::seconds(4));
    }
    return Status();
  });
  const RunOptions options{
      .policy = keep(30), .chunk = 10, .max_runtime = std::chrono::seconds(10)};
  const Report report = run_on(*d1, options);
  EXPECT_EQ(report.verdict.end, End::kStopped);
  EXPECT_THAT(report.verdict.why, HasSubstr("--max-runtime"));
  EXPECT_EQ(report.deleted, 20);
  EXPECT_EQ(count(), 82);
}

TEST_P(RunFault, TellsWhetherItFallsBehind) {
  make_log_table();
  add_minutes(12 * 1'440, now);
  const auto run_at = [this](WallTime time, std::int64_t rows) {
    return run_with({.policy = keep(4), .chunk = 100, .max_written = rows, .now = time});
  };
  EXPECT_EQ(run_at(days_ago(3), 720).falling_behind, std::nullopt) << "nothing to compare with";
  for (const int day : {2, 1}) {
    const Report report = run_at(days_ago(day), 720);
    EXPECT_EQ(report.verdict.end, End::kStopped);
    EXPECT_NEAR(report.falling_behind.value_or(0), 2, 0.2);
  }
  const Report keeping_up = run_at(now, 2'000);
  EXPECT_EQ(keeping_up.verdict.end, End::kStopped);
  EXPECT_EQ(keeping_up.falling_behind, std::nullopt);
  EXPECT_EQ(run_at(now, 100'000).verdict.end, End::kDone);
}

TEST_P(RunFault, IsRefusedWhereTheClocksDiffer) {
  make_hundred_and_two();
  class ShiftedClock final : public Clock {
   public:
    explicit ShiftedClock(milliseconds by) : by_(by) {}
    [[nodiscard]] WallTime wall_now() const noexcept override {
      return Clock::system().wall_now() + by_;
    }
    [[nodiscard]] SteadyTime steady_now() const noexcept override {
      return Clock::system().steady_now();
    }

   private:
    milliseconds by_;
  };
  for (const auto& [by, end] : std::vector<std::pair<minutes, End>>{
           {minutes(6), End::kRefused}, {minutes(-6), End::kRefused}, {minutes(-4), End::kDone}}) {
    const ShiftedClock shifted(by);
    const Report report = retention::run(
        *database, {.policy = keep(30)},
        World{.clock = shifted, .sleeper = clock.sleeper(), .owner = "x", .random = [] {
                return 0.5;
              }});
    EXPECT_EQ(report.verdict.end, end) << by.count() << ": " << report.verdict.why;
    EXPECT_EQ(count(), end == End::kRefused ? 102 : 2);
  }
}

TEST_P(RunFault, IsRefusedWhereTheCutOffsWentAheadOfTheRows) {
  make_log_table();
  add_minutes(2'000, days_ago(300));
  add_minutes(10, now);
  ASSERT_EQ(run_with({.policy = keep(365)}).verdict.end, End::kDone);
  for (const int days : {300, 400}) {  // The second time, the newest row would go as well.
    const Report report = run_with({.policy = keep(365), .now = now + hours(24) * days});
    EXPECT_EQ(report.verdict.end, End::kRefused) << days;
    EXPECT_THAT(report.verdict.why, HasSubstr("--allow-delete"));
  }
  EXPECT_EQ(count(), 2'010);
}

// Tables that others made.
class RunFaultOfOthers : public RunFault {
 protected:
  /// `columns` are those of the key, which `key` gives for row i; of 200 rows all but 50 go.
  void make(const std::string& columns, const std::string& key, const std::string& end = ")") {
    ASSERT_TRUE(
        status_of(
            {{"CREATE TABLE logs(" + columns + ", level TEXT, message TEXT, created_at" + end},
             {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
              " INSERT INTO logs SELECT " +
              key +
              ", 'INFO', 'text', CASE WHEN i % 4 > 0 THEN '2020-01-01 00:00:00' "
              "ELSE datetime('now', '-1 hours') END FROM n"}})
            .is_ok());
  }
};

TEST_P(RunFaultOfOthers, GoesOnWhereABudgetStoppedIt) {
  struct Case {
    const char* columns;
    const char* key;
    const char* end;
  };
  for (const Case& one :
       {Case{"id INTEGER PRIMARY KEY", "i", ")"},
        Case{"id TEXT PRIMARY KEY", "printf('%04d', i * 7919 % 1000) || char(0, 233)",
             ") WITHOUT ROWID"},
        Case{"id BLOB, part REAL", "CAST(printf('%04d', i) || x'00ff' AS BLOB), i % 3 + 0.5",
             ", PRIMARY KEY(part DESC, id)) WITHOUT ROWID"}}) {
    make(one.columns, one.key, one.end);
    std::int64_t deleted = 0;
    std::int64_t chunks = 0;
    End end = End::kStopped;
    for (int i = 0; i < 10 && end == End::kStopped; ++i) {
      const Report report = run_with({.policy = keep(30), .chunk = 10, .max_written = 30});
      deleted += report.deleted;
      chunks += report.chunks;
      end = report.verdict.end;
      EXPECT_LE(report.deleted, 30) << one.columns;
    }
    EXPECT_EQ(end, End::kDone) << one.columns;
    EXPECT_EQ(deleted, 150) << one.columns;
    EXPECT_EQ(count(), 50) << one.columns;
    EXPECT_LE(chunks, 45) << one.columns << ": it began anew";
    ASSERT_TRUE(status_of({{"DROP TABLE logs"}, {"DROP TABLE logs_meta"}}).is_ok());
  }
}

TEST_P(RunFaultOfOthers, AreNotWalkedRowByRowWhenFewMoreMayGo) {
  make("id INTEGER PRIMARY KEY", "i");
  ASSERT_TRUE(status_of({{"UPDATE logs SET created_at = datetime('now', '-1 hours') WHERE id > 8"}})
                  .is_ok());
  const Report report = run_with({.policy = keep(30), .allow_delete = 7});
  EXPECT_EQ(report.verdict.end, End::kDone) << report.verdict.why;
  EXPECT_EQ(report.deleted, 6);
  EXPECT_LE(report.chunks, 3);
}

TEST_P(RunFaultOfOthers, AreRefusedWithTimesOfAnotherUnit) {
  make("id INTEGER PRIMARY KEY", "i");
  ASSERT_TRUE(
      status_of({{"UPDATE logs SET created_at = 1577836800000000 WHERE id > 198"}}).is_ok());
  const Report report = run_with({.policy = keep(30)});
  EXPECT_EQ(report.verdict.end, End::kRefused);
  EXPECT_THAT(report.verdict.why, HasSubstr("neither seconds nor milliseconds"));
  EXPECT_EQ(count(), 200);
}

TEST_P(RunFaultOfOthers, KeepRowsThatTriggersAndForeignKeysHold) {
  make("id INTEGER PRIMARY KEY", "i");
  ASSERT_TRUE(status_of({{"CREATE TRIGGER hold BEFORE DELETE ON logs WHEN OLD.id = 5 BEGIN SELECT "
                          "RAISE(IGNORE); END"},
                         {"CREATE TABLE held(id INTEGER REFERENCES logs(id) ON DELETE RESTRICT)"},
                         {"INSERT INTO held VALUES(50), (51), (52)"},
                         {"CREATE TABLE audit(id)"},
                         {"CREATE TRIGGER audit AFTER DELETE ON logs BEGIN INSERT INTO audit "
                          "VALUES(OLD.id), (-OLD.id); END"}})
                  .is_ok());
  const Report report = run_with({.policy = keep(30), .chunk = 20});
  EXPECT_EQ(report.verdict.end, End::kNotMet);
  // 52 has not expired.
  EXPECT_THAT(report.kept, UnorderedElementsAre(Pair("refused", 3)));
  EXPECT_EQ(report.deleted, 147) << "rows of the log only";
  EXPECT_EQ(count(), 53);
  EXPECT_EQ(count("id IN (5, 50, 51)"), 3);
  EXPECT_EQ(number("SELECT count(*) FROM audit"), 2 * 147);
}

TEST_P(RunFaultOfOthers, CountARowThatStaysOnceWhicheverRulesAreForIt) {
  make("id INTEGER PRIMARY KEY", "i");
  ASSERT_TRUE(status_of({{"UPDATE logs SET created_at = NULL WHERE id <= 10"},
                         {"CREATE TRIGGER hold BEFORE DELETE ON logs WHEN OLD.id = 15 BEGIN SELECT "
                          "RAISE(IGNORE); END"}})
                  .is_ok());
  const Report report = run_with({.policy = {.keep = hours(24), .max_rows = 20}});
  EXPECT_EQ(report.verdict.end, End::kNotMet);
  EXPECT_THAT(report.kept, UnorderedElementsAre(Pair("null", 10), Pair("refused", 1)));
}

TEST_P(RunFaultOfOthers, LoseNoMoreThanIsAllowed) {
  make("id INTEGER PRIMARY KEY", "i");
  const Report report = run_with({.policy = keep(30), .chunk = 30, .allow_delete = 70});
  EXPECT_EQ(report.verdict.end, End::kStopped);
  EXPECT_EQ(report.deleted, 70);
  EXPECT_EQ(count(), 130);
}

const auto kSqliteOnly = ::testing::Values(testing::database_kinds().front());
INSTANTIATE_TEST_SUITE_P(All, RunFault, kSqliteOnly, testing::name_of);
INSTANTIATE_TEST_SUITE_P(All, RunFaultOfOthers, kSqliteOnly, testing::name_of);

}  // namespace
}  // namespace spillway::retention
