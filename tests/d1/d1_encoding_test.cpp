// SPDX-License-Identifier: MIT
#include "d1/d1_encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace spillway {
namespace {

using ::testing::HasSubstr;

SqlStatement parsed(const std::string& sql) {
  Result<SqlStatement> statement = parse_statement(sql);
  EXPECT_TRUE(statement) << sql;
  return statement ? *statement : SqlStatement{};
}

Result<D1Query> encoded(const std::string& sql, const Row& row, const DatabaseLimits& limits = {}) {
  return encode(parsed(sql), row, limits);
}

void expect_query(const std::string& sql, const Row& row, const std::string& expected_sql,
                  const std::string& expected_params) {
  const Result<D1Query> query = encoded(sql, row);
  ASSERT_TRUE(query) << query.status().to_string();
  EXPECT_EQ(query->sql, expected_sql);
  EXPECT_EQ(query->params, expected_params);
}

Status refusal(const std::string& sql, const Row& row, const DatabaseLimits& limits = {}) {
  return encoded(sql, row, limits).status();
}

Blob blob(std::string_view bytes) {
  Blob blob;
  for (const char c : bytes) {
    blob.push_back(static_cast<std::byte>(c));
  }
  return blob;
}

TEST(D1Encoding, SendsAnIntegerAsTextSoThatNoDigitIsLost) {
  expect_query("SELECT ?", {std::numeric_limits<std::int64_t>::max()},
               "SELECT (+CAST(?1 AS INTEGER))", R"(["9223372036854775807"])");
  expect_query("SELECT ?", {std::numeric_limits<std::int64_t>::min()},
               "SELECT (+CAST(?1 AS INTEGER))", R"(["-9223372036854775808"])");
}

TEST(D1Encoding, SendsARealAsTheNumberItIs) {
  expect_query("SELECT ?", {0.1}, "SELECT ?1", "[0.1]");
  expect_query("SELECT ?", {3.0}, "SELECT ?1", "[3]");
  expect_query("SELECT ?", {5e-324}, "SELECT ?1", "[5e-324]");
  expect_query("SELECT ?", {0.0}, "SELECT ?1", "[0]");
}

TEST(D1Encoding, KeepsTheSignOfZero) {
  expect_query("SELECT ?", {-0.0}, "SELECT (?1*-1.0)", "[0]");
}

TEST(D1Encoding, SendsTextAsItIsWithNullInIt) {
  expect_query("SELECT ?", {std::string("a\0\"\xC3\xA9", 5)}, "SELECT ?1",
               "[\"a\\u0000\\\"\xC3\xA9\"]");
}

TEST(D1Encoding, SendsWhatIsNoUtf8InHex) {
  expect_query("SELECT ?", {std::string("a\0\xFF", 3)}, "SELECT (+CAST(unhex(?1) AS TEXT))",
               R"(["6100FF"])");
}

TEST(D1Encoding, SendsABlobInHex) {
  expect_query("SELECT ?", {blob("\x01\xFE")}, "SELECT unhex(?1)", R"(["01FE"])");
  expect_query("SELECT ?", {Blob()}, "SELECT unhex(?1)", R"([""])");
}

TEST(D1Encoding, KeepsAParameterApartFromTheWordBeforeIt) {
  expect_query("SELECT?WHERE a LIKE?OR?", {std::int64_t{1}, Blob(), 1.5},
               "SELECT (+CAST(?1 AS INTEGER))WHERE a LIKE unhex(?2)OR?3", R"(["1","",1.5])");
  expect_query("SELECT $a(b)3", {1.5}, "SELECT ?1 3", "[1.5]");
}

TEST(D1Encoding, SendsNullAsNull) { expect_query("SELECT ?", {Value()}, "SELECT ?1", "[null]"); }

TEST(D1Encoding, LeavesTheParametersOutIfThereAreNone) {
  expect_query("SELECT '?'", {}, "SELECT '?'", "");
}

TEST(D1Encoding, NumbersEveryPlaceAsSqliteDoes) {
  expect_query("SELECT ?, :a, ?2, ?", {std::int64_t{1}, 2.5, Blob()},
               "SELECT (+CAST(?1 AS INTEGER)), ?2, ?2, unhex(?3)", R"(["1",2.5,""])");
}

TEST(D1Encoding, SendsALargeBlobInPiecesBehindTheOtherValues) {
  const DatabaseLimits limits{.value_bytes_max = 4};
  const Result<D1Query> query =
      encoded("SELECT ?1, ?2, ?1", {blob("\x01\x02\x03"), std::int64_t{7}}, limits);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->sql,
            "SELECT (+CAST(unhex(?1)||unhex(?3) AS BLOB)), (+CAST(?2 AS INTEGER)), "
            "(+CAST(unhex(?1)||unhex(?3) AS BLOB))");
  EXPECT_EQ(query->params, R"(["0102","7","03"])");
  const Result<D1Query> text = encoded("SELECT ?", {std::string("\xFF\xFE\xFD\xFC")}, limits);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->sql, "SELECT (+CAST(unhex(?1)||unhex(?2) AS TEXT))");
  EXPECT_EQ(text->params, R"(["FFFE","FDFC"])");
}

