// SPDX-License-Identifier: MIT
#include "d1/d1_options.h"

#include <spillway/database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scoped_environment.h"
#include "tests/support/temp_dir.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScopedEnvironment;

D1Options good_options() {
  D1Options options;
  options.account_id = "acc";
  options.database_id = "00000000-0000-4000-8000-000000000000";
  options.token = "abc123SECRET";
  return options;
}

template <typename T>
std::string refusal_of(const Result<T>& result, StatusCode code) {
  EXPECT_FALSE(result.has_value());
  if (result.has_value()) {
    return "";
  }
  EXPECT_EQ(result.error().code(), code) << result.error().to_string();
  EXPECT_THAT(result.error().message(), AllOf(Not(HasSubstr("SECRET")), Not(HasSubstr("\n"))));
  return result.error().message();
}

// None of the machine's own settings.
class D1OptionsTest : public ::testing::Test {
 protected:
  const ScopedEnvironment none{{"CLOUDFLARE_API_TOKEN", ""},
                               {"CLOUDFLARE_ACCOUNT_ID", ""},
                               {"CLOUDFLARE_API_BASE_URL", ""},
                               {"CURL_CA_BUNDLE", ""},
                               {"SSL_CERT_FILE", ""}};
  const testing::TempDir directory;
};

TEST_F(D1OptionsTest, SayWhereToSendTheToken) {
  const auto http = d1_http_options(good_options());
  ASSERT_TRUE(http.has_value()) << http.error().to_string();
  EXPECT_EQ(http->transfer.url,
            "https://api.cloudflare.com/client/v4/accounts/acc/d1/database/"
            "00000000-0000-4000-8000-000000000000/raw");
  EXPECT_EQ(http->transfer.token, "abc123SECRET");
  EXPECT_EQ(http->peer, "api.cloudflare.com:443");
  EXPECT_FALSE(http->transfer.must_go_direct);
  EXPECT_EQ(http->transfer.ca_file, "");
}

TEST_F(D1OptionsTest, AvoidTheProxyForLoopback) {
  for (const char* url : {"http://127.0.0.1:8787/client/v4", "https://[::1]:8787/"}) {
    D1Options options = good_options();
    options.base_url = url;
    EXPECT_TRUE(d1_http_options(options)->transfer.must_go_direct) << url;
  }
}

TEST_F(D1OptionsTest, AreRefusedWithTheNameOfTheWrongOne) {
  const auto refused = [](auto&& change, StatusCode code = StatusCode::kInvalidArgument) {
    D1Options options = good_options();
    change(options);
    return refusal_of(d1_http_options(options), code);
  };
  EXPECT_THAT(refused([](D1Options& o) { o.account_id = ""; }), HasSubstr("account_id is empty"));
  EXPECT_THAT(refused([](D1Options& o) { o.account_id = "a/../b"; }), HasSubstr("account_id"));
  EXPECT_THAT(refused([](D1Options& o) { o.database_id = "x?SECRET"; }), HasSubstr("database_id"));
  EXPECT_THAT(refused([](D1Options& o) { o.base_url = "http://example.com"; }),
              HasSubstr("D1Options::base_url"));
  EXPECT_THAT(refused([](D1Options& o) { o.connect_timeout = {}; }), HasSubstr("connect_timeout"));
  EXPECT_THAT(refused([](D1Options& o) { o.attempt_timeout = std::chrono::milliseconds::max(); }),
              HasSubstr("at most an hour"));
  EXPECT_THAT(refused([](D1Options& o) { o.clock = nullptr; }), HasSubstr("clock is null"));
  EXPECT_THAT(refused([](D1Options& o) { o.token = "SECRET\nX: 1"; }, StatusCode::kConfig),
              HasSubstr("D1Options::token"));
  EXPECT_THAT(refused([](D1Options& o) { o.token = ""; }, StatusCode::kConfig),
              HasSubstr("D1Options::token holds no token"));
}

TEST_F(D1OptionsTest, PreferTheTokenFile) {
  D1Options options = good_options();
  options.token_file = directory.path("token");
  EXPECT_THAT(refusal_of(d1_http_options(options), StatusCode::kConfig),
              HasSubstr(options.token_file));
  std::ofstream(options.token_file) << "from-the-file\n";
  EXPECT_EQ(d1_http_options(options)->transfer.token, "from-the-file");
}

TEST_F(D1OptionsTest, NameAFileOfCertificatesThatCannotBeRead) {
  D1Options options = good_options();
  options.ca_file = directory.path("none.pem");
  EXPECT_THAT(refusal_of(d1_http_options(options), StatusCode::kConfig),
              AllOf(HasSubstr(options.ca_file), HasSubstr("No such file")));
  options.ca_file = directory.path().string();
  EXPECT_THAT(refusal_of(d1_http_options(options), StatusCode::kConfig),
              HasSubstr("not a regular file"));
}

