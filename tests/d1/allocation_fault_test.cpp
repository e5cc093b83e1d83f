// SPDX-License-Identifier: MIT
//
// Goal: where memory runs out in a public call, it answers with a Status, whatever the place.
// Method: this program's operator new fails on the test's thread from the nth allocation on, for
// each n until the call needs no more; or the nth alone.
#include <spillway/d1_database.h>
#include <spillway/database.h>
#include <spillway/prepared_statement.h>
#include <spillway/retrying_database.h>
#include <spillway/sqlite_database.h>

#include <gtest/gtest.h>

#include "tests/support/raw_http_server.h"
#include "tests/support/replaced_new.h"
#include "tests/support/sanitizers.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temp_dir.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace spillway::testing {
namespace {

thread_local bool counts = false;
thread_local int allocations_left = 0;

enum class Lack : std::uint8_t { kLasts, kPasses };
thread_local Lack lack = Lack::kLasts;

bool must_fail() noexcept {
  if (!counts) {
    return false;
  }
  const int left = allocations_left--;
  return lack == Lack::kLasts ? left <= 0 : left == 0;
}

/// While it lives, only so many allocations of this thread succeed.
class FewAllocations {
 public:
  explicit FewAllocations(int count) noexcept {
    allocations_left = count;
    counts = true;
  }
  FewAllocations(const FewAllocations&) = delete;
  FewAllocations& operator=(const FewAllocations&) = delete;
  ~FewAllocations() { counts = false; }

  [[nodiscard]] static bool has_failed() noexcept { return allocations_left < 0; }
};

}  // namespace

bool on_allocation(std::size_t) { return !must_fail(); }

