// SPDX-License-Identifier: MIT
#include "d1/d1_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* kReplacement = "\xEF\xBF\xBD";

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
       "row 2: the statement has 1 parameters, but 2 values were given"},
      {{{"SELECT ?"}},
       StatusCode::kInvalidArgument,
       "the statement has 1 parameters, but 0 values were given"},
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
      ElementsAre("SELECT a, a AS b FROM t  LIMIT 0",
                  AllOf(StartsWith("WITH spillway_q(c0,c1) AS (SELECT a, a AS b FROM t LIMIT "
                                   "(+CAST(?1 AS INTEGER))) SELECT CASE typeof(c0) "),
                        Not(HasSubstr("AS BLOB")))));
  attempt.take(
      answered({result({"a", "b"}), result({"x", "y"}, R"([["i9007199254740993",0.5]])")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(results[0].rows, (std::vector<Row>{{std::int64_t{9007199254740993}, 0.5}}));
}

TEST_F(D1AttemptTest, RemembersNamesThatCannotChange) {
  D1Attempt first = begin({{"SELECT a FROM t"}});
  first.take(answered({result({"A"}), result({"x"})}));
  EXPECT_EQ(results_of(std::move(first))[0].columns, std::vector<std::string>{"A"});
  D1Attempt second = begin({{"SELECT a FROM t;"}});
  EXPECT_THAT(sql_of(second), ElementsAre(StartsWith("WITH spillway_q")));
  second.take(answered({result({"x"}, R"([["i1"]])")}));
  EXPECT_EQ(results_of(std::move(second))[0].columns, std::vector<std::string>{"A"});
}

TEST_F(D1AttemptTest, LearnsTheColumnsOfAStarFirst) {
  D1Attempt attempt = begin({{"SELECT * FROM t"}, {"SELECT 1"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre("SELECT * FROM t LIMIT 0"));
  attempt.take(answered({result({"a", "b"})}));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(
      sql_of(attempt),
      ElementsAre("SELECT * FROM t LIMIT 0", StartsWith("WITH spillway_q(c0,c1) AS (SELECT *"),
                  "SELECT 1 LIMIT 0", StartsWith("WITH spillway_q(c0) AS (SELECT 1)")));
  attempt.take(answered({result({"a", "b"}), result({"x", "y"}, R"([["i1","t"]])"), result({"1"}),
                         result({"x"}, R"([["i1"]])")}));
  const std::vector<StatementResult> results = results_of(std::move(attempt));
  EXPECT_EQ(results[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(results[1].columns, std::vector<std::string>{"1"});
}

TEST_F(D1AttemptTest, RemembersHowManyColumnsAStarHasButAsksForTheirNamesEachTime) {
  columns.remember("SELECT * FROM t", {.count = 1});
  D1Attempt attempt = begin({{"SELECT * FROM t"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre("SELECT * FROM t LIMIT 0", StartsWith("WITH ")));
  attempt.take(answered({result({"renamed"}), result({"x"}, R"([["i1"]])")}));
  EXPECT_EQ(results_of(std::move(attempt))[0].columns, std::vector<std::string>{"renamed"});
}

TEST_F(D1AttemptTest, LearnsAnewWhenTheNumberOfColumnsHasChanged) {
  columns.remember("SELECT * FROM t", {.count = 1});
  D1Attempt attempt = begin({{"SELECT * FROM t"}});
  attempt.take(failed("table spillway_q has 2 values for 1 columns: SQLITE_ERROR"));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt), ElementsAre("SELECT * FROM t LIMIT 0"));
  attempt.take(answered({result({"a", "b"})}));
  EXPECT_THAT(sql_of(attempt), ElementsAre("SELECT * FROM t LIMIT 0", HasSubstr("(c0,c1)")));
  attempt.take(answered({result({"a", "b"}), result({"x", "y"}, R"([["i1","i2"]])")}));
  EXPECT_EQ(results_of(std::move(attempt))[0].rows.size(), 1U);
  ASSERT_NE(columns.find("SELECT * FROM t"), nullptr);
  EXPECT_EQ(columns.find("SELECT * FROM t")->count, 2U);
}

TEST_F(D1AttemptTest, AsksPlainlyWhenTheStatementsChangeTheTableThatTheyRead) {
  D1Attempt attempt = begin({{"ALTER TABLE t ADD COLUMN b"}, {"SELECT * FROM t"}});
  const HttpAnswer refused = failed("table spillway_q has 2 values for 1 columns: SQLITE_ERROR");
  attempt.take(answered({result({"a"})}));
  attempt.take(refused);
  attempt.take(answered({result({"a"})}));
  attempt.take(refused);
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt), ElementsAre("ALTER TABLE t ADD COLUMN b", "SELECT * FROM t"));
  attempt.take(answered({result({}), result({"a", "b"}, "[[1,2]]")}));
  EXPECT_EQ(results_of(std::move(attempt))[1].rows,
            (std::vector<Row>{{std::int64_t{1}, std::int64_t{2}}}));
}

TEST_F(D1AttemptTest, AsksPlainlyForATableThatIsStillToBeCreated) {
  D1Attempt attempt = begin({{"CREATE TABLE t(a)"}, {"SELECT * FROM t"}});
  EXPECT_THAT(sql_of(attempt), ElementsAre("SELECT * FROM t LIMIT 0"));
  attempt.take(failed("no such table: t: SQLITE_ERROR"));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt), ElementsAre("CREATE TABLE t(a)", "SELECT * FROM t"));
  attempt.take(answered({result({}), result({"a"})}));
  EXPECT_EQ(results_of(std::move(attempt))[1].columns, std::vector<std::string>{"a"});
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

TEST_F(D1AttemptTest, KnowsThatItMayHaveBeenExecutedOnceAllWasSent) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}});
  attempt.take({.http_status = 504, .body = "<html>"});
  EXPECT_EQ(failure_of(std::move(attempt)).execution(), Execution::kMaybe);
  D1Attempt cut = begin({{"INSERT INTO t VALUES(1)"}});
  cut.take({.transport = Status(StatusCode::kTransient, "connection refused")});
  EXPECT_EQ(failure_of(std::move(cut)).to_string(), "transient: connection refused");
}