TEST_F(D1OptionsTest, TakeTheCertificatesOfTheEnvironmentWhenTheyNameNone) {
  const std::string own = directory.path("own.pem");
  const std::string other = directory.path("other.pem");
  std::ofstream(own) << "x";
  std::ofstream(other) << "x";
  const ScopedEnvironment environment({{"CURL_CA_BUNDLE", own}, {"SSL_CERT_FILE", other}});
  D1Options options = good_options();
  EXPECT_EQ(d1_http_options(options)->transfer.ca_file, own);
  options.ca_file = other;
  EXPECT_EQ(d1_http_options(options)->transfer.ca_file, other);
  const ScopedEnvironment missing({{"CURL_CA_BUNDLE", directory.path("none.pem")}});
  options.ca_file = "";
  EXPECT_THAT(refusal_of(d1_http_options(options), StatusCode::kConfig), HasSubstr("none.pem"));
}

// From a URL.

TEST_F(D1OptionsTest, OfAUrlComeFromTheEnvironment) {
  const ScopedEnvironment environment(
      {{"CLOUDFLARE_API_TOKEN", " abc123SECRET\n"},
       {"CLOUDFLARE_ACCOUNT_ID", "acc"},
       {"CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:8787/client/v4"}});
  const auto options = d1_options_for({"", "db"}, OpenMode::kReadOnly, {});
  ASSERT_TRUE(options.has_value()) << options.error().to_string();
  EXPECT_EQ(options->account_id, "acc");
  EXPECT_EQ(options->database_id, "db");
  EXPECT_EQ(options->token, "abc123SECRET");
  EXPECT_EQ(options->base_url, "http://127.0.0.1:8787/client/v4");
  EXPECT_TRUE(options->is_read_only);
  EXPECT_FALSE(d1_options_for({"other", "db"}, OpenMode::kCreate, {})->is_read_only);
  EXPECT_EQ(d1_options_for({"other", "db"}, OpenMode::kCreate, {})->account_id, "other");
}

TEST_F(D1OptionsTest, OfAUrlNeedATokenOnLoopbackToo) {
  const ScopedEnvironment environment({{"CLOUDFLARE_API_BASE_URL", "http://127.0.0.1:8787"}});
  EXPECT_THAT(refusal_of(d1_options_for({"acc", "db"}, OpenMode::kCreate, {}), StatusCode::kConfig),
              AllOf(HasSubstr("CLOUDFLARE_API_TOKEN"), HasSubstr("file")));
}

TEST_F(D1OptionsTest, OfAUrlAreRefusedWithTheNameOfTheVariable) {
  const auto refused = [](const D1Url& url, const char* name, const char* value, StatusCode code) {
    const ScopedEnvironment environment({{"CLOUDFLARE_API_TOKEN", "SECRET"}});
    const ScopedEnvironment wrong({{name, value}});
    return refusal_of(d1_options_for(url, OpenMode::kCreate, {}), code);
  };
  EXPECT_THAT(refused({"", "db"}, "CLOUDFLARE_ACCOUNT_ID", "", StatusCode::kInvalidArgument),
              AllOf(HasSubstr("set CLOUDFLARE_ACCOUNT_ID"), HasSubstr("d1://ACCOUNT_ID/")));
  EXPECT_THAT(refused({"", "db"}, "CLOUDFLARE_ACCOUNT_ID", "a/b", StatusCode::kInvalidArgument),
              HasSubstr("CLOUDFLARE_ACCOUNT_ID may hold"));
  EXPECT_THAT(refused({"acc", "db"}, "CLOUDFLARE_API_BASE_URL", "http://me:SECRET@example.com",
                      StatusCode::kInvalidArgument),
              HasSubstr("CLOUDFLARE_API_BASE_URL has user-info"));
  EXPECT_THAT(
      refused({"acc", "db"}, "CLOUDFLARE_API_TOKEN", "SECRET\r\nX-Evil: 1", StatusCode::kConfig),
      HasSubstr("CLOUDFLARE_API_TOKEN does not hold a token alone"));
}

TEST_F(D1OptionsTest, OfAUrlKeepPathsThatWereRelative) {
  const ScopedEnvironment environment({{"CURL_CA_BUNDLE", "ca.pem"}});
  const auto options = d1_options_for({"acc", "db"}, OpenMode::kCreate, {.token_file = "token"});
  const std::filesystem::path here = std::filesystem::current_path();
  ASSERT_TRUE(options.has_value());  // The file need not be there yet.
  EXPECT_EQ(options->token_file, (here / "token").string());
  EXPECT_EQ(options->ca_file, (here / "ca.pem").string());
}

}  // namespace
}  // namespace spillway
