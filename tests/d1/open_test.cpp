// SPDX-License-Identifier: MIT
#include <spillway/database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scoped_environment.h"
#include "tests/support/temp_dir.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScopedEnvironment;

std::string refusal_of(std::string_view url) {
  const auto database = open(url, OpenMode::kCreate);
  EXPECT_FALSE(database.has_value()) << url;
  if (database) {
    return "";
  }
  EXPECT_EQ(database.error().code(), StatusCode::kInvalidArgument) << url;
  EXPECT_EQ(database.error().execution(), Execution::kNo) << url;
  EXPECT_THAT(database.error().message(), Not(HasSubstr("\n")));
  return database.error().message();
}

TEST(Open, OpensAFile) {
  const testing::TempDir directory;
  const auto database = open("sqlite:" + directory.path("x.db"), OpenMode::kCreate);
  ASSERT_TRUE(database.has_value()) << database.error().to_string();
  EXPECT_EQ((*database)->traits().name, "SQLite");
  EXPECT_TRUE(std::filesystem::exists(directory.path("x.db")));
}

TEST(Open, HandsTheModeOn) {
  const testing::TempDir directory;
  const auto database = open("sqlite:" + directory.path("x.db"), OpenMode::kExisting);
  ASSERT_FALSE(database.has_value());
  EXPECT_EQ(database.error().code(), StatusCode::kConfig);
}

TEST(Open, RefusesAFormOfUrlThatItDoesNotKnowAndSaysWhatToWrite) {
  const auto says = [](const char* url, const char* why) {
    return AllOf(HasSubstr(url), HasSubstr(why), HasSubstr("sqlite:"));
  };
  EXPECT_THAT(refusal_of("sqlite:"), says("\"sqlite:\"", "names no file"));
  EXPECT_THAT(refusal_of("sqlite://logs.db"), says("\"sqlite://logs.db\"", "//"));
  EXPECT_THAT(refusal_of("sqlite:///var/log/app.db"),
              says("sqlite:///var/log/app.db", "sqlite:/var/log/app.db"));
  EXPECT_THAT(refusal_of("sqlite::memory:"), says("sqlite::memory:", "memory"));
  EXPECT_THAT(refusal_of("mysql:logs"), says("\"mysql:logs\"", "unknown scheme"));
  EXPECT_THAT(refusal_of("logs.db"), says("\"logs.db\"", "no scheme"));
  EXPECT_THAT(refusal_of(""), HasSubstr("empty"));
}

TEST(DatabaseFactory, SaysWhatOpenWouldSayAndLooksAtNoFile) {
  EXPECT_EQ(database_factory("mysql:logs", OpenMode::kCreate).error().message(),
            refusal_of("mysql:logs"));
  EXPECT_EQ(database_factory("", OpenMode::kCreate).error().message(), refusal_of(""));
  EXPECT_TRUE(database_factory("sqlite:/no/such/directory/logs.db", OpenMode::kCreate));
}

TEST(DatabaseFactory, KeepsToTheDirectoryThatItWasMadeIn) {
  const testing::TempDir here;
  const testing::TempDir elsewhere;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  const auto factory = database_factory("sqlite:logs.db", OpenMode::kCreate);
  std::filesystem::current_path(elsewhere.path());
  EXPECT_TRUE((*factory)().has_value());
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(here.path("logs.db")));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST(Open, OpensAD1DatabaseWithoutSendingAnything) {
  const ScopedEnvironment environment({{"CLOUDFLARE_API_TOKEN", "abc123SECRET"},
                                       {"CLOUDFLARE_ACCOUNT_ID", "acc"},
                                       {"CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:1"}});
  for (const char* url : {"d1://account/database", "d1:///database"}) {
    const auto database = open(url, OpenMode::kCreate);
    ASSERT_TRUE(database.has_value()) << database.error().to_string();
    const DatabaseTraits traits = (*database)->traits();
    EXPECT_EQ(traits.name, "D1");
    EXPECT_EQ(traits.dialect, Dialect::kD1);
    EXPECT_EQ(traits.limits.parameters_max, 100U);
    EXPECT_EQ(traits.rate.per_second, 2);
    EXPECT_EQ(traits.rate.burst, 5);
    EXPECT_FALSE(traits.does_retry);
  }
}

TEST(DatabaseFactory, ReadsTheEnvironmentOnceAndTheTokenFileEachTime) {
  const testing::TempDir directory;
  const std::string token_file = directory.path("token");
  auto factory = [&] {
    const ScopedEnvironment environment({{"CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:1"}});
    return database_factory("d1://acc/db", OpenMode::kCreate, {.token_file = token_file});
  }();
  ASSERT_TRUE(factory.has_value()) << factory.error().to_string();
  const auto missing = (*factory)();
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), StatusCode::kConfig);
  EXPECT_THAT(missing.error().message(), HasSubstr(token_file));
  std::ofstream(token_file) << "abc123SECRET\n";
  const auto opened = (*factory)();
  EXPECT_TRUE(opened.has_value()) << opened.error().to_string();
}

TEST(DatabaseFactory, OfD1NeedsAToken) {
  const ScopedEnvironment environment({{"CLOUDFLARE_API_TOKEN", ""}});
  const auto factory = database_factory("d1://acc/db", OpenMode::kCreate);
  ASSERT_FALSE(factory.has_value());
  EXPECT_EQ(factory.error().code(), StatusCode::kConfig);
  EXPECT_THAT(factory.error().message(), HasSubstr("set CLOUDFLARE_API_TOKEN"));
}

TEST(Open, SaysThatTheGatewayIsNotThereYet) {
  EXPECT_THAT(refusal_of("d1+https://host/x"), HasSubstr("not supported in this version"));
}

TEST(Open, RefusesNulAndShowsItOnOneLine) {
  EXPECT_THAT(refusal_of(std::string_view("sqlite:a\0b", 10)),
              HasSubstr("\"sqlite:a?b\" holds NUL"));
  EXPECT_THAT(refusal_of("my\nsql:x"), HasSubstr("my?sql:x"));
}

TEST(Open, DoesNotShowAPassword) {
  EXPECT_THAT(refusal_of("postgres://me:secret@host/logs"),
              AllOf(HasSubstr("postgres:"), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace spillway