TEST_F(D1AttemptTest, AsksAgainByteByByteForATextThatMayBeNoUtf8) {
  D1Attempt attempt = begin({{"SELECT a FROM t"}});
  attempt.take(
      answered({result({"a"}), result({"x"}, "[[\"tx" + std::string(kReplacement) + "\"]]")}));
  ASSERT_FALSE(attempt.is_done());
  EXPECT_THAT(sql_of(attempt)[1], HasSubstr("CAST('t'||c0 AS BLOB)"));
  attempt.take(answered({result({"a"}), result({"x"}, "[[[116,120,255]]]")}));
  EXPECT_EQ(results_of(std::move(attempt))[0].rows, (std::vector<Row>{{std::string("x\xFF")}}));
}

TEST_F(D1AttemptTest, NeverSendsAgainWhatWrote) {
  D1Attempt attempt = begin({{"INSERT INTO t VALUES(1)"}, {"SELECT a FROM t"}});
  EXPECT_THAT(sql_of(attempt)[2], HasSubstr("CAST('t'||c0 AS BLOB)"));
  attempt.take(answered({result({}, "[]", 1), result({}), result({"x"})}));
  EXPECT_TRUE(attempt.is_done());
  D1Attempt plain = begin({{"INSERT INTO t VALUES(1) RETURNING a"}});
  plain.take(answered({result({"a"}, "[[\"" + std::string(kReplacement) + "\"]]")}));
  EXPECT_TRUE(plain.is_done());
}

TEST_F(D1AttemptTest, AsksPlainlyWhereTheServerDoesNotNameTheColumnsOfAnEmptyResult) {
  D1Attempt star = begin({{"SELECT * FROM t"}});
  star.take(answered({result({})}));
  EXPECT_THAT(sql_of(star), ElementsAre("SELECT * FROM t"));
  D1Attempt named = begin({{"SELECT 2"}, {"SELECT a FROM t"}});
  named.take(answered(
      {result({"2"}), result({"x"}, R"([["i2"]])"), result({}), result({"x"}, R"([["i1"]])")}));
  ASSERT_FALSE(named.is_done());
  EXPECT_THAT(sql_of(named),
              ElementsAre("SELECT 2 LIMIT 0", StartsWith("WITH"), "SELECT a FROM t"));
  named.take(answered({result({"2"}), result({"x"}, R"([["i2"]])"), result({"a"}, "[[1]]")}));
  EXPECT_EQ(results_of(std::move(named))[1].columns, std::vector<std::string>{"a"});
}

TEST_F(D1AttemptTest, LeavesAloneWhatCannotBeWrapped) {
  const std::vector<std::string> texts = {"PRAGMA table_info(t)", "EXPLAIN SELECT a FROM t",
                                          "DELETE FROM t RETURNING a", "SELECT 'never closed"};
  std::vector<Statement> unwrapped;
  for (const std::string& text : texts) {
    unwrapped.push_back({text});
  }
  EXPECT_EQ(sql_of(begin(unwrapped)), texts);
}

TEST_F(D1AttemptTest, PrefersAnInexactAnswerToNoneWhenTheWrappedTextWouldBeTooLong) {
  limits.sql_bytes_max = 300;
  const std::string sql = "SELECT '" + std::string(200, 'x') + "'";
  EXPECT_THAT(sql_of(begin({{sql}})), ElementsAre(sql));
  limits.sql_bytes_max = 1'000;
  EXPECT_THAT(sql_of(begin({{sql}})), ElementsAre(sql + " LIMIT 0", StartsWith("WITH ")));
  limits.sql_bytes_max = sql.size();
  EXPECT_THAT(sql_of(begin({{sql}})), ElementsAre(sql));
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
    EXPECT_EQ(columns.find("SELECT a FROM t"), nullptr);
  }
}

TEST_F(D1AttemptTest, HasNoResultBeforeItIsDone) {
  D1Attempt attempt = begin({{"SELECT 1"}});
  EXPECT_EQ(std::move(attempt).result().status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace spillway
