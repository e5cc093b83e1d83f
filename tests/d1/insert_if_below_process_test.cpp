// SPDX-License-Identifier: MIT
//
// Goal: two processes that insert at once never pass a limit that one of them would have kept.
// Method: nine rows of ten are there, and two children are let go together, five rounds on each
// database. The control is the same race with a count and an insert in two calls, which both count
// before either inserts.
#include <spillway/d1_database.h>
#include <spillway/insert_if_below.h>
#include <spillway/prepared_statement.h>
#include <spillway/sqlite_database.h>

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include "tests/d1/children.h"
#include "tests/support/real_d1.h"
#include "tests/support/temp_dir.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spillway::testing {
namespace {

using ::testing::Each;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kLimit = 10;
constexpr int kRounds = 5;

using Open = std::function<std::unique_ptr<Database>(int round)>;

Open open_sqlite(const TempDir& directory) {
  return [&directory](int round) {
    return SqliteDatabase::open(directory.path(std::to_string(round) + ".db"), OpenMode::kCreate,
                                {.busy_timeout = std::chrono::seconds(20)})
        .value();
  };
}

Open open_d1(RealD1& d1) {
  std::array<std::string, kRounds> ids;
  for (std::string& id : ids) {
    id = d1.take_database();
  }
  return [&d1, ids](int round) {
    return D1Database::open({.account_id = d1.account_id(),
                             .database_id = ids.at(static_cast<std::size_t>(round)),
                             .token = d1.token(),
                             .base_url = d1.base_url()})
        .value();
  };
}

void fill(Database& database) {
  ASSERT_TRUE(database.exec("CREATE TABLE reports(who TEXT, at INTEGER NOT NULL)").has_value());
  for (std::int64_t i = 0; i < kLimit - 1; ++i) {
    ASSERT_TRUE(database
                    .prepare("INSERT INTO reports "
                             "VALUES('ada', CAST(strftime('%s', 'now') AS INTEGER) * 1000)")
                    .run()
                    .has_value());
  }
}

std::int64_t count(Database& database) {
  return database.prepare("SELECT count(*) AS n FROM reports")
      .first<std::int64_t>("n")
      .value()
      .value();
}

/// For two processes: neither goes on before the other is there, or has had time enough.
class Meeting {
 public:
  Meeting() {
    EXPECT_EQ(::pipe(pipes_[0].data()), 0);
    EXPECT_EQ(::pipe(pipes_[1].data()), 0);
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting() {
    for (const auto& each : pipes_) {
      ::close(each[0]);
      ::close(each[1]);
    }
  }
  /// `number` is that of the child.
  void wait_for_the_other(int number) {
    constexpr int kPatienceMs = 30'000;
    const std::size_t own = number == 0 ? 0 : 1;
    [[maybe_unused]] const auto wrote = ::write(pipes_.at(own)[1], "x", 1);
    pollfd other{.fd = pipes_.at(1 - own)[0], .events = POLLIN, .revents = 0};
    [[maybe_unused]] const int ready = ::poll(&other, 1, kPatienceMs);
  }

 private:
  std::array<std::array<int, 2>, 2> pipes_{};
};

std::string insert_guarded(Database& database) {
  const auto report = insert_if_below(
      database,
      {.table = "reports", .values = {{"who", "ada"}}, .time_column = "at", .counted_by = {"who"}},
      kLimit, std::chrono::hours(1));
  if (!report) {
    return report.error().to_string();
  }
  return report->is_inserted ? "inserted" : report->retry_after ? "refused" : "no time told";
}

std::string insert_unguarded(Database& database, const std::function<void()>& after_counting) {
  const bool is_below = count(database) < kLimit;
  after_counting();
  if (!is_below) {
    return "refused";
  }
  const auto stored = database.prepare("INSERT INTO reports VALUES('ada', 0)").run();
  return stored ? "inserted" : stored.error().to_string();
}

void race(const Open& open) {
  for (int round = 0; round < kRounds; ++round) {
    fill(*open(round));
    Meeting meeting;
    const auto answers = run_children(2, [&](int number) {
      const auto database = open(round);
      static_cast<void>(count(*database));  // Connected, and the table is known.
      meeting.wait_for_the_other(number);
      return insert_guarded(*database);
    });
    EXPECT_THAT(answers, UnorderedElementsAre("inserted", "refused"));
    EXPECT_EQ(count(*open(round)), kLimit);
  }
}

void race_unguarded(const Open& open) {
  fill(*open(0));
  Meeting meeting;
  const auto answers = run_children(2, [&](int number) {
    const auto database = open(0);
    return insert_unguarded(*database, [&] { meeting.wait_for_the_other(number); });
  });
  EXPECT_THAT(answers, Each("inserted"));
  EXPECT_EQ(count(*open(0)), kLimit + 1);
}

TEST(InsertIfBelowRace, KeepsTheLimitOnSqlite) {
  const TempDir directory;
  race(open_sqlite(directory));
}

TEST(InsertIfBelowRace, IsLostOnSqliteWhereCountAndInsertAreTwoCalls) {
  const TempDir directory;
  race_unguarded(open_sqlite(directory));
}

TEST(InsertIfBelowRace, KeepsTheLimitOnTheRealD1) {
  RealD1* const d1 = RealD1::of_this_program();
  if (d1 == nullptr) {
    GTEST_SKIP() << RealD1::absence();
  }
  race(open_d1(*d1));
}

TEST(InsertIfBelowRace, IsLostOnTheRealD1WhereCountAndInsertAreTwoCalls) {
  RealD1* const d1 = RealD1::of_this_program();
  if (d1 == nullptr) {
    GTEST_SKIP() << RealD1::absence();
  }
  race_unguarded(open_d1(*d1));
}

}  // namespace
}  // namespace spillway::testing
