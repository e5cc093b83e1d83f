// SPDX-License-Identifier: MIT
//
// Goal: whatever form people stored a time in, a row goes exactly when its instant is before the
// cut-off, and what has no certain instant stays, on each kind of database.
// Method: tables of values, in columns of every declared type, against instants worked out by hand
// or by C++'s calendar. Values stand in the SQL: bound to D1, integers would become reals.
#include "retention/instant.h"

#include "base/time_text.h"
#include "d1/exact_integer.h"
#include "tests/contract/database_source.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::DatabaseContract;

// 2025-06-10T11:59:59Z and 12:00:00Z.
constexpr std::int64_t kJustBefore = 1'749'556'799'000;
constexpr std::int64_t kNoon = 1'749'556'800'000;
constexpr std::int64_t kDay = 86'400'000;

// As what the value is found in a column of such a type.
struct Case {
  std::string sql;
  std::optional<std::int64_t> instant = {};
  std::string class_name = {};
};

// Columns that make numbers of texts which look so, and those that leave texts alone.
const std::vector<std::string> kNumeric = {"DATETIME", "DATE", "INTEGER", "NUMERIC", "TIMESTAMP"};
const std::vector<std::string> kText = {"TEXT", "VARCHAR(30)", "TEXT COLLATE NOCASE",
                                        "TEXT COLLATE RTRIM"};
const std::vector<std::string> kUntyped = {"", "BLOB"};

std::vector<std::string> all_types() {
  std::vector<std::string> types = kNumeric;
  types.insert(types.end(), kText.begin(), kText.end());
  types.insert(types.end(), kUntyped.begin(), kUntyped.end());
  return types;
}

