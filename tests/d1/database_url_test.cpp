// SPDX-License-Identifier: MIT
#include "d1/database_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(std::string_view url) {
  const auto parsed = parse_database_url(url);
  EXPECT_FALSE(parsed.has_value()) << url;
  if (parsed) {
    return "";
  }
  EXPECT_EQ(parsed.error().code(), StatusCode::kInvalidArgument) << url;
  EXPECT_THAT(parsed.error().message(), AllOf(Not(HasSubstr("\n")), Not(HasSubstr("SECRET"))));
  return parsed.error().message();
}

TEST(DatabaseUrl, NamesAFile) {
  EXPECT_EQ(std::get<SqliteUrl>(*parse_database_url("sqlite:logs.db")).path, "logs.db");
  EXPECT_EQ(std::get<SqliteUrl>(*parse_database_url("sqlite:/var/a b@c?.db")).path,
            "/var/a b@c?.db");
}

TEST(DatabaseUrl, NamesAD1Database) {
  const auto d1 =
      std::get<D1Url>(*parse_database_url("d1://0a1b2c/00000000-0000-4000-8000-000000000000"));
  EXPECT_EQ(d1.account_id, "0a1b2c");
  EXPECT_EQ(d1.database_id, "00000000-0000-4000-8000-000000000000");
}

TEST(DatabaseUrl, MayLeaveTheAccountToTheEnvironment) {
  const auto d1 = std::get<D1Url>(*parse_database_url("d1:///x-y_Z9"));
  EXPECT_EQ(d1.account_id, "");
  EXPECT_EQ(d1.database_id, "x-y_Z9");
}

TEST(DatabaseUrl, OfD1ThatLacksAPartIsRefusedWithTheWayOut) {
  const auto says = [](const char* why) {
    return AllOf(HasSubstr(why), HasSubstr("write d1://ACCOUNT_ID/DATABASE_ID"));
  };
  EXPECT_THAT(refusal_of("d1:"), says("no // after the scheme"));
  EXPECT_THAT(refusal_of("d1:acc/db"), says("no // after the scheme"));
  EXPECT_THAT(refusal_of("d1://"), says("names no database"));
  EXPECT_THAT(refusal_of("d1:///"), says("names no database"));
  EXPECT_THAT(refusal_of("d1://database"), says("names no database"));
  EXPECT_THAT(refusal_of("d1://acc/"), says("names no database"));
}

TEST(DatabaseUrl, OfD1HoldsNothingThatCouldLeadTheRequestElsewhere) {
  for (const std::string& url :
       {"d1://acc/db/x"s, "d1://acc/.."s, "d1://../db"s, "d1://acc/d%62"s, "d1://acc/d b"s,
        "d1://acc/d\nb"s, "d1://acc/d\0b"s, "d1://acc/d\xc3\xa9"s, "d1:////db"s, "d1://acc//db"s}) {
    EXPECT_THAT(refusal_of(url), HasSubstr("letters, digits, - and _")) << url;
  }
  EXPECT_THAT(refusal_of("d1://acc/db?x=1"), HasSubstr("more than two ids"));
  EXPECT_THAT(refusal_of("d1://acc/db#x"), HasSubstr("more than two ids"));
  EXPECT_THAT(refusal_of("d1://SECRET@acc/db"), HasSubstr("a token is given in another way"));
}

TEST(DatabaseUrl, IsRefusedWithoutTheTokenThatSomebodyPutIntoIt) {
  for (const char* url :
       {"d1://acc/db?token=SECRET", "d1://acc/db#SECRET", "d1://SECRET@acc/db", "d1:?SECRET",
        "https://api.cloudflare.com/client/v4?token=SECRET", "https://me:SEC#RET:SECRET@host/",
        "SECRET@host", "SECRET:x@host", "logs.db?token=SECRET", "SQLITE:logs.db?SECRET"}) {
    refusal_of(url);  // Looks for the word.
  }
}

TEST(DatabaseUrl, IsShownOnOneLineAndWithoutAPassword) {
  EXPECT_EQ(shown_database_url("my\nsql:\x1b[x\x7f"), "\"my?sql:?[x?\"");
  EXPECT_EQ(shown_database_url("d1://SECRET@acc/db"), "\"d1:…\"");
  EXPECT_EQ(shown_database_url("SECRET@acc/db"), "\"…\"");
  EXPECT_EQ(shown_database_url("SECRET:SECRET@acc/db"), "\"…\"");
  EXPECT_EQ(shown_database_url("d1://acc/db?token=SECRET"), "\"d1://acc/db…\"");
  EXPECT_EQ(shown_database_url("d1://acc/db#SECRET"), "\"d1://acc/db…\"");
  EXPECT_EQ(shown_database_url("d1://me:SEC?RET#SECRET@acc/db"), "\"d1:…\"");
  EXPECT_EQ(shown_database_url("sqlite:/home/me@work/logs.db"), "\"sqlite:/home/me@work/logs.db\"");
}

TEST(D1Id, IsWhatNeedsNoEscapeInAPath) {
  EXPECT_TRUE(is_d1_id("00000000-0000-4000-8000-000000000000"));
  EXPECT_TRUE(is_d1_id("A_z-9"));
  for (const char* id : {"", "a/b", "a.b", "..", "a b", "a%2f", "\xc3\xa9", "a\n"}) {
    EXPECT_FALSE(is_d1_id(id)) << id;
  }
}

}  // namespace
}  // namespace spillway
