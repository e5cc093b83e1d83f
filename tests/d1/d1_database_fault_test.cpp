// SPDX-License-Identifier: MIT
//
// Goal: whatever becomes of an answer on its way, D1Database neither claims a success that is none
// nor a failure that it cannot know, and what was sent twice can be there once.
// Method: a scripted D1 that commits and then says something else, or nothing; each lost call is
// repeated, and the table is looked at in the server itself.
#include <spillway/d1_database.h>

#include <gmock/gmock.h>

#include "tests/support/sanitizers.h"
#include "tests/support/scripted_d1.h"

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::by_chance;
using testing::D1Fault;
using testing::D1Reply;
using ::testing::HasSubstr;
using testing::html_reply;
using ::testing::IsEmpty;
using testing::kHasSanitizer;
using ::testing::Not;
using testing::ScriptedD1;

using Statements = std::vector<Statement>;

constexpr std::size_t kMessageMax = 300;

class D1DatabaseFault : public ::testing::Test {
 protected:
  D1DatabaseFault() {
    EXPECT_TRUE(run({{"CREATE TABLE r(id INTEGER PRIMARY KEY, text TEXT)"}}).has_value());
  }

  [[nodiscard]] std::unique_ptr<D1Database> open() const {
    return std::move(D1Database::open({.account_id = d1.options().account_id,
                                       .database_id = d1.options().database_id,
                                       .token = d1.options().token,
                                       .base_url = d1.base_url()}))
        .value();
  }
  // Time enough for a request to reach the server, and no more than a test can spare.
  static ExecuteOptions soon() {
    return {.deadline = Clock::system().steady_now() + milliseconds(kHasSanitizer ? 2'000 : 400)};
  }
  Result<std::vector<StatementResult>> run(const Statements& statements,
                                           const ExecuteOptions& options = {}) {
    return database->execute(statements, options);
  }
  // Rows that may be sent again.
  static Statements insert(std::int64_t count, std::int64_t first = 1) {
    Statement statement{"INSERT INTO r VALUES(?, ?) ON CONFLICT(id) DO NOTHING"};
    for (std::int64_t id = first; id < first + count; ++id) {
      statement.rows.push_back({id, "row " + std::to_string(id)});
    }
    return {std::move(statement)};
  }
  // The number of new rows, or -1.
  std::int64_t changes_of(const Statements& statements) {
    const auto results = run(statements);
    EXPECT_TRUE(results.has_value()) << results.status().to_string();
    return results ? results.value()[0].meta.changes : -1;
  }
  std::string stored() { return d1.value("SELECT count(*) FROM r"); }

  static void expect_in_doubt(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kLost) << status.to_string();
    EXPECT_EQ(status.execution(), Execution::kMaybe) << status.to_string();
    EXPECT_THAT(status.message(), Not(IsEmpty()));
    EXPECT_LE(status.message().size(), kMessageMax);
    EXPECT_THAT(status.message(), Not(HasSubstr("<")));
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
  }

  ScriptedD1 d1{{.token = "SECRET-of-the-test"}};
  std::unique_ptr<D1Database> database = open();
};

TEST_F(D1DatabaseFault, TellsHtmlAfterTheCommitFromASuccessAndFromAFailure) {
  d1.add({D1Fault::masked(html_reply(504))});
  const Status status = run(insert(200)).status();
  expect_in_doubt(status);
  EXPECT_EQ(status.http_status(), 504);
  EXPECT_THAT(status.message(), HasSubstr("504"));
  EXPECT_EQ(stored(), "200");
  EXPECT_EQ(changes_of(insert(200)), 0);
  EXPECT_EQ(stored(), "200");
}

struct OddAnswer {
  const char* name;
  D1Reply reply;
};

class D1DatabaseOddAnswer : public D1DatabaseFault,
                            public ::testing::WithParamInterface<OddAnswer> {};

TEST_P(D1DatabaseOddAnswer, IsInDoubtAndIsRepeatedWithoutADouble) {
  d1.add({D1Fault::masked(GetParam().reply)});
  expect_in_doubt(run(insert(3)).status());
  EXPECT_EQ(changes_of(insert(3)), 0);
  EXPECT_EQ(stored(), "3");
}

// A success of as many statements.
D1Reply results(std::size_t count) {
  std::string json = R"({"result":[)";
  for (std::size_t i = 0; i < count; ++i) {
    json += i == 0 ? "" : ",";
    json += R"({"success":true,"results":{"columns":[],"rows":[]},"meta":{"changes":1}})";
  }
  return {200, json + R"(],"success":true,"errors":[],"messages":[]})"};
}

const OddAnswer kOddAnswers[] = {
    {"Empty502", {502, ""}},
    {"PlainText503", {503, "upstream connect error or disconnect", "text/plain"}},
    {"PlainText504", {504, "upstream request timeout", "text/plain"}},
    {"Empty200", {200, ""}},
    {"Html200", html_reply(200)},
    {"HalfJson200", {200, "{"}},
    {"WithoutSuccess200", {200, R"({"result":[],"errors":[],"messages":[]})"}},
    {"NoResults200", results(0)},
    {"TooFewResults200", results(2)},
    {"TooManyResults200", results(4)},
    {"ResultNull200", {200, R"({"result":null,"success":true,"errors":[],"messages":[]})"}},
    {"NotSuccess200", {200, R"({"result":[],"success":false,"errors":[],"messages":[]})"}},
    {"Empty204", {204, ""}},
};

INSTANTIATE_TEST_SUITE_P(Of, D1DatabaseOddAnswer, ::testing::ValuesIn(kOddAnswers),
                         [](const auto& answer) { return std::string(answer.param.name); });

TEST_F(D1DatabaseFault, DoesNotTakeACutAnswerForAWholeOne) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{120}}) {
    d1.add({D1Fault::cut(bytes)});
    expect_in_doubt(run(insert(2)).status());
  }
  EXPECT_EQ(changes_of(insert(2)), 0);
  EXPECT_EQ(stored(), "2");
}

TEST_F(D1DatabaseFault, BearsErrorsOfAnyShape) {
  const std::string deep(10'000, '[');
  const std::string bodies[] = {
      R"({"success":false})",
      R"({"success":false,"errors":null})",
      R"({"success":false,"errors":[]})",
      R"({"success":false,"errors":[{}]})",
      R"({"success":false,"errors":[{"code":"7500","message":5}]})",
      R"({"success":false,"errors":"x"})",
      R"({"success":false,"errors":[{"code":1e30,"message":"?"}]})",
      R"({"success":false,"errors":)" + deep,
      R"({"success":false,"errors":)" + deep + std::string(10'000, ']') + "}",
      "[]",
      "null",
      "5",
      R"("text")"};
  for (const std::string& body : bodies) {
    d1.add({D1Fault::answer({400, body}), D1Fault::answer({500, body})});
    const Status refused = run(insert(1)).status();
    EXPECT_EQ(refused.code(), StatusCode::kPermanent) << body.substr(0, 80);
    EXPECT_EQ(refused.execution(), Execution::kNo) << body.substr(0, 80);
    EXPECT_LE(refused.message().size(), kMessageMax);
    expect_in_doubt(run(insert(1)).status());
  }
  EXPECT_EQ(stored(), "0");
}

TEST_F(D1DatabaseFault, StoresABatchOnceThatWasCommittedWhileItsAnswerWasLost) {
  for (const auto leave : {D1Fault::Leave::kClose, D1Fault::Leave::kReset}) {
    d1.add({D1Fault::lost_after(leave)});
    expect_in_doubt(run(insert(200)).status());
    EXPECT_EQ(stored(), "200");
    EXPECT_EQ(changes_of(insert(200)), 0);
    EXPECT_EQ(d1.value("SELECT count(DISTINCT text) FROM r"), "200");
  }
  // No attempt was sent twice by anybody else: the table, and two attempts each time.
  EXPECT_EQ(d1.counts().requests, 5U);
}

TEST_F(D1DatabaseFault, CompletesABatchOfWhichHalfWasCommitted) {
  d1.add({D1Fault::lost_after().only_first(100)});
  expect_in_doubt(run(insert(200)).status());
  EXPECT_EQ(stored(), "100");
  EXPECT_EQ(changes_of(insert(200)), 100);
  EXPECT_EQ(stored(), "200");
}

TEST_F(D1DatabaseFault, EndsWithTheSameRowsWhereABatchIsNotAtomic) {
  const Statements flush = {insert(1)[0], {"INSERT INTO later VALUES(1)"}, insert(1, 2)[0]};
  const std::pair<D1Fault, const char*> modes[] = {{D1Fault::pass(), "0"},
                                                   {D1Fault::not_atomic(), "1"}};
  for (const auto& [fault, rows_after_failure] : modes) {
    d1.add({fault});
    EXPECT_EQ(run(flush).status().code(), StatusCode::kSchema);
    EXPECT_EQ(stored(), rows_after_failure);
    ASSERT_TRUE(run({{"CREATE TABLE later(a)"}}).has_value());
    EXPECT_TRUE(run(flush).has_value());
    EXPECT_EQ(d1.value("SELECT group_concat(id) FROM r"), "1,2");
    EXPECT_EQ(d1.value("SELECT count(*) FROM later"), "1");
    ASSERT_TRUE(run({{"DELETE FROM r"}, {"DROP TABLE later"}}).has_value());
  }
}

TEST_F(D1DatabaseFault, LooksAtTheTextOfARefusalAndNotAtItsStatus) {
  for (const int status : {400, 500}) {
    d1.add({D1Fault::error(status, 7500, "no such column: foo at offset 7: SQLITE_ERROR"),
            D1Fault::error(status, 7500, "Network connection lost.")});
    const Status schema = run(insert(1)).status();
    EXPECT_EQ(schema.code(), StatusCode::kSchema);
    EXPECT_EQ(schema.execution(), Execution::kNo);
    expect_in_doubt(run(insert(1)).status());
  }
}

TEST_F(D1DatabaseFault, NeverTakesAnAnswerWithoutBytesForASuccess) {
  // On the connection of the call before, where libcurl is tempted to send once more.
  ASSERT_EQ(changes_of(insert(1)), 1);
  d1.add({D1Fault::lost_before()});
  const Status status = run(insert(1, 2)).status();
  EXPECT_FALSE(status.is_ok());
  EXPECT_EQ(status.execution(), Execution::kMaybe);
  EXPECT_EQ(stored(), "1");
  EXPECT_EQ(changes_of(insert(1, 2)), 1);
}

TEST_F(D1DatabaseFault, OpensANewConnectionWhereTheServerHasClosedTheOldOne) {
  for (std::int64_t id = 1; id <= 20; ++id) {
    d1.close_idle_connections();
    const auto results = run(insert(1, id));
    if (!results) {  // The end of the connection had not arrived yet: in doubt, and repeated.
      expect_in_doubt(results.error());
      EXPECT_TRUE(run(insert(1, id)).has_value());
    }
  }
  EXPECT_EQ(stored(), "20");
}

TEST_F(D1DatabaseFault, LeavesAConnectionThatIsSilentlyDead) {
  ASSERT_EQ(changes_of(insert(1)), 1);
  d1.ignore_open_connections();
  expect_in_doubt(run(insert(1, 2), soon()).status());
  EXPECT_EQ(changes_of(insert(1, 2)), 1);
  EXPECT_EQ(stored(), "2");
}

TEST_F(D1DatabaseFault, BearsALateExecutionOfWhatItHasSentAgain) {
  d1.add({D1Fault::late(html_reply(504))});
  expect_in_doubt(run(insert(3)).status());
  EXPECT_EQ(changes_of(insert(3)), 3);
  EXPECT_EQ(d1.run_late(), 1U);
  EXPECT_EQ(stored(), "3");
}

TEST_F(D1DatabaseFault, IsInDoubtWhenCancelledWhileTheServerIsSilent) {
  for (const auto ran : {D1Fault::Run::kNever, D1Fault::Run::kNow}) {
    d1.add({D1Fault::hang(ran)});
    const std::size_t before = d1.counts().requests;
    std::stop_source stop;
    auto answer = std::async(std::launch::async,
                             [&] { return run(insert(1), {.cancel = stop.get_token()}).status(); });
    ASSERT_TRUE(d1.wait_for_requests(before + 1));
    stop.request_stop();
    expect_in_doubt(answer.get());
  }
  EXPECT_TRUE(run(insert(1)).has_value());
  EXPECT_EQ(stored(), "1");
}

TEST_F(D1DatabaseFault, GivesUpOnAnAnswerThatDoesNotEnd) {
  d1.add({D1Fault::endless(milliseconds(5)), D1Fault::slow(seconds(60)),
          D1Fault::hang(D1Fault::Run::kNow)});
  for (int fault = 0; fault < 3; ++fault) {
    expect_in_doubt(run(insert(1), soon()).status());
  }
  EXPECT_EQ(changes_of(insert(1)), 0);
}

TEST_F(D1DatabaseFault, SaysThatTheDatabaseIsOverloaded) {
  d1.set_rule(testing::refuse_writes(D1Fault::overloaded()));
  const Status status = run(insert(1)).status();
  EXPECT_EQ(status.code(), StatusCode::kOverload);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.http_status(), 429);
  EXPECT_EQ(status.d1_code(), 7500);
  EXPECT_THAT(status.message(), HasSubstr("D1 DB is overloaded. Too many requests queued."));
  d1.set_rule({});
  EXPECT_EQ(changes_of(insert(1)), 1);
}

TEST_F(D1DatabaseFault, SaysHowLongTheRateLimitLasts) {
  d1.add({D1Fault::rate_limited("300"), D1Fault::rate_limited("")});
  const Status status = run(insert(1)).status();
  EXPECT_EQ(status.code(), StatusCode::kRateLimited);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.retry_after(), milliseconds(seconds(300)));
  EXPECT_EQ(run(insert(1)).status().retry_after(), std::nullopt);
}

