// SPDX-License-Identifier: MIT
//
// Goal: values are the same in and out on each kind of database, although D1 knows only doubles.
// Method: send them through parameters, look at them in the database with typeof() and hex(), and
// take them back.
#include <spillway/prepared_statement.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/contract/database_source.h"

namespace spillway {
namespace {

using testing::DatabaseContract;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Limits64 = std::numeric_limits<std::int64_t>;
using LimitsReal = std::numeric_limits<double>;

std::vector<Row> rows_of_one(const std::vector<Value>& values) {
  std::vector<Row> rows;
  rows.reserve(values.size());
  for (const Value& value : values) {
    rows.push_back({value});
  }
  return rows;
}

class DatabaseValues : public DatabaseContract {
 protected:
  // Each of them through an untyped column, which changes nothing, and through no column at all;
  // `type` is what SQLite says of the value that it has received.
  void expect_unchanged(const std::vector<Value>& values, const std::string& type) {
    ASSERT_EQ(last_of({{"CREATE TABLE IF NOT EXISTS v(x)"},
                       {"DELETE FROM v"},
                       {"INSERT INTO v VALUES(?)", rows_of_one(values)}})
                  .meta.changes,
              static_cast<std::int64_t>(values.size()));
    const std::vector<Row> stored = rows_of("SELECT x, typeof(x) FROM v ORDER BY rowid");
    const std::vector<Row> echoed = last_of({{"SELECT ?", rows_of_one(values)}}).rows;
    ASSERT_EQ(stored.size(), values.size());
    ASSERT_EQ(echoed.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(stored[i] == Row({values[i], type})) << type << " number " << i;
      EXPECT_TRUE(echoed[i] == Row({values[i]})) << type << " number " << i;
    }
  }
};

std::vector<Value> integers() {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // From here on doubles have gaps.
  return {std::int64_t{0}, std::int64_t{-1}, kExact - 1,         kExact, kExact + 1, -kExact - 1,
          Limits64::max(), Limits64::min(),  Limits64::max() - 1};
}

std::vector<Value> reals() {
  return {0.0,
          0.1,
          3.0,
          -1e15,
          1e20,
          1e21,
          1e-7,
          123456789.125,
          9007199254740993.0,
          LimitsReal::denorm_min(),
          -LimitsReal::denorm_min(),
          LimitsReal::min(),
          LimitsReal::max(),
          -LimitsReal::max(),
          LimitsReal::epsilon()};
}

std::vector<Value> texts() {
  using namespace std::string_literals;
  return {""s,
          "plain"s,
          "a\0b\0"s,
          "\0"s,
          "'quoted' \"twice\" \\ ? ?1 :a --"s,
          "line\nline\r\n\ttab\x01\x1f\x7f"s,
          "\xC3\x9C"s + "berlauf \xF0\x9F\x8C\x8A e\xCC\x81 \xEF\xBB\xBF\xE2\x80\xA8"s,
          "\xF4\x8F\xBF\xBF \xEF\xBF\xBF \xEF\xBF\xBD"s,
          "1"s,
          "-0.0"s,
          "9223372036854775808"s,
          "null"s,
          "[1,2]"s,
          "x'00'"s};
}

std::vector<Value> invalid_texts() {
  using namespace std::string_literals;
  return {"\xFF"s, "a\x80z"s, "\xED\xA0\x80"s, "\xC0\x80"s, "cut \xE2\x82"s, "\xFF\0\xFE"s};
}

Blob blob_of(std::size_t bytes) {
  Blob blob(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    blob[i] = static_cast<std::byte>(i * 7 % 256);
  }
  return blob;
}

TEST_P(DatabaseValues, GivesIntegersBackUnchanged) { expect_unchanged(integers(), "integer"); }

TEST_P(DatabaseValues, GivesRealsBackUnchangedAndAsReals) { expect_unchanged(reals(), "real"); }

TEST_P(DatabaseValues, GivesTextsBackUnchanged) { expect_unchanged(texts(), "text"); }

TEST_P(DatabaseValues, GivesTextsBackThatAreNotUtf8) { expect_unchanged(invalid_texts(), "text"); }

TEST_P(DatabaseValues, GivesBlobsAndNullBackUnchanged) {
  expect_unchanged({Blob(), blob_of(1), blob_of(256)}, "blob");
  expect_unchanged({std::monostate()}, "null");
}

TEST_P(DatabaseValues, TakesAndGivesValuesOfMegabytes) {
  // As hexadecimal digits the blob would be over D1's limit of 2,000,000 bytes.
  const Value values[] = {std::string(1'900'000, 'x'), blob_of(1'100'000)};
  for (const Value& value : values) {
    ASSERT_TRUE(status_of({{"CREATE TABLE IF NOT EXISTS v(x)"},
                           {"DELETE FROM v"},
                           {"INSERT INTO v VALUES(?)", {{value}}}})
                    .is_ok());
    EXPECT_TRUE(value_of("SELECT x FROM v") == value);  // Not EQ: nobody reads two megabytes.
  }
}

TEST_P(DatabaseValues, KeepsTheSignOfZero) {
  ASSERT_TRUE(status_of({{"CREATE TABLE v(x)"}, {"INSERT INTO v VALUES(?)", {{-0.0}}}}).is_ok());
  for (const Value& zero : {value_of("SELECT x FROM v"), value_of("SELECT ?", {-0.0})}) {
    ASSERT_TRUE(std::holds_alternative<double>(zero));
    EXPECT_TRUE(std::signbit(std::get<double>(zero)));
  }
}

TEST_P(DatabaseValues, GivesInfinitiesBackThatTheDatabaseHasMade) {
  EXPECT_EQ(value_of("SELECT 9e999"), Value(HUGE_VAL));
  EXPECT_EQ(value_of("SELECT -9e999"), Value(-HUGE_VAL));
}

TEST_P(DatabaseValues, RefusesNumbersThatNoDatabaseCanHold) {
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const Status status = status_of({{"SELECT ?, ?", {{std::int64_t{1}, number}}}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.execution(), Execution::kNo);
    EXPECT_THAT(status.message(), HasSubstr("value 2"));
  }
}

TEST_P(DatabaseValues, MixesAllTypesInOneRowAndKeepsTheirOrder) {
  const Row row = {
      std::int64_t{3}, 3.0, "3", Blob{std::byte{3}}, std::monostate(), -0.5, std::string("\xFF"),
      Limits64::min()};
  EXPECT_THAT(rows_of("SELECT ?, ?, ?, ?, ?, ?, ?, ?", row), ElementsAre(row));
  EXPECT_THAT(rows_of("SELECT ?8, ?7, ?6, ?5, ?4, ?3, ?2, ?1", row),
              ElementsAre(Row(row.rbegin(), row.rend())));
}

TEST_P(DatabaseValues, UsesANumberedParameterAsOftenAsItStands) {
  const std::int64_t number = Limits64::max();
  EXPECT_THAT(rows_of("SELECT ?1, ?2, ?1", {number, "x"}), ElementsAre(Row{number, "x", number}));
  EXPECT_THAT(rows_of("SELECT ?2, ?1", {std::string("\xFE"), Blob()}),
              ElementsAre(Row{Blob(), std::string("\xFE")}));
  // A bare ? takes the number after the largest so far.
  EXPECT_THAT(rows_of("SELECT ?2, ?, ?1", {"a", "b", "c"}), ElementsAre(Row{"b", "c", "a"}));
}

TEST_P(DatabaseValues, LeavesWhatLooksLikeAParameterInTextsAndNamesAlone) {
  const StatementResult result =
      query("SELECT '?', \"a?\", /* ? */ ? FROM (SELECT 1 AS \"a?\") -- ?", {std::int64_t{7}});
  EXPECT_THAT(result.rows, ElementsAre(Row{"?", std::int64_t{1}, std::int64_t{7}}));
}

// What the type of a column makes of a value is SQLite's affair, so it must see the value's own.
TEST_P(DatabaseValues, LetsColumnTypesConvertAsSqliteDoes) {
  const Row values = {std::int64_t{7}, 7.0, 7.5, "8", "x", Blob{std::byte{1}}};
  ASSERT_TRUE(
      status_of({{"CREATE TABLE c(i INTEGER, r REAL, t TEXT, n NUMERIC, b BLOB)"}}).is_ok());
  for (const Value& value : values) {
    ASSERT_TRUE(status_of({{"INSERT INTO c VALUES(?1, ?1, ?1, ?1, ?1)", {{value}}}}).is_ok());
  }
  EXPECT_THAT(rows_of("SELECT * FROM c ORDER BY rowid"),
              ElementsAre(Row{std::int64_t{7}, 7.0, "7", std::int64_t{7}, std::int64_t{7}},
                          Row{std::int64_t{7}, 7.0, "7.0", std::int64_t{7}, 7.0},
                          Row{7.5, 7.5, "7.5", 7.5, 7.5},
                          Row{std::int64_t{8}, 8.0, "8", std::int64_t{8}, "8"},
                          Row{"x", "x", "x", "x", "x"},
                          Row{values[5], values[5], values[5], values[5], values[5]}));
}

TEST_P(DatabaseValues, ComparesParametersAsSqliteDoes) {
  ASSERT_TRUE(status_of({{"CREATE TABLE c(x, i INTEGER, t TEXT)"},
                         {"INSERT INTO c VALUES(?, ?, ?)",
                          {{std::int64_t{1}, std::int64_t{1}, "1"},
                           {1.5, std::int64_t{2}, "b"},
                           {"1", std::int64_t{3}, "c"},
                           {Blob{std::byte{'1'}}, std::int64_t{4}, "d"},
                           {Limits64::max(), Limits64::max(), "e"}}}})
                  .is_ok());
  const auto found = [&](const std::string& column, const Value& value) {
    std::string rows;
    for (const Row& row : rows_of("SELECT t FROM c WHERE " + column + " = ? ORDER BY t", {value})) {
      rows += std::get<std::string>(row[0]);
    }
    return rows;
  };
  EXPECT_EQ(found("x", std::int64_t{1}), "1");
  EXPECT_EQ(found("x", 1.0), "1");
  EXPECT_EQ(found("x", 1.5), "b");
  EXPECT_EQ(found("x", "1"), "c");
  EXPECT_EQ(found("x", Blob{std::byte{'1'}}), "d");
  EXPECT_EQ(found("x", Limits64::max()), "e");
  EXPECT_EQ(found("x", Limits64::max() - 1), "");
  EXPECT_EQ(found("x", {}), "");
  EXPECT_EQ(found("i", "3"), "c");
  EXPECT_EQ(found("i", Limits64::max()), "e");
  EXPECT_EQ(found("t", std::int64_t{1}), "1");
  EXPECT_EQ(found("t", std::string("b")), "b");
  EXPECT_EQ(found("t", std::string("\xFF")), "");
}

TEST_P(DatabaseValues, ReadsRowsOutOfOneJsonParameter) {
  EXPECT_THAT(rows_of("SELECT value->>0, value->>1 FROM json_each(?1) ORDER BY key",
                      {R"([[9007199254740993,"a"],[1.5,null]])"}),
              ElementsAre(Row{std::int64_t{9007199254740993}, "a"}, Row{1.5, {}}));
}

// A value that is made anew whenever it is looked at must not be looked at twice.
TEST_P(DatabaseValues, GivesRandomValuesWithTheirTypes) {
  const std::vector<Row> rows = rows_of(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
      "SELECT CASE abs(random() % 3) WHEN 0 THEN 7 WHEN 1 THEN 'seven' ELSE 7.5 END FROM n");
  ASSERT_EQ(rows.size(), 200U);
  for (const Row& row : rows) {
    EXPECT_TRUE(row[0] == Value(std::int64_t{7}) || row[0] == Value("seven") ||
                row[0] == Value(7.5));
  }
}

TEST_P(DatabaseValues, GivesWholeNumbersOfReturningAndPragmaAsIntegers) {
  EXPECT_THAT(
      last_of({{"CREATE TABLE k(a INTEGER PRIMARY KEY, b)"},
               {"INSERT INTO k VALUES(?, ?) RETURNING a, b, NULL",
                {{std::int64_t{5}, "x"}, {std::int64_t{6}, Blob{std::byte{9}}}}}})
          .rows,
      ElementsAre(Row{std::int64_t{5}, "x", {}}, Row{std::int64_t{6}, Blob{std::byte{9}}, {}}));
  EXPECT_THAT(
      rows_of("PRAGMA table_info(k)"),
      ElementsAre(Row{std::int64_t{0}, "a", "INTEGER", std::int64_t{0}, {}, std::int64_t{1}},
                  Row{std::int64_t{1}, "b", "", std::int64_t{0}, {}, std::int64_t{0}}));
}

TEST_P(DatabaseValues, NeverGivesARoundedIntegerForAnExactOne) {
  constexpr std::int64_t kOdd = 9007199254740993;
  last_of({{"CREATE TABLE k(a INTEGER)"}});
  const auto returned = database->prepare("INSERT INTO k VALUES(?) RETURNING a").bind(kOdd).run();
  ASSERT_TRUE(returned);
  const Result<std::int64_t> number = (*returned)[0].get<std::int64_t>("a");
  EXPECT_TRUE(number ? *number == kOdd
                     : number.error().message().find("SELECT it") != std::string::npos)
      << number.status().message();
  const auto selected = database->prepare("SELECT a FROM k").first<std::int64_t>("a");
  ASSERT_TRUE(selected);
  EXPECT_EQ(*selected, kOdd);
}

INSTANTIATE_TEST_SUITE_P(On, DatabaseValues, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway
