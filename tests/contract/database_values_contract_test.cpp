// SPDX-License-Identifier: MIT
//
// Goal: values are the same in and out on each kind of database, although D1 knows only doubles.
// Method: send them through parameters, look at them in the database with typeof() and hex(), and
// take them back.
#include <bit>
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

class DatabaseValues : public DatabaseContract {
 protected:
  // Through an untyped column, which changes nothing.
  Value stored(const Value& value) {
    return last_of({{"CREATE TABLE IF NOT EXISTS v(x)"},
                    {"DELETE FROM v"},
                    {"INSERT INTO v VALUES(?)", {{value}}}})
                       .meta.changes == 1
               ? value_of("SELECT x FROM v")
               : Value("not stored");
  }
  Value echoed(const Value& value) { return value_of("SELECT ?", {value}); }
  // What SQLite says of the value that it has received.
  std::string type_of(const Value& value) {
    static_cast<void>(stored(value));
    const Value type = value_of("SELECT typeof(x) FROM v");
    return std::holds_alternative<std::string>(type) ? std::get<std::string>(type) : "no text";
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

TEST_P(DatabaseValues, GivesIntegersBackUnchanged) {
  for (const Value& value : integers()) {
    EXPECT_EQ(stored(value), value);
    EXPECT_EQ(echoed(value), value);
    EXPECT_EQ(type_of(value), "integer");
  }
}

TEST_P(DatabaseValues, GivesRealsBackUnchangedAndAsReals) {
  for (const Value& value : reals()) {
    EXPECT_EQ(stored(value), value) << std::get<double>(value);
    EXPECT_EQ(echoed(value), value) << std::get<double>(value);
    EXPECT_EQ(type_of(value), "real") << std::get<double>(value);
  }
}

TEST_P(DatabaseValues, KeepsTheSignOfZero) {
  for (const Value& zero : {stored(-0.0), echoed(-0.0)}) {
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

TEST_P(DatabaseValues, GivesTextsBackUnchanged) {
  for (const Value& value : texts()) {
    EXPECT_EQ(stored(value), value);
    EXPECT_EQ(echoed(value), value);
    EXPECT_EQ(type_of(value), "text");
  }
}

TEST_P(DatabaseValues, GivesTextsBackThatAreNotUtf8) {
  for (const Value& value : invalid_texts()) {
    EXPECT_EQ(stored(value), value);
    EXPECT_EQ(echoed(value), value);
    EXPECT_EQ(type_of(value), "text");
  }
}

TEST_P(DatabaseValues, GivesBlobsAndNullBackUnchanged) {
  for (const Value& value : {Value(Blob()), Value(blob_of(1)), Value(blob_of(256))}) {
    EXPECT_EQ(stored(value), value);
    EXPECT_EQ(echoed(value), value);
    EXPECT_EQ(type_of(value), "blob");
  }
  EXPECT_EQ(stored({}), Value());
  EXPECT_EQ(echoed({}), Value());
  EXPECT_EQ(type_of({}), "null");
}

TEST_P(DatabaseValues, TakesAndGivesLargeValues) {
  const std::string text(1'900'000, 'x');
  EXPECT_EQ(stored(text), Value(text));
  const Blob blob = blob_of(1'000'000);
  EXPECT_EQ(stored(blob), Value(blob));
}

TEST_P(DatabaseValues, TakesAndGivesBlobsUpToTheLimit) {
  const Blob blob = blob_of(1'900'000);
  EXPECT_TRUE(stored(blob) == Value(blob));  // Not EQ: nobody wants to read two megabytes.
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

INSTANTIATE_TEST_SUITE_P(On, DatabaseValues, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway
