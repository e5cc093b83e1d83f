// SPDX-License-Identifier: MIT
#include "d1/d1_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// What asks for the names of the columns of `select`.
std::string names_of(const std::string& select) {
  return select + " UNION ALL " + select + " ORDER BY 1 LIMIT 0";
}

// What D1 says of a wrapped statement with another number of columns.
std::string wrong_count(std::size_t statement, std::size_t columns) {
  return "table spillway_q" + std::to_string(statement) + " has " + std::to_string(columns) +
         " values for 1 columns: SQLITE_ERROR";
}

HttpAnswer failed(const std::string& message, int http_status = 400) {
  const Json error = {{"code", 7500}, {"message", message}};
  const Json body = {{"success", false}, {"errors", {error}}, {"result", Json::array()}};
  return {.http_status = http_status, .body = body.dump()};
}

// `rows` is JSON.
Json result(const std::vector<std::string>& columns, const std::string& rows = "[]",
            std::int64_t changes = 0) {
  return {{"success", true},
          {"results", {{"columns", columns}, {"rows", Json::parse(rows, nullptr, false)}}},
          {"meta", {{"changes", changes}, {"rows_read", 2}, {"last_row_id", changes}}}};
}

HttpAnswer answered(const std::vector<Json>& results) {
  const Json body = {{"success", true}, {"errors", Json::array()}, {"result", results}};
  return {.http_status = 200, .body = body.dump()};
}

class D1AttemptTest : public ::testing::Test {
 protected:
  D1Attempt begin(std::vector<Statement> given) {
    statements = std::move(given);
    Result<D1Attempt> attempt = D1Attempt::begin(statements, limits, columns);
    EXPECT_TRUE(attempt) << attempt.status().to_string();
    return attempt ? std::move(*attempt) : begin({{"SELECT 1"}});
  }
  Status refusal(std::vector<Statement> given) {
    statements = std::move(given);
    return D1Attempt::begin(statements, limits, columns).status();
  }
  // The SQL of each member of the body.
  static std::vector<std::string> sql_of(const D1Attempt& attempt) {
    const Json body = Json::parse(attempt.body(), nullptr, false);
    EXPECT_TRUE(body.is_object()) << attempt.body();
    std::vector<std::string> sql;
    for (const Json& query : body.value("batch", Json::array())) {
      sql.push_back(query.value("sql", ""));
    }
    return sql;
  }
  static std::vector<StatementResult> results_of(D1Attempt attempt) {
    EXPECT_TRUE(attempt.is_done());
    Result<std::vector<StatementResult>> results = std::move(attempt).result();
    EXPECT_TRUE(results) << results.status().to_string();
    return results ? *results : std::vector<StatementResult>(9);
  }
  static Status failure_of(D1Attempt attempt) {
    EXPECT_TRUE(attempt.is_done());
    return std::move(attempt).result().status();
  }

  std::vector<Statement> statements;
  DatabaseLimits limits;
  ColumnCache columns;
};

TEST_F(D1AttemptTest, RefusesWhatCannotBeSent) {
  const struct {
    std::vector<Statement> statements;
    StatusCode code;
    const char* message;
  } cases[] = {
      {{}, StatusCode::kInvalidArgument, "no statements"},
      {{{""}}, StatusCode::kInvalidArgument, "no SQL statement in the text"},
      {{{"SELECT 1"}, {"SELECT 1; SELECT 2"}},
       StatusCode::kInvalidArgument,
       "statement 2: more than one SQL statement in one text"},
      {{{"SELECT ?", {{1.0}, {1.0, 2.0}}}},
       StatusCode::kInvalidArgument,
       "row 2: the statement has 1 parameter, but 2 values were given"},
      {{{"SELECT ?"}},
       StatusCode::kInvalidArgument,
       "the statement has 1 parameter, but 0 values were given"},
      {{{"SELECT ?", {{std::string(2'000'001, 'x')}}}},
       StatusCode::kTooBig,
       "value 1 has 2000001 bytes, and the limit is 2000000"},
  };
  for (const auto& each : cases) {
    const Status status = refusal(each.statements);
    EXPECT_EQ(status.code(), each.code) << each.message;
    EXPECT_EQ(status.message(), each.message);
    EXPECT_EQ(status.execution(), Execution::kNo);
  }
}