TEST_F(D1DatabaseFault, SendsNothingToWhereARedirectLeads) {
  const ScriptedD1 other;
  for (const int status : {301, 302, 303, 307, 308}) {
    d1.add({D1Fault::redirect(status, other.base_url())});
    EXPECT_EQ(run(insert(1)).status().code(), StatusCode::kConfig) << status;
  }
  EXPECT_EQ(other.counts().connections, 0U);
}

TEST_F(D1DatabaseFault, KeepsTheTokenOutOfItsMessages) {
  d1.add({D1Fault::echo()});
  const Status status = run(insert(1)).status();
  EXPECT_EQ(status.code(), StatusCode::kAuth);
  EXPECT_THAT(status.to_string(), Not(HasSubstr("SECRET")));
}

TEST_F(D1DatabaseFault, StoresEachRowOnceWhateverTheChance) {
  d1.only_for("INSERT");
  d1.set_rule(by_chance(7, {{0.3, D1Fault::lost_after()},
                            {0.1, D1Fault::masked(html_reply(502))},
                            {0.05, D1Fault::cut(30)},
                            {0.05, D1Fault::lost_before(D1Fault::Leave::kReset)}}));
  ASSERT_TRUE(run({{"CREATE TABLE plain(id)"}}).has_value());
  constexpr std::int64_t kRows = 60;
  for (std::int64_t id = 1; id <= kRows; ++id) {
    while (!run(insert(1, id))) {
    }
    while (!run({{"INSERT INTO plain VALUES(?)", {{id}}}})) {
    }
  }
  EXPECT_EQ(stored(), std::to_string(kRows));
  // The control: without a key of their own, rows are doubled.
  EXPECT_EQ(d1.value("SELECT count(DISTINCT id) FROM plain"), std::to_string(kRows));
  EXPECT_EQ(d1.value("SELECT count(*) > 70 FROM plain"), "1");
}

}  // namespace
}  // namespace spillway
