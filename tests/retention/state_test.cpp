// SPDX-License-Identifier: MIT
#include "retention/state.h"

#include <spillway/sqlite_database.h>

#include "base/time_text.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

WallTime at(const char* text) { return parse_time_text(text).value(); }

State full_state() {
  return {.policy = "keep=30d DEBUG=2d",
          .at = at("2026-08-28T06:35:12.345Z"),
          .met = at("2026-08-27T06:35:12.000Z"),
          .newest = at("2026-08-28T06:35:12.344Z"),
          .oldest = at("2026-07-29T06:35:12.345Z"),
          .watermarks = {{"keep", at("2026-07-29T06:35:12.345Z")},
                         {"DEBUG", at("2026-08-26T06:35:12.345Z")}},
          .full_walk = at("2026-08-25T00:00:00.000Z"),
          .place = Row{std::int64_t{7}}};
}

TEST(RetentionState, ComesBackAsItWasWritten) {
  EXPECT_EQ(parse_state(to_json({})), State());
  EXPECT_EQ(parse_state(to_json(full_state())), full_state());
  EXPECT_THAT(to_json(full_state()), HasSubstr(R"("met":"2026-08-27T06:35:12.000Z")"));
}

TEST(RetentionState, KeepsPlacesInKeysOfEveryType) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Row place = {std::monostate(),
                     std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::int64_t>::max(),
                     std::int64_t{0},
                     0.1,
                     3.0,
                     -0.0,
                     1e22,
                     5e-324,
                     std::numeric_limits<double>::max(),
                     9'007'199'254'740'993.0,
                     kInfinity,
                     -kInfinity,
                     std::string(),
                     "a \"quoted\"\n" + std::string(1, '\0') + " text \xC3\xA4",
                     std::string("no UTF-8: \xFF\xC3"),
                     Blob(),
                     Blob{std::byte{0}, std::byte{0xFF}, std::byte{0x7F}}};
  const auto read = parse_state(to_json({.place = place}));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->place, place);
  EXPECT_TRUE(std::signbit(std::get<double>(read->place->at(6))));
  EXPECT_EQ(parse_state(to_json({.place = Row()}))->place, Row());
}

TEST(RetentionState, IgnoresMembersThatItDoesNotKnow) {
  State met;
  met.met = at("2026-08-27T06:35:12.000Z");
  EXPECT_EQ(parse_state(R"({"new":[{"x":1}],"met":"2026-08-27T06:35:12.000Z"})"), met);
}

TEST(RetentionState, IsSpoiltWhereAnythingIsOfAnotherKind) {
  for (const char* const json : {"",
                                 "{",
                                 "[]",
                                 "7",
                                 "null",
                                 "\"x\"",
                                 "{} {}",
                                 R"({"policy":5})",
                                 R"({"at":1787898912345})",
                                 R"({"met":"2026-08-27"})",
                                 R"({"newest":"2026-02-30T00:00:00.000Z"})",
                                 R"({"oldest":null})",
                                 R"({"full_walk":{}})",
                                 R"({"watermarks":[]})",
                                 R"({"watermarks":{"keep":7}})",
                                 R"({"place":7})",
                                 R"({"place":{}})",
                                 R"({"place":[true]})",
                                 R"({"place":[[1]]})",
                                 R"({"place":[9223372036854775808]})",
                                 R"({"place":[1e999]})",
                                 R"({"place":[{}]})",
                                 R"({"place":[{"blob_hex":5}]})",
                                 R"({"place":[{"blob_hex":"0"}]})",
                                 R"({"place":[{"blob_hex":"0g"}]})",
                                 R"({"place":[{"blob_hex":"+1"}]})",
                                 R"({"place":[{"blob_hex":"00","text_hex":"00"}]})",
                                 R"({"place":[{"real":"nan"}]})",
                                 R"({"place":[{"other":"00"}]})",
                                 "{\"policy\":\"\xFF\"}"}) {
    EXPECT_EQ(parse_state(json), std::nullopt) << json;
  }
}

class StoredState : public ::testing::Test {
 protected:
  static constexpr const char* kMeta = "\"logs_meta\"";

  Status execute(std::vector<Statement> statements) {
    return database->execute(statements, {}).status();
  }
  LoadedState load() { return load_state(*database, kMeta, {}).value(); }
  void create() {
    ASSERT_TRUE(execute({{"CREATE TABLE logs_meta(key TEXT NOT NULL PRIMARY KEY, value NOT NULL) "
                          "WITHOUT ROWID"}})
                    .is_ok());
  }

  testing::TempDir directory;
  std::unique_ptr<Database> database =
      SqliteDatabase::open(directory.path("state.db"), OpenMode::kCreate).value();
};

TEST_F(StoredState, IsEmptyWithoutTheTableOrTheRow) {
  EXPECT_EQ(load().state, State());
  create();
  const LoadedState loaded = load();
  EXPECT_EQ(loaded.state, State());
  EXPECT_FALSE(loaded.is_spoilt);
  EXPECT_FALSE(loaded.restored.has_value());
}

TEST_F(StoredState, IsWhatWasSavedLastAndSaysWhenRowsCameBack) {
  create();
  ASSERT_TRUE(
      execute({save_statement(kMeta, {.policy = "keep=1d"}), save_statement(kMeta, full_state()),
               restored_statement(kMeta), restored_statement(kMeta)})
          .is_ok());
  const LoadedState loaded = load();
  EXPECT_EQ(loaded.state, full_state());
  EXPECT_FALSE(loaded.is_spoilt);
  ASSERT_TRUE(loaded.restored.has_value());
  EXPECT_LT(std::chrono::abs(*loaded.restored - Clock::system().wall_now()),
            std::chrono::minutes(5));
}

TEST_F(StoredState, IsSpoiltWhereItCannotBeRead) {
  create();
  for (const char* const value : {"5", "x'7b7d'", "'{'", "'{\"at\":5}'"}) {
    ASSERT_TRUE(execute({{std::string("INSERT OR REPLACE INTO logs_meta VALUES"
                                      "('retention_state', ") +
                          value + ")"}})
                    .is_ok());
    const LoadedState loaded = load();
    EXPECT_TRUE(loaded.is_spoilt) << value;
    EXPECT_EQ(loaded.state, State()) << value;
  }
  ASSERT_TRUE(execute({save_statement(kMeta, full_state()),
                       {"INSERT INTO logs_meta VALUES('retention_restored', 'lately')"}})
                  .is_ok());
  EXPECT_TRUE(load().is_spoilt);
  EXPECT_EQ(load().state, full_state());
}

TEST_F(StoredState, FailsWhereTheDatabaseDoes) {
  ASSERT_TRUE(execute({{"CREATE TABLE logs_meta(key, value)"}}).is_ok());
  ExecuteOptions late;
  late.deadline = SteadyTime();
  EXPECT_EQ(load_state(*database, kMeta, late).status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace spillway::retention