TEST_F(D1AttemptTest, RefusesToControlTheTransaction) {
  for (const char* sql : {"BEGIN", "commit;", "-- x\nROLLBACK", "SAVEPOINT a"}) {
    const Status status = refusal({{"SELECT 1"}, {sql}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << sql;
    EXPECT_THAT(status.message(), HasSubstr("one call is one transaction")) << sql;
  }
}

TEST_F(D1AttemptTest, SendsOneBodyForStatementsThatWrite) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(?)", {{1.5}, {Value()}}}, {"DELETE FROM t; "}});
  EXPECT_EQ(attempt.body(),
            R"x({"batch":[{"sql":"INSERT INTO t VALUES(?1)","params":[1.5]},)x"
            R"x({"sql":"INSERT INTO t VALUES(?1)","params":[null]},{"sql":"DELETE FROM t"}]})x");
  attempt.take(answered({result({}, "[]", 1), result({}, "[]", 2), result({}, "[]", 5)}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].meta.changes, 3);
  EXPECT_EQ(results[0].meta.last_row_id, 2);
  EXPECT_EQ(results[0].meta.rows_read, 4);
  EXPECT_EQ(results[1].meta.changes, 5);
}

TEST_F(D1AttemptTest, JoinsTheRowsOfAllParameterRows) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(?) RETURNING a", {{1.0}, {2.0}}}});
  attempt.take(answered({result({"a"}, "[[1]]"), result({"a"}, "[[2],[3]]")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  EXPECT_EQ(results[0].columns, std::vector<std::string>{"a"});
  EXPECT_EQ(results[0].rows,
            (std::vector<Row>{{std::int64_t{1}}, {std::int64_t{2}}, {std::int64_t{3}}}));
}

TEST_F(D1AttemptTest, AsksForExactValuesAndTheirNamesInOneBody) {
  D1Attempt attempt = begin({{"SELECT a, a AS b FROM t LIMIT ?", {{std::int64_t{3}}}}});
  EXPECT_THAT(
      sql_of(attempt),
      ElementsAre(names_of("SELECT a, a AS b FROM t "),
                  AllOf(StartsWith("WITH spillway_q0(c0,c1) AS (SELECT a, a AS b FROM t LIMIT "
                                   "(+CAST(?1 AS INTEGER))) SELECT CASE typeof(c0) "),
                        Not(HasSubstr("hex(")))));
  attempt.take(
      answered({result({"a", "b"}), result({"x", "y"}, R"([["i9007199254740993",0.5]])")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(results[0].rows, (std::vector<Row>{{std::int64_t{9007199254740993}, 0.5}}));
}

// RENAME COLUMN changes the names of SELECT rowid, a too.
TEST_F(D1AttemptTest, AsksForTheNamesEachTime) {
  for (const std::string name : {"a", "renamed"}) {
    D1Attempt attempt = begin({{"SELECT a FROM t"}});
    EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT a FROM t"), StartsWith("WITH ")));
    attempt.take(answered({result({name}), result({"x"}, R"([["i1"]])")}));
    EXPECT_THAT(results_of(std::move(attempt))[0].columns, ElementsAre(name));
  }
}

TEST_F(D1AttemptTest, LearnsTheColumnsOfAStarFirst) {
  D1Attempt attempt = begin({{"SELECT * FROM t"}, {"SELECT 1"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT * FROM t")));
  attempt.take(answered({result({"a", "b"})}));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(
      sql_of(attempt),
      ElementsAre(names_of("SELECT * FROM t"), StartsWith("WITH spillway_q0(c0,c1) AS (SELECT *"),
                  names_of("SELECT 1"), StartsWith("WITH spillway_q1(c0) AS (SELECT 1)")));
  attempt.take(answered({result({"a", "b"}), result({"x", "y"}, R"([["i1","t"]])"), result({"1"}),
                         result({"x"}, R"([["i1"]])")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  EXPECT_EQ(results[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(results[1].columns, std::vector<std::string>{"1"});
}

TEST_F(D1AttemptTest, RemembersHowManyColumnsAStarHas) {
  columns.remember("SELECT * FROM t", 1);
  D1Attempt attempt = begin({{"SELECT * FROM t"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT * FROM t"), StartsWith("WITH ")));
  attempt.take(answered({result({"renamed"}), result({"x"}, R"([["i1"]])")}));
  EXPECT_EQ(results_of(std::move(attempt))[0].columns, std::vector<std::string>{"renamed"});
}

TEST_F(D1AttemptTest, TakesNoCountOfColumnsThatNoResultCanHave) {
  for (const std::vector<Statement>& each :
       {std::vector<Statement>{{"SELECT * FROM t"}},
        std::vector<Statement>{{"DELETE FROM u"}, {"SELECT * FROM t"}}}) {
    D1Attempt attempt = begin(each);
    attempt.take(answered({result(std::vector<std::string>(kResultColumnsMax + 1, "a"))}));
    const Status status = failure_of(std::move(attempt));
    EXPECT_EQ(status.code(), StatusCode::kLost);
    EXPECT_EQ(status.execution(), Execution::kNo);
  }
  D1Attempt refused = begin({{"SELECT a FROM t"}});
  refused.take(failed(wrong_count(0, kResultColumnsMax + 1)));
  EXPECT_EQ(failure_of(std::move(refused)).code(), StatusCode::kPermanent);
}

TEST_F(D1AttemptTest, ReadsAgainWhenTheNumberOfColumnsHasChanged) {
  columns.remember("SELECT * FROM t", 1);
  D1Attempt attempt = begin({{"SELECT 1"}, {"SELECT * FROM t"}});
  attempt.take(failed(wrong_count(1, 2)));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt)[1], StartsWith("WITH spillway_q0(c0) AS"));
  EXPECT_THAT(sql_of(attempt)[3], StartsWith("WITH spillway_q1(c0,c1) AS"));
  attempt.take(answered({result({"1"}), result({"x"}, R"([["i1"]])"), result({"a", "b"}),
                         result({"x", "y"}, R"([["i1","i2"]])")}));
  EXPECT_EQ(results_of(std::move(attempt))[1].rows.size(), 1U);
  EXPECT_EQ(columns.find("SELECT * FROM t"), 2U);
  EXPECT_EQ(columns.find("SELECT 1"), std::nullopt);
}

TEST_F(D1AttemptTest, LeavesItToTheCallerWhenTheNumberOfColumnsChangesOverAndOver) {
  D1Attempt attempt = begin({{"SELECT a FROM t"}});
  int bodies = 0;
  for (; !attempt.is_done(); ++bodies) {
    ASSERT_LT(bodies, 10);
    attempt.take(failed(wrong_count(0, 2 + static_cast<std::size_t>(bodies % 2))));
  }
  EXPECT_EQ(bodies, 4);
  const Status status = failure_of(std::move(attempt));
  EXPECT_EQ(status.code(), StatusCode::kTransient);
  EXPECT_EQ(status.execution(), Execution::kNo);
}

TEST_F(D1AttemptTest, DoesNotSendAgainWhatWritesWhenTheNumberOfColumnsHasChanged) {
  const std::vector<Statement> both = {{"ALTER TABLE t ADD COLUMN b"}, {"SELECT * FROM t"}};
  D1Attempt attempt = begin(both);
  attempt.take(answered({result({"a"})}));
  attempt.take(failed(wrong_count(1, 2)));
  const Status status = failure_of(std::move(attempt));
  EXPECT_EQ(status.code(), StatusCode::kTransient);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.message(),
            "statement 2: the statement has 2 columns now; nothing was executed, and it can be "
            "sent again");
  D1Attempt again = begin(both);  // Sent again, it succeeds, with the real values.
  EXPECT_THAT(sql_of(again), ElementsAre("ALTER TABLE t ADD COLUMN b", names_of("SELECT * FROM t"),
                                         StartsWith("WITH spillway_q1(c0,c1) AS")));
  again.take(answered({result({}), result({"a", "b"}), result({"x", "y"}, R"([[1,"i2"]])")}));
  EXPECT_EQ(results_of(std::move(again))[1].rows, (std::vector<Row>{{1.0, std::int64_t{2}}}));
}

TEST_F(D1AttemptTest, ForgetsCountsOfWhatIsRefusedForGood) {
  for (const char* message : {"no such column: b: SQLITE_ERROR", "near \"x\": syntax error"}) {
    columns.remember("SELECT * FROM t", 1);
    D1Attempt attempt = begin({{"SELECT * FROM t"}});
    attempt.take(failed(message));
    EXPECT_FALSE(failure_of(std::move(attempt)).is_ok());
    EXPECT_EQ(columns.find("SELECT * FROM t"), std::nullopt) << message;
  }
  columns.remember("SELECT * FROM t", 1);
  D1Attempt busy = begin({{"SELECT * FROM t"}});
  busy.take({.http_status = 429, .body = "slow down"});
  EXPECT_TRUE(busy.is_done());
  EXPECT_EQ(columns.find("SELECT * FROM t"), 1U);
}

TEST_F(D1AttemptTest, AsksPlainlyForATableThatIsStillToBeCreated) {
  D1Attempt attempt = begin({{"CREATE TABLE t(a)"}, {"SELECT * FROM t"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT * FROM t")));
  attempt.take(failed("no such table: t: SQLITE_ERROR"));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt), ElementsAre("CREATE TABLE t(a)", "SELECT * FROM t"));
  attempt.take(answered({result({}), result({"a"})}));
  EXPECT_EQ(results_of(std::move(attempt))[1].columns, std::vector<std::string>{"a"});
}

TEST_F(D1AttemptTest, KeepsTheOtherTablesExactWhenOneIsStillToBeCreated) {
  D1Attempt attempt = begin(
      {{"SELECT * FROM old"}, {"CREATE TABLE t(a)"}, {"SELECT * FROM t"}, {"SELECT a FROM t"}});
  EXPECT_THAT(sql_of(attempt),
              ElementsAre(names_of("SELECT * FROM old"), names_of("SELECT * FROM t")));
  attempt.take(failed("no such table: t: SQLITE_ERROR"));
  EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT * FROM old")));
  attempt.take(answered({result({"a"})}));
  EXPECT_THAT(sql_of(attempt), ElementsAre(names_of("SELECT * FROM t")));
  attempt.take(failed("no such table: t: SQLITE_ERROR"));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt),
              ElementsAre(names_of("SELECT * FROM old"), StartsWith("WITH spillway_q0"),
                          "CREATE TABLE t(a)", "SELECT * FROM t", names_of("SELECT a FROM t"),
                          StartsWith("WITH spillway_q3")));
}

TEST_F(D1AttemptTest, GivesUpWhenNobodyCreatesTheTable) {
  D1Attempt attempt = begin({{"SELECT * FROM t"}});
  attempt.take(failed("no such table: t: SQLITE_ERROR"));
  EXPECT_EQ(failure_of(std::move(attempt)).code(), StatusCode::kSchema);
}

TEST_F(D1AttemptTest, KnowsThatNothingWasWrittenWhileItLearnt) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}, {"SELECT * FROM t"}});
  attempt.take({.http_status = 504, .body = "<html>"});
  const Status status = failure_of(std::move(attempt));
  EXPECT_EQ(status.code(), StatusCode::kLost);
  EXPECT_EQ(status.execution(), Execution::kNo);
}

TEST_F(D1AttemptTest, KeepsWhatTheServerAsksToWaitWhateverIsWrongWithItsAnswer) {
  static constexpr std::chrono::seconds kWait{7};
  const auto waiting = [](HttpAnswer answer) {
    answer.retry_after = kWait;
    return answer;
  };
  D1Attempt odd = begin({{"SELECT a, b FROM t"}});
  odd.take(waiting(answered({result({"a"}), result({"x", "y"}, R"([["i1","i2"]])")})));
  EXPECT_EQ(failure_of(std::move(odd)).retry_after(), kWait);
  D1Attempt many = begin({{"SELECT * FROM t"}});
  many.take(waiting(answered({result(std::vector<std::string>(kResultColumnsMax + 1, "c"))})));
  EXPECT_EQ(failure_of(std::move(many)).retry_after(), kWait);
  D1Attempt wrong = begin({{"SELECT a FROM t"}});
  wrong.take(waiting(failed(wrong_count(0, 2))));  // Not asked again at once.
  EXPECT_EQ(failure_of(std::move(wrong)).retry_after(), kWait);
}

TEST_F(D1AttemptTest, KnowsThatItMayHaveBeenExecutedOnceAllWasSent) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}});
  attempt.take({.http_status = 504, .body = "<html>"});
  EXPECT_EQ(failure_of(std::move(attempt)).execution(), Execution::kMaybe);
  D1Attempt cut = begin({{"INSERT INTO t VALUES(1)"}});
  cut.take({.transport = Status(StatusCode::kTransient, "connection refused")});
  EXPECT_EQ(failure_of(std::move(cut)).to_string(), "transient: connection refused");
}

TEST_F(D1AttemptTest, AsksAgainInHexForColumnsWithATextThatMayBeNoUtf8) {
  const std::string doubtful = "[[\"tx" + std::string(kReplacement) + "\",\"ty\"]]";
  D1Attempt attempt = begin({{"SELECT a, b FROM t"}, {"SELECT 'z'"}});
  attempt.take(answered({result({"a", "b"}), result({"x", "y"}, doubtful), result({"'z'"}),
                         result({"x"}, R"([["tz"]])")}));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt)[1], AllOf(HasSubstr("hex(c0)"), Not(HasSubstr("hex(c1)"))));
  EXPECT_THAT(sql_of(attempt)[3], Not(HasSubstr("hex(")));
  attempt.take(answered({result({"a", "b"}), result({"x", "y"}, R"([["x78FF","ty"]])"),
                         result({"'z'"}), result({"x"}, R"([["tz"]])")}));
  EXPECT_EQ(results_of(std::move(attempt))[0].rows,
            (std::vector<Row>{{std::string("x\xFF"), std::string("y")}}));
}

TEST_F(D1AttemptTest, AsksForAllColumnsInHexWhenOthersComeWithDoubtfulTextsEachTime) {
  const std::vector<std::string> names(8, "c");
  D1Attempt attempt = begin({{"SELECT a, b, c, d, e, f, g, h FROM t"}});
  int bodies = 0;
  for (; !attempt.is_done(); ++bodies) {
    ASSERT_LT(bodies, 8);
    Json cells = std::vector<std::string>(8, "t");
    cells[static_cast<std::size_t>(bodies)] = "t" + std::string(kReplacement);
    attempt.take(answered({result(names), result(names, Json::array({cells}).dump())}));
  }
  EXPECT_EQ(bodies, 4);
}

TEST_F(D1AttemptTest, NeverSendsAgainWhatWrote) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}, {"SELECT a FROM t"}});
  EXPECT_THAT(sql_of(attempt)[2], HasSubstr("'x'||hex(c0)"));
  attempt.take(answered({result({}, "[]", 1), result({"a"}), result({"x"}, R"([["xFF"]])")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  EXPECT_EQ(results[0].meta.changes, 1);
  EXPECT_EQ(results[1].rows, (std::vector<Row>{{std::string("\xFF")}}));
  D1Attempt plain = begin({{"INSERT INTO t VALUES(1) RETURNING a"}});
  plain.take(answered({result({"a"}, "[[\"" + std::string(kReplacement) + "\"]]")}));
  EXPECT_EQ(results_of(std::move(plain))[0].rows, (std::vector<Row>{{std::string(kReplacement)}}));
}

// It may be that D1 does not do it; what has been committed is a success all the same.
TEST_F(D1AttemptTest, NumbersTheColumnsWhereTheServerDoesNotNameThoseOfAnEmptyResult) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}, {"SELECT a, b FROM t"}, {"SELECT 2"}});
  Json none = result({});
  none["results"] = Json::array();
  attempt.take(answered(
      {result({}, "[]", 1), result({}), result({"x", "y"}, R"([["i1",null]])"), none, none}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  EXPECT_EQ(results[0].meta.changes, 1);
  EXPECT_THAT(results[1].columns, ElementsAre("c0", "c1"));
  EXPECT_EQ(results[1].rows, (std::vector<Row>{{std::int64_t{1}, Value()}}));
  EXPECT_THAT(results[2].columns, ElementsAre("c0"));
  EXPECT_TRUE(results[2].rows.empty());
}

TEST_F(D1AttemptTest, AsksPlainlyForAStarWhereTheServerDoesNotNameTheColumnsOfAnEmptyResult) {
  D1Attempt star = begin({{"SELECT * FROM t"}});
  star.take(answered({result({})}));
  EXPECT_THAT(sql_of(star), ElementsAre("SELECT * FROM t"));
  star.take(answered({result({"a"}, "[[1]]")}));
  EXPECT_THAT(results_of(std::move(star))[0].columns, ElementsAre("a"));
}

TEST_F(D1AttemptTest, KeepsTheNamesOfReturningWhereALaterRowGivesNothing) {
  D1Attempt attempt =
      begin({{"UPDATE t SET a = 1 WHERE b = ? RETURNING a", {{1.0}, {std::int64_t{2}}}}});
  attempt.take(answered({result({"a"}, "[[1]]"), result({})}));
  EXPECT_THAT(results_of(std::move(attempt))[0].columns, ElementsAre("a"));
}

TEST_F(D1AttemptTest, LeavesAloneWhatCannotBeWrapped) {
  const std::vector<std::string> texts = {"PRAGMA table_info(t)", "EXPLAIN SELECT a FROM t",
                                          "DELETE FROM t RETURNING a", "SELECT 'never closed"};
  for (const std::string& text : texts) {
    EXPECT_THAT(sql_of(begin({{text}})), ElementsAre(text));
  }
}

TEST_F(D1AttemptTest, RefusesATextThatIsTooLongOnceItsValuesAreMadeExact) {
  const std::string sql = "SELECT '" + std::string(200, 'x') + "'";
  const std::size_t sent = sql_of(begin({{sql}}))[1].size();
  limits.sql_bytes_max = sent;
  EXPECT_THAT(sql_of(begin({{sql}})), ElementsAre(names_of(sql), StartsWith("WITH ")));
  limits.sql_bytes_max = sent - 1;
  const Status status = refusal({{"SELECT 1"}, {sql}});
  EXPECT_EQ(status.code(), StatusCode::kTooBig);
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_EQ(status.message(), "statement 2: the SQL text has " + std::to_string(sent) +
                                  " bytes with what makes its values exact, and the limit is " +
                                  std::to_string(sent - 1));
}

TEST_F(D1AttemptTest, RefusesAStarThatTurnsOutTooLong) {
  const std::string sql = "SELECT *, '" + std::string(200, 'x') + "' FROM t";
  limits.sql_bytes_max = 600;
  for (const std::vector<Statement>& each :
       {std::vector<Statement>{{sql}}, std::vector<Statement>{{"DELETE FROM u"}, {sql}}}) {
    columns = ColumnCache();
    D1Attempt attempt = begin(each);
    attempt.take(answered({result({"a", "b", "c"})}));
    const Status status = failure_of(std::move(attempt));
    EXPECT_EQ(status.code(), StatusCode::kTooBig);
    EXPECT_EQ(status.execution(), Execution::kNo);
  }
}

TEST_F(D1AttemptTest, RefusesATextThatIsTooLongBeforeItLooksAtIt) {
  const Status status = refusal({{std::string(100'001, '(')}});
  EXPECT_EQ(status.message(), "the SQL text has 100001 bytes, and the limit is 100000");
}

TEST_F(D1AttemptTest, RefusesABodyThatNoServerTakes) {
  statements = {{"INSERT INTO t VALUES(?)", {{std::string("x")}, {std::string("y")}}}};
  const std::size_t bytes = begin(statements).body().size();
  EXPECT_TRUE(D1Attempt::begin(statements, limits, columns, bytes));
  const Status status = D1Attempt::begin(statements, limits, columns, bytes - 1).status();
  EXPECT_EQ(status.code(), StatusCode::kTooBig);
  EXPECT_EQ(status.message(), "the request has " + std::to_string(bytes) +
                                  " bytes, and the limit is " + std::to_string(bytes - 1));
}

TEST_F(D1AttemptTest, CountsAnswersOfAnotherShapeAsLost) {
  for (const std::vector<Json>& results : {
           std::vector<Json>{},
           std::vector<Json>{result({"a"})},
           std::vector<Json>{result({"a"}), result({"x"}), result({"x"})},
           std::vector<Json>{result({"a", "b"}), result({"x"}, R"([["i1"]])")},
           std::vector<Json>{result({"a"}), result({"x", "y"}, R"([["i1","i2"]])")},
           std::vector<Json>{result({"a"}), result({"x"}, R"([["no tag"]])")},
       }) {
    columns = ColumnCache();
    D1Attempt attempt = begin({{"SELECT a FROM t"}});
    attempt.take(answered(results));
    const Status status = failure_of(std::move(attempt));
    EXPECT_EQ(status.code(), StatusCode::kLost) << Json(results).dump();
    EXPECT_EQ(status.execution(), Execution::kMaybe);
    EXPECT_EQ(columns.find("SELECT a FROM t"), std::nullopt);
  }
}

TEST_F(D1AttemptTest, HasNoResultBeforeItIsDone) {
  D1Attempt attempt = begin({{"SELECT 1"}});
  EXPECT_EQ(std::move(attempt).result().status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace spillway