TEST(D1Encoding, RefusesNumbersThatADatabaseCannotHold) {
  for (const double number : {std::nan(""), std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()}) {
    const Status status = refusal("SELECT ?, ?", {1.0, number});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("value 2"));
  }
}

TEST(D1Encoding, RefusesAWrongNumberOfValues) {
  for (const Row& row : {Row{}, Row{1.0}, Row{1.0, 2.0, 3.0}}) {
    const Status status = refusal("SELECT ?, ?", row);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("has 2 parameters"));
  }
}

TEST(D1Encoding, NamesTheLimitThatIsPassed) {
  const DatabaseLimits limits{.parameters_max = 3, .sql_bytes_max = 60, .value_bytes_max = 10};
  const struct {
    std::string sql;
    Row row;
    const char* message;
  } cases[] = {
      {"SELECT ?1,?2,?3,?4", Row(4), "the statement has 4 parameters, and the limit is 3"},
      {"SELECT ?4", Row(4), "the statement has 4 parameters, and the limit is 3"},
      {"SELECT ?,?", {1.0, std::string(11, 'x')}, "value 2 has 11 bytes, and the limit is 10"},
      {"SELECT ?", {Blob(11)}, "value 1 has 11 bytes, and the limit is 10"},
      // A row of parameters is no row of a table.
      {"SELECT ?", {Blob(10)}, nullptr},
      {"SELECT ?,?", {std::string(10, 'x'), std::string(10, 'y')}, nullptr},
      {"SELECT '" + std::string(60, 'x') + "'",
       {},
       "the SQL text has 69 bytes, and the limit is 60"},
      // Two pieces of hex each: one parameter more than there may be.
      {"SELECT ?,?", {Blob(6), Blob(4)}, nullptr},
      {"SELECT ?,?,?",
       {Blob(6), Blob(2), Blob(2)},
       "the statement has 4 parameters, and the limit is 3"},
      // The text grows by what stands in for the integers.
      {"SELECT ?,?,?",
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}},
       "the SQL text has 75 bytes with the casts of its parameters, and the limit is 60"},
  };
  for (const auto& each : cases) {
    const Status status = refusal(each.sql, each.row, limits);
    if (each.message == nullptr) {
      EXPECT_TRUE(status.is_ok()) << status.to_string();
      continue;
    }
    EXPECT_EQ(status.code(), StatusCode::kTooBig) << each.sql;
    EXPECT_EQ(status.message(), each.message);
    EXPECT_EQ(status.execution(), Execution::kNo);
  }
}

TEST(D1Encoding, TakesWhatIsExactlyAtTheLimits) {
  EXPECT_TRUE(encoded("SELECT ?", {std::string(2'000'000, 'x')}));
  EXPECT_TRUE(encoded("SELECT ?100", Row(100)));
  EXPECT_TRUE(encoded("SELECT '" + std::string(100'000 - 9, 'x') + "'", {}));
  EXPECT_FALSE(encoded("SELECT '" + std::string(100'000 - 8, 'x') + "'", {}));
}

TEST(D1Encoding, PassesRoughValuesToAStatementWhoseResultDoesNotMatter) {
  const SqlStatement statement = parsed("SELECT ?, :name, ?3, ?4 LIMIT ?5");
  const Row row = {std::int64_t{1}, std::string("a"), std::string(1'001, 'x'), blob("b"), 2.0};
  const std::size_t limit = statement.text.find(" LIMIT");
  const D1Query cut = encode_roughly(statement, row, {0, limit}, ParameterForm::kAsItStands);
  EXPECT_EQ(cut.sql, "SELECT ?, ?2, ?3, ?4");
  EXPECT_EQ(cut.params, R"([1,"a",null,null])");
  const TextRange end = {limit, statement.text.size()};
  const D1Query rest = encode_roughly(statement, row, end, ParameterForm::kNumbered);
  EXPECT_EQ(rest.sql, " LIMIT ?5");
  EXPECT_EQ(rest.params, R"([1,"a",null,null,2])");
  const TextRange first = {0, statement.text.find(',')};
  EXPECT_EQ(encode_roughly(statement, row, first, ParameterForm::kNumbered).sql, "SELECT ?1");
}

TEST(D1Encoding, PutsAllQueriesIntoOneBatch) {
  BatchBody body;
  body.add("SELECT \"a\"", "");
  body.add("SELECT ?1", "[1]");
  EXPECT_EQ(std::move(body).json(),
            R"({"batch":[{"sql":"SELECT \"a\""},{"sql":"SELECT ?1","params":[1]}]})");
}

}  // namespace
}  // namespace spillway