// The same in a column of any type.
const std::vector<Case> kTexts = {
    {"'2025-06-10 11:59:59'", kJustBefore, "aged"},
    {"'2025-06-10T11:59:59Z'", kJustBefore, "aged"},
    {"'2025-06-10t11:59:59z'", kJustBefore, "aged"},
    {"'2025-06-10T12:00:00'", kNoon, "aged"},
    {"'2025-06-10 12:00'", kNoon, "aged"},
    {"'2025-06-10T12:00Z'", kNoon, "aged"},
    {"'2025-06-10T14:00+02:00'", kNoon, "aged"},
    {"'2025-06-10T13:30:00+02:00'", kNoon - 1'800'000, "aged"},
    {"'2025-06-10T10:30:00-05:00'", kNoon + 12'600'000, "future"},
    {"'2025-06-09T23:30:00.250-12:30'", kNoon + 250, "future"},
    {"'2025-06-10'", kNoon - kDay / 2, "aged"},
    {"'2024-02-29 23:59:59'", 1'709'251'199'000, "aged"},
    {"'2025-06-10 11:59:59.9'", kNoon - 100, "aged"},
    {"'2025-06-10 11:59:59.05Z'", kNoon - 950, "aged"},
    {"'2025-06-10T11:59:59.9996'", kNoon - 1, "aged"},
    {"'2025-06-10T11:59:59.999999999+00:00'", kNoon - 1, "aged"},
    {"'2025-06-10T12:00:00.0009Z'", kNoon, "aged"},
    {"'2025-06-10T12:00:00.001Z'", kNoon + 1, "future"},
    {"'1990-01-01'", 631'152'000'000, "aged"},
    {"'9999-12-31 23:59:59'", 253'402'300'799'000, "future"},
    {"NULL", {}, "null"},
    {"''", {}, "empty"},
    {"' '", {}, "unreadable"},
    {"char(0) || '2025'", {}, "unreadable"},
    {"'1989-12-31 23:59:59'", {}, "unreadable"},
    {"'1990-01-01T01:00:00+02:00'", {}, "unreadable"},
    {"'0000-00-00 00:00:00'", {}, "unreadable"},
    {"'-2025-06-10'", {}, "unreadable"},
    {"'2025-02-29'", {}, "unreadable"},
    {"'2025-02-30 12:00:00'", {}, "unreadable"},
    {"'2025-06-31T12:00:00Z'", {}, "unreadable"},
    {"'2025-13-01'", {}, "unreadable"},
    {"'2025-6-10 12:00:00'", {}, "unreadable"},
    {"'2025-06-10 24:00:00'", {}, "unreadable"},
    {"'2025-06-10 12:60:00'", {}, "unreadable"},
    {"'2025-06-10 12:00:60'", {}, "unreadable"},
    {"'2025-06-10 2:00:00'", {}, "unreadable"},
    {"'2025-06-10T'", {}, "unreadable"},
    {"'2025-06-10 '", {}, "unreadable"},
    {"'2025-06-10Z'", {}, "unreadable"},
    {"'2025-06-10T12'", {}, "unreadable"},
    {"'2025-06-10  12:00:00'", {}, "unreadable"},
    {"'2025-06-10' || char(9) || '12:00:00'", {}, "unreadable"},
    {"'2025-06-10_12:00:00'", {}, "unreadable"},
    {"' 2025-06-10 12:00:00'", {}, "unreadable"},
    {"'2025-06-10 12:00:00 '", {}, "unreadable"},
    {"'2025-06-10 12:00:00' || char(10)", {}, "unreadable"},
    {"'2025-06-10 12:00:00' || char(0)", {}, "unreadable"},
    {"'2025-06-10' || char(0) || ' 12:00:00'", {}, "unreadable"},
    {"'2025-06-10 12:00:00.'", {}, "unreadable"},
    {"'2025-06-10 12:00:00..5'", {}, "unreadable"},
    {"'2025-06-10 12:00:0012'", {}, "unreadable"},
    {"'2025-06-10 12:00:00,5'", {}, "unreadable"},
    {"'2025-06-10T12:00:00:+01:00'", {}, "unreadable"},
    {"'2025-06-10T12:00:00+0100'", {}, "unreadable"},
    {"'2025-06-10T12:00:00+01'", {}, "unreadable"},
    {"'2025-06-10T12:00:00+25:00'", {}, "unreadable"},
    {"'2025-06-10T12:00:00+01:00Z'", {}, "unreadable"},
    {"'2025-06-10T12:00:00ZZ'", {}, "unreadable"},
    {"'2025-06-10 12:00:00 UTC'", {}, "unreadable"},
    {"'2025-06-10T12:00:00.' || printf('%040d', 0)", {}, "unreadable"},
    {"'12:00:00'", {}, "unreadable"},
    {"'10.06.2025 12:00:00'", {}, "unreadable"},
    {"'now'", {}, "unreadable"},
    {"'garbage'", {}, "unreadable"},
    {"1.5e300", {}, "unreadable"},
    {"1749556799.5", {}, "unreadable"},
    {"x''", {}, "unreadable"},
    {"CAST('2025-06-10 11:59:59' AS BLOB)", {}, "unreadable"},
};

const std::vector<Case> kIntegers = {
    {"1749556799", kJustBefore, "aged"},
    {"1749556799000", kJustBefore, "aged"},
    {"1893456000000", 1'893'456'000'000, "future"},
    {"631152000", 631'152'000'000, "aged"},
    {"631151999", {}, "unit"},
    {"4102444800", 4'102'444'800'000, "future"},
    {"4102444801", {}, "unit"},
    {"631151999999", {}, "unit"},
    {"631152000000", 631'152'000'000, "aged"},
    {"4102444800001", {}, "unit"},
    {"1749556799000000", {}, "unit"},
    {"20250610", {}, "unit"},
    {"0", {}, "unit"},
    {"-1749556799", {}, "unit"},
    {"9223372036854775807", {}, "unit"},
};

// A number that is no integer in columns of their own.
std::vector<Case> unreadable(const std::vector<std::string>& values) {
  std::vector<Case> cases;
  cases.reserve(values.size());
  for (const std::string& value : values) {
    cases.push_back({value, {}, "unreadable"});
  }
  return cases;
}

class Instant : public DatabaseContract {
 protected:
  static constexpr std::string_view kColumn = "\"the $ \"\"when\"";

  void make_table(const std::string& type) {
    ASSERT_TRUE(status_of({{"DROP TABLE IF EXISTS t"},
                           {"CREATE TABLE t(n INTEGER PRIMARY KEY, " + std::string(kColumn) + " " +
                            type + ")"}})
                    .is_ok());
  }
  void insert(const std::vector<std::string>& values) {
    std::string sql = "INSERT INTO t(" + std::string(kColumn) + ") VALUES";
    for (const std::string& value : values) {
      sql += (&value == &values.front() ? "(" : ", (") + value + ")";
    }
    ASSERT_TRUE(status_of({{sql}}).is_ok());
  }
  void expect(const std::string& type, const std::vector<Case>& cases) {
    make_table(type);
    std::vector<std::string> values;
    values.reserve(cases.size());
    for (const Case& each : cases) {
      values.push_back(each.sql);
    }
    insert(values);
    const std::vector<Row> rows =
        rows_of("SELECT " + instant_sql(kColumn) + ", " + class_sql(kColumn) + " FROM t ORDER BY n",
                {kNoon});
    ASSERT_EQ(rows.size(), cases.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(exact_integer(rows[i][0]), cases[i].instant) << cases[i].sql << " as " << type;
      EXPECT_EQ(rows[i][1], Value(cases[i].class_name)) << cases[i].sql << " as " << type;
    }
  }
};

TEST_P(Instant, IsReadFromTextsInAColumnOfAnyType) {
  for (const std::string& type : all_types()) {
    expect(type, kTexts);
  }
}

TEST_P(Instant, IsReadFromIntegersInTheirUnitAndFromNoOtherNumbers) {
  for (const std::string& type : kNumeric) {
    expect(type, kIntegers);
    // The database makes an integer of each.
    expect(type, {{"'1749556799'", kJustBefore, "aged"}, {"1749556799.0", kJustBefore, "aged"}});
  }
  for (const std::string& type : kUntyped) {
    expect(type, kIntegers);
    expect(type, unreadable({"'1749556799'", "1749556799.0", "'20250610'"}));
  }
  for (const std::string& type : kText) {
    expect(type, unreadable({"'1749556799'", "1749556799", "1749556799000", "0", "2460836.99"}));
  }
  expect("REAL", unreadable({"1749556799", "2460836.99"}));
}

// Appendix A of the log of troubles that other programs had: the cut-off is noon, and these go.
TEST_P(Instant, DecidesWhichRowsOfMixedFormsGo) {
  const std::vector<std::string> mixed = {"'2025-06-10 11:59:59'",
                                          "'2025-06-10 12:00:00'",
                                          "'2025-06-10 23:59:59'",
                                          "'2025-06-10T11:59:59Z'",
                                          "'2025-06-10T11:59:59.999Z'",
                                          "'2025-06-10T12:00:00Z'",
                                          "'2025-06-10T12:00:00.000Z'",
                                          "'2025-06-10T13:30:00+02:00'",
                                          "'2025-06-10T10:30:00-05:00'",
                                          "'2025-06-10'",
                                          "'2025-06-10T23:59:59'",
                                          "'2025-06-10T12:00:00:+01:00'",
                                          "'garbage'",
                                          "''",
                                          "NULL",
                                          "1749556799",
                                          "1749556799000",
                                          "1893456000000"};
  for (const std::string& type : all_types()) {
    const bool is_text = type.starts_with("TEXT") || type.starts_with("VARCHAR");
    make_table(type);
    insert(mixed);
    const auto deleted =
        query("DELETE FROM t WHERE n <= 18 AND " + instant_sql(kColumn) + " < ?", {kNoon});
    std::set<std::int64_t> left;
    for (const Row& row : rows_of("SELECT n FROM t")) {
      left.insert(std::get<std::int64_t>(row[0]));
    }
    std::set<std::int64_t> expected = {2, 3, 6, 7, 9, 11, 12, 13, 14, 15, 18};
    if (is_text) {
      expected.insert({16, 17});
    }
    EXPECT_EQ(left, expected) << type;
    // One row read for each that it looks at, and no more.
    EXPECT_LE(deleted.meta.rows_read, 18 + 1) << type;
  }
}

TEST_P(Instant, KeepsEachMillisecond) {
  const std::string text =
      "strftime('%Y-%m-%d %H:%M:', 1749556740 + n * 77777, 'unixepoch') || "
      "printf('%02d.%03d', n % 60, n)";
  make_table("TEXT");
  ASSERT_TRUE(status_of({{"INSERT INTO t(n, " + std::string(kColumn) +
                          ") WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c "
                          "WHERE n < 999) SELECT n, " +
                          text + " FROM c"}})
                  .is_ok());
  EXPECT_EQ(value_of("SELECT count(*) FROM t WHERE " + instant_sql(kColumn) + " % 1000 = n AND " +
                     instant_sql(kColumn) + " / 1000 = CAST(strftime('%s', " +
                     std::string(kColumn) + ") AS INTEGER)"),
            Value(std::int64_t{1000}));
}

TEST_P(Instant, AgreesWithTheCalendarInAnyZone) {
  std::mt19937_64 random(20'260'828);
  std::uniform_int_distribution<std::int64_t> times(631'152'000'000 + kDay, 4'102'444'800'000);
  std::uniform_int_distribution<int> offsets(-14 * 60, 14 * 60);
  std::vector<Case> cases;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t instant = times(random);
    const int offset = offsets(random);
    const WallTime local = WallTime(milliseconds(instant)) + minutes(offset);
    std::string zone = time_text(WallTime(minutes(std::abs(offset)))).substr(11, 5);
    zone.insert(zone.begin(), offset < 0 ? '-' : '+');
    cases.push_back({"'" + time_text(local).substr(0, 23) + zone + "'", instant,
                     instant > kNoon ? "future" : "aged"});
  }
  expect("DATETIME", cases);
}

TEST(InstantText, IsOfModerateLength) {
  EXPECT_LT(instant_sql(std::string(64, 'c')).size(), 2'500U);
}

INSTANTIATE_TEST_SUITE_P(On, Instant, ::testing::ValuesIn(testing::database_kinds()),
                         testing::name_of);

}  // namespace
}  // namespace spillway::retention
