// SPDX-License-Identifier: MIT
//
// Goal: on each kind of database a lease has one holder at a time, ends by the database's clock,
// and a holder that has lost it cannot delete.
// Method: time passes by moving the end in the row; answers are lost by a Database in between.
#include "retention/lease.h"

#include "d1/sql_fragments.h"
#include "tests/contract/database_source.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using testing::DatabaseContract;
using ::testing::Ge;
using ::testing::Le;

// Between two calls on a busy machine.
constexpr milliseconds kSlack = seconds(30);
constexpr const char* kMeta = "\"logs_meta\"";

class LeaseTest : public DatabaseContract {
 protected:
  void SetUp() override {
    DatabaseContract::SetUp();
    if (!IsSkipped()) {
      ASSERT_TRUE(status_of({{"CREATE TABLE logs_meta(key TEXT NOT NULL PRIMARY KEY, "
                              "value NOT NULL) WITHOUT ROWID"},
                             {"CREATE TABLE logs(n INTEGER)"},
                             {"INSERT INTO logs VALUES(1), (2)"}})
                      .is_ok());
    }
  }

  Lease::Answer take(const std::string& owner) { return take_from(*database, owner); }
  static Lease::Answer take_from(Database& from, const std::string& owner) {
    Result<Lease::Answer> answer = Lease::take(from, kMeta, owner, {});
    if (!answer) {
      ADD_FAILURE() << answer.error().to_string();
      return {};
    }
    return *std::move(answer);
  }
  // The row says this, an SQL expression.
  void write(const std::string& value) {
    ASSERT_TRUE(status_of({{"INSERT OR REPLACE INTO logs_meta(key, value) "
                            "VALUES('retention_lease', " +
                            value + ")"}})
                    .is_ok());
  }
  void end_in(milliseconds time) {
    ASSERT_TRUE(status_of({{"UPDATE logs_meta SET value = json_set(value, '$.until', " +
                            from_now(time) + ")"}})
                    .is_ok());
  }
  static std::string from_now(milliseconds time) {
    return std::string(kDatabaseNow) + " + " + std::to_string(time.count());
  }
  bool holds(const Lease& lease) {
    const Result<bool> answer = lease.holds(*database, {});
    EXPECT_TRUE(answer.has_value()) << answer.status().to_string();
    return answer.has_value() && *answer;
  }
  // As a run deletes.
  Status delete_under(const Lease& lease) {
    return status_of({lease.fence(), {"DELETE FROM logs"}, lease.renewal()});
  }
  Value rows_left() { return value_of("SELECT count(*) FROM logs"); }
};

TEST_P(LeaseTest, HasOneOfTwoTakers) {
  const Lease::Answer first = take("one:1:\"a\"");
  ASSERT_TRUE(first.lease.has_value());
  EXPECT_EQ(first.lease->generation(), 1);
  const Lease::Answer second = take("two:2:b");
  EXPECT_FALSE(second.lease.has_value());
  EXPECT_EQ(second.holder.owner, "one:1:\"a\"");
  EXPECT_THAT(second.holder.left, AllOf(Ge(kLeaseTime - kSlack), Le(milliseconds(kLeaseTime))));
  EXPECT_TRUE(holds(*first.lease));
  EXPECT_EQ(value_of("SELECT json_type(value, '$.generation') || json_type(value, '$.until') || "
                     "typeof(value) FROM logs_meta"),
            Value("integerintegertext"));
}

TEST_P(LeaseTest, IsFreeWhenItsTimeIsUpAndItsNumberGrows) {
  const Lease stale = *take("one").lease;
  end_in(seconds(1) + kSlack);
  EXPECT_FALSE(take("two").lease.has_value());
  end_in(milliseconds(0));
  const Lease::Answer next = take("two");
  ASSERT_TRUE(next.lease.has_value());
  EXPECT_EQ(next.lease->generation(), 2);
  EXPECT_FALSE(holds(stale));
  EXPECT_TRUE(holds(*next.lease));
}

TEST_P(LeaseTest, LetsAStaleHolderDeleteNothing) {
  const Lease stale = *take("one").lease;
  end_in(milliseconds(0));
  const Lease next = *take("two").lease;
  const Status lost = delete_under(stale);
  EXPECT_THAT(lost.message(), ::testing::HasSubstr("malformed JSON"));
  EXPECT_EQ(lost.execution(), Execution::kNo);
  EXPECT_EQ(rows_left(), Value(std::int64_t{2}));

  // The same where nobody has it any more, or the row says nothing.
  for (const char* value : {"'no JSON'", "'{}'", "'5'", "7", "x'00'", "'{\"generation\":1}'"}) {
    write(value);
    EXPECT_FALSE(delete_under(next).is_ok()) << value;
    EXPECT_FALSE(holds(next)) << value;
  }
  ASSERT_TRUE(status_of({{"DELETE FROM logs_meta"}}).is_ok());
  EXPECT_FALSE(delete_under(next).is_ok());
  // Numbers begin anew, but it is another holder's.
  const Lease anew = *take("three").lease;
  EXPECT_EQ(anew.generation(), stale.generation());
  EXPECT_FALSE(delete_under(stale).is_ok());
  EXPECT_FALSE(holds(stale));
  EXPECT_EQ(rows_left(), Value(std::int64_t{2}));
  EXPECT_TRUE(delete_under(anew).is_ok());
  EXPECT_EQ(rows_left(), Value(std::int64_t{0}));
}

TEST_P(LeaseTest, LastsFromEachRenewalAndTheFenceReadsOneRow) {
  const Lease lease = *take("one").lease;
  end_in(seconds(1));
  const StatementResult fence = last_of({lease.renewal(), lease.fence()});
  EXPECT_LE(fence.meta.rows_read, 1);
  const Lease::Answer other = take("two");
  EXPECT_FALSE(other.lease.has_value());
  EXPECT_GE(other.holder.left, kLeaseTime - kSlack);
  // Late, but before anybody else came.
  end_in(milliseconds(0));
  EXPECT_TRUE(delete_under(lease).is_ok());
  EXPECT_FALSE(take("two").lease.has_value());
}

TEST_P(LeaseTest, IsReleasedByItsHolderOnly) {
  const Lease first = *take("one").lease;
  ASSERT_TRUE(first.release(*database, {}).is_ok());
  const Lease second = *take("two").lease;
  EXPECT_EQ(second.generation(), 2);
  ASSERT_TRUE(first.release(*database, {}).is_ok());
  EXPECT_TRUE(status_of({first.renewal()}).is_ok());
  EXPECT_FALSE(take("three").lease.has_value());
  EXPECT_TRUE(holds(second));
}

TEST_P(LeaseTest, IsFreeWhereTheRowIsSpoilt) {
  const std::string soon = "'\"until\":' || (" + from_now(seconds(50)) + ") || '}'";
  const std::string far = "'\"until\":' || (" + from_now(kLeaseTime + kSlack) + ") || '}'";
  const std::vector<std::pair<std::string, std::int64_t>> spoilt = {
      {"''", 1},
      {"'garbage'", 1},
      {"'[7]'", 1},
      {"'7'", 1},
      {"7", 1},
      {"7.5", 1},
      {"x'7b7d'", 1},
      {"'{\"generation\":7'", 1},
      {"'{\"generation\":7}'", 8},
      {"'{\"generation\":7,\"owner\":\"x\"}'", 8},
      {"CAST('{\"generation\":0}' AS BLOB)", 1},
      {"'{\"generation\":7,\"owner\":\"x\",\"until\":\"soon\"}'", 8},
      {"'{\"generation\":7,\"owner\":\"x\",\"until\":-1}'", 8},
      {"'{\"generation\":7,\"owner\":\"x\",\"until\":9223372036854775807}'", 8},
      {"'{\"generation\":7,\"owner\":\"x\",\"until\":99999999999999999999}'", 8},
      {"'{\"generation\":7,\"owner\":\"x\",' || " + far, 8},
      {"'{\"generation\":7,\"owner\":null,' || " + soon, 8},
      {"'{\"generation\":7,\"owner\":[1],\"until\":{}}'", 8},
      {"'{\"generation\":\"7\",\"owner\":\"x\",' || " + soon, 1},
      {"'{\"generation\":-7,\"owner\":\"x\",' || " + soon, 1},
      {"'{\"generation\":7.5,\"owner\":\"x\",' || " + soon, 1},
      {"'{\"generation\":9223372036854775807,\"owner\":\"x\",' || " + soon, 1},
      {"'{\"generation\":9007199254740990,\"owner\":\"x\",\"until\":1}'", 9'007'199'254'740'991},
      {"'{\"generation\":9007199254740991,\"owner\":\"x\",\"until\":1}'", 1},
      {"'{\"generation\":9007199254740992,\"owner\":\"x\",' || " + soon, 1},
  };
  for (const auto& [value, generation] : spoilt) {
    write(value);
    const Lease::Answer answer = take("next");
    ASSERT_TRUE(answer.lease.has_value()) << value;
    EXPECT_EQ(answer.lease->generation(), generation) << value;
    EXPECT_TRUE(holds(*answer.lease)) << value;
    EXPECT_FALSE(take("another").lease.has_value()) << value;
  }
}

/// Loses the answer to the first call, before or after it was carried out.
class LossyDatabase final : public Database {
 public:
  enum class Loses { kRequest, kAnswer };
  LossyDatabase(Database& inner, Loses loses) : inner_(inner), loses_(loses) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& options) override {
    if (std::exchange(is_first_, false)) {
      if (loses_ == Loses::kAnswer) {
        EXPECT_TRUE(inner_.execute(statements, options).has_value());
      }
      return Status(StatusCode::kLost, "connection reset");
    }
    return inner_.execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_.traits(); }

 private:
  Database& inner_;
  Loses loses_;
  bool is_first_ = true;
};

TEST_P(LeaseTest, IsOursWhenTheRowSaysSoAlthoughTheAnswerWasLost) {
  LossyDatabase answer_lost(*database, LossyDatabase::Loses::kAnswer);
  const Lease::Answer ours = take_from(answer_lost, "one");
  ASSERT_TRUE(ours.lease.has_value());
  EXPECT_TRUE(holds(*ours.lease));
  // Another taker learns who has it, however its own answer was lost.
  for (const auto loses : {LossyDatabase::Loses::kAnswer, LossyDatabase::Loses::kRequest}) {
    LossyDatabase lossy(*database, loses);
    const Lease::Answer other = take_from(lossy, "two");
    EXPECT_FALSE(other.lease.has_value());
    EXPECT_EQ(other.holder.owner, "one");
  }
  // A second try of the same run finds what the first one wrote.
  EXPECT_EQ(take("one").lease->generation(), ours.lease->generation());
  // Nobody has it: the write was lost on its way, or is still to come.
  ASSERT_TRUE(ours.lease->release(*database, {}).is_ok());
  LossyDatabase request_lost(*database, LossyDatabase::Loses::kRequest);
  EXPECT_EQ(Lease::take(request_lost, kMeta, "two", {}).status().code(), StatusCode::kLost);
}

INSTANTIATE_TEST_SUITE_P(On, LeaseTest, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway::retention