namespace {

/// How many allocations `call` needs, each of which has failed once, with all that came after it
/// or, where the lack passes, alone.
template <typename Call>
int count_failures(Call&& call, Lack kind = Lack::kLasts) {
  lack = kind;
  constexpr int kEnough = 10'000;
  for (int count = 0; count < kEnough; ++count) {
    Status status;
    bool has_failed = false;
    {
      const FewAllocations few(count);
      status = call();
      has_failed = FewAllocations::has_failed();
    }
    if (!has_failed) {
      return count;
    }
    EXPECT_EQ(status.to_string(), "internal: out of memory") << "after " << count;
  }
  return kEnough;
}

bool can_fail() {
  const FewAllocations none(0);
  try {
    ::operator delete(::operator new(1));
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

class AllocationFault : public ::testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(opened());  // The first call makes what later ones answer.
    if (!can_fail() && kHasSanitizer) {
      GTEST_SKIP() << "the sanitizer's allocator cannot be replaced";
    }
  }

  std::unique_ptr<Database> opened() { return open(url, OpenMode::kCreate).value(); }

  const TempDir directory;
  const std::string url = "sqlite:" + directory.path("a-name-that-is-long-enough.db");
};

TEST_F(AllocationFault, OpeningAFileAnswersWithAStatus) {
  EXPECT_GT(count_failures([&] { return open(url, OpenMode::kCreate).status(); }), 5);
  const DatabaseFactory factory = database_factory(url, OpenMode::kCreate).value();
  EXPECT_GT(count_failures([&] { return factory().status(); }), 5);
  EXPECT_GT(count_failures([&] { return database_factory(url, OpenMode::kCreate).status(); }), 3);
}

TEST_F(AllocationFault, OfOpeningD1AnswersWithAStatusToo) {
  const ScopedEnvironment environment({{"CLOUDFLARE_API_TOKEN", "abc123SECRET-that-is-long"},
                                       {"CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:1"}});
  const std::string d1 = "d1://acc/00000000-0000-4000-8000-000000000000";
  EXPECT_GT(count_failures([&] { return open(d1, OpenMode::kCreate).status(); }), 5);
  const DatabaseFactory factory = database_factory(d1, OpenMode::kCreate).value();
  EXPECT_GT(count_failures([&] { return factory().status(); }), 5);
}

TEST_F(AllocationFault, OfAnAttemptOnD1AnswersWithAStatus) {
  D1Options options;
  options.account_id = "acc";
  options.database_id = "db";
  options.token = "abc123SECRET-that-is-long";
  options.base_url = "http://127.0.0.1:1";  // Nobody listens there.
  const auto database = D1Database::open(options).value();
  const std::vector<Statement> statements = {
      {"INSERT INTO t VALUES(?1, ?2)", {{std::int64_t{1}, std::string("a text")}}}};
  const auto insert = [&] { return database->execute(statements, {}).status(); };
  EXPECT_GT(count_failures(insert), 20);
  EXPECT_EQ(insert().code(), StatusCode::kTransient);
}

// Values of each kind, errors with causes, and what is no JSON.
TEST_F(AllocationFault, OfReadingWhatD1AnswersIsToldToo) {
  const std::string names =
      R"({"success":true,"results":{"columns":["a name that is long enough","b"],"rows":[]}},)";
  const std::string bodies[] = {
      R"({"success":true,"errors":[],"result":[)" + names +
          R"({"success":true,"meta":{"changes":1},"results":{"columns":["c0","c1"],"rows":[)"
          R"(["ta text that is longer than a short one",0.5],["i1",[1,2,3]],["z",null]]}}]})",
      R"({"success":false,"errors":[{"code":7500,"message":"some text that is long enough",)"
      R"("error_chain":[{"message":"Network connection lost."}]}]})",
      R"({"success":tr)"};
  std::string body;
  RawHttpServer server([&body](RawConnection& connection) {
    while (connection.read_request()) {
      connection.answer(200, body, "Retry-After: 1\r\n");
    }
  });
  const auto database = D1Database::open({.account_id = "acc",
                                          .database_id = "db",
                                          .token = "abc123SECRET-that-is-long",
                                          .base_url = server.url()})
                            .value();
  const std::vector<Statement> statements = {{"SELECT a, b FROM t"}};
  const auto select = [&] { return database->execute(statements, {}).status(); };
  for (const std::string& each : bodies) {
    body = each;
    EXPECT_GT(count_failures(select), 30) << body;
    EXPECT_GT(count_failures(select, Lack::kPasses), 30) << body;
  }
  body = bodies[0];
  EXPECT_TRUE(select().is_ok());
}

TEST_F(AllocationFault, OfAskingWhatATextDoesSaysThatItWrites) {
  lack = Lack::kLasts;
  for (int count = 0;; ++count) {
    bool reads = false;
    bool has_failed = false;
    {
      const FewAllocations few(count);
      reads = is_read_only("SELECT 1");
      has_failed = FewAllocations::has_failed();
    }
    ASSERT_EQ(reads, !has_failed) << "after " << count;
    if (!has_failed) {
      break;
    }
  }
}

TEST_F(AllocationFault, LeavesNothingOfATransactionInAFile) {
  const auto database = opened();
  ASSERT_TRUE(database->exec("CREATE TABLE t(k, v)"));
  const std::string long_text(100, 'x');
  const std::vector<Statement> statements = {
      {"INSERT INTO t VALUES(?1, ?2)",
       {{std::int64_t{1}, long_text}, {std::int64_t{2}, long_text}}},
      {"SELECT k, v FROM t"}};
  const int failures = count_failures([&] { return database->execute(statements, {}).status(); });
  EXPECT_GT(failures, 5);
  EXPECT_EQ(database->prepare("SELECT count(*) AS n FROM t").first<int>("n").value(), 2);
}

TEST_F(AllocationFault, OfAPreparedStatementIsToldWhenItIsRun) {
  const auto database = opened();
  const std::vector<Row> rows = {{std::string("a text that is longer than a short one")}};
  const PreparedStatement select = database->prepare("SELECT ?1 AS v, 'a text of some length'");
  EXPECT_GT(count_failures([&] { return select.bind_rows({}).status(); }), 0);
  const PreparedStatement bound = select.bind_rows(rows);
  EXPECT_GT(count_failures([&] { return bound.all().status(); }), 5);
  EXPECT_GT(count_failures([&] { return bound.raw().status(); }), 5);
  EXPECT_GT(count_failures([&] { return bound.first().status(); }), 5);
  EXPECT_GT(count_failures([&] { return database->exec("SELECT 'a text'; SELECT 2").status(); }),
            5);
  const ResultSet set = bound.all().value();
  EXPECT_GT(count_failures([&] { return set.index_of("w").status(); }), 0);
  EXPECT_GT(count_failures([&] { return set[0].get<int>("v").status(); }), 0);
  EXPECT_GT(count_failures([&] { return set[0].get<int>(7).status(); }), 0);
}

}  // namespace
}  // namespace spillway::testing
