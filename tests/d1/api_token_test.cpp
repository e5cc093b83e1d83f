// SPDX-License-Identifier: MIT
#include "d1/api_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace spillway {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string token_of(std::string_view text) {
  const auto token = usable_token(text, "the text");
  return token ? *token : "refused: " + token.error().message();
}

std::string refusal_of(const Result<std::string>& token) {
  EXPECT_FALSE(token.has_value());
  if (token) {
    return "";
  }
  EXPECT_EQ(token.error().code(), StatusCode::kConfig);
  EXPECT_THAT(token.error().message(), AllOf(Not(HasSubstr("SECRET")), Not(HasSubstr("\n"))));
  return token.error().message();
}

TEST(ApiToken, LosesTheWhiteSpaceAroundIt) {
  EXPECT_EQ(token_of("abc123SECRET"), "abc123SECRET");
  EXPECT_EQ(token_of("abc123SECRET\n"), "abc123SECRET");
  EXPECT_EQ(token_of(" \tabc123SECRET\t\r\n\n"), "abc123SECRET");
}

TEST(ApiToken, IsRefusedWithABlankALineEndOrAControlCharacterInIt) {
  for (const std::string& text : {"SECRET\r\nX-Evil: 1"s, "SECRET\nSECRET"s, "SEC RET SECRET"s,
                                  "SECRET\0x"s, "SECRET\x7fx"s, "SECRET\x1b[2J"s}) {
    EXPECT_THAT(refusal_of(usable_token(text, "CLOUDFLARE_API_TOKEN")),
                HasSubstr("CLOUDFLARE_API_TOKEN"));
  }
}

TEST(ApiToken, IsRefusedWithWhatAHeaderCannotHold) {
  EXPECT_THAT(refusal_of(usable_token("SECRET…", "the text")), HasSubstr("outside ASCII"));
  EXPECT_THAT(refusal_of(usable_token("\xef\xbb\xbfSECRET", "the text")), HasSubstr("the text"));
}

TEST(ApiToken, IsRefusedWhenThereIsNone) {
  EXPECT_THAT(refusal_of(usable_token("", "the text")), HasSubstr("the text holds no token"));
  EXPECT_THAT(refusal_of(usable_token(" \r\n", "the text")), HasSubstr("holds no token"));
}

class TokenFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& text) const {
    std::string path = directory.path("token");
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  const testing::TempDir directory;
};

TEST_F(TokenFile, IsReadEachTime) {
  EXPECT_EQ(*read_token_file(write("first\n")), "first");
  EXPECT_EQ(*read_token_file(write("second\r\n")), "second");
}

TEST_F(TokenFile, ThatIsNotThereIsNamed) {
  EXPECT_THAT(refusal_of(read_token_file(directory.path("none"))),
              AllOf(HasSubstr(directory.path("none")), HasSubstr("No such file")));
}

TEST_F(TokenFile, WithSomethingElseInItIsNamedButNotShown) {
  EXPECT_THAT(refusal_of(read_token_file(write("SECRET\nuser: SECRET\n"))),
              HasSubstr(directory.path("token")));
  EXPECT_THAT(refusal_of(read_token_file(write(""))), HasSubstr("holds no token"));
}

TEST_F(TokenFile, ThatIsTooLargeIsRefused) {
  EXPECT_EQ(read_token_file(write(std::string(16 * 1024, 'x')))->size(), 16U * 1024);
  EXPECT_THAT(refusal_of(read_token_file(write(std::string(16 * 1024 + 1, 'x')))),
              HasSubstr("too large"));
}

TEST_F(TokenFile, ThatIsNoRegularFileIsRefusedWithoutWaiting) {
  EXPECT_THAT(refusal_of(read_token_file(directory.path().string())),
              HasSubstr("not a regular file"));
  const std::string fifo = directory.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(read_token_file(fifo)), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal_of(read_token_file("/dev/zero")), HasSubstr("not a regular file"));
}

TEST(WithoutToken, ReplacesTheTokenWhereverItIs) {
  EXPECT_EQ(without_token("SECRET: bad SECRET", "SECRET"), "[token]: bad [token]");
  EXPECT_EQ(without_token("all is well", "SECRET"), "all is well");
  EXPECT_EQ(without_token("nothing to hide", ""), "nothing to hide");
}

TEST(WithoutToken, ReplacesWhateverFollowsBearer) {
  EXPECT_EQ(without_token("got Authorization: Bearer other123, bye", "SECRET"),
            "got Authorization: Bearer [token] bye");
  EXPECT_EQ(without_token("{\"authorization\":\"bearer other9\"}", "SECRET"),
            "{\"authorization\":\"bearer [token]\"}");
  EXPECT_EQ(without_token("Bearer a-1 Bearer b_2 bearer OnlyLettersButManyOfThem", ""),
            "Bearer [token] Bearer [token] bearer [token]");
  EXPECT_EQ(without_token("Bearer SEC…", "SECRET"), "Bearer [token]…");
}

TEST(WithoutToken, ReplacesATokenThatTheEndOfTheTextHasCutOff) {
  EXPECT_EQ(without_token("refused: SECRET-to", "SECRET-token"), "refused: [token]");
  EXPECT_EQ(without_token("refused: SECRET-to…", "SECRET-token"), "refused: [token]…");
  EXPECT_EQ(without_token("refused: SECRET-to...", "SECRET-token"), "refused: [token]...");
  EXPECT_EQ(without_token("of no concern: SEC", "SECRET-token"), "of no concern: SEC");
}

TEST(WithoutToken, LeavesASentenceAboutBearersAsItIs) {
  for (const char* text : {"Bearer token is missing", "Missing bearer token.", "no bearer given",
                           "Missing Bearer ", "the Bearer, if any"}) {
    EXPECT_EQ(without_token(text, "SECRET-1"), text);
  }
}

TEST(WithoutToken, CleansTheCausesToo) {
  const Status status = Status(StatusCode::kAuth, "bad SECRET")
                            .with_http_status(401)
                            .with_cause(Status(StatusCode::kPermanent, "SECRET is unknown"));
  const Status clean = without_token(status, "SECRET");
  EXPECT_EQ(clean.to_string(), "auth: bad [token]; because permanent: [token] is unknown");
  EXPECT_EQ(clean.http_status(), 401);
  EXPECT_TRUE(without_token(Status(), "SECRET").is_ok());
}

}  // namespace
}  // namespace spillway
