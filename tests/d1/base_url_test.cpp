// SPDX-License-Identifier: MIT
#include "d1/base_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(const std::string& url) {
  const auto base = parse_base_url(url, "base_url");
  EXPECT_FALSE(base.has_value()) << url;
  if (base) {
    return "";
  }
  EXPECT_EQ(base.error().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(base.error().message(), AllOf(Not(HasSubstr("SECRET")), Not(HasSubstr("\n"))));
  return base.error().message();
}

TEST(BaseUrl, IsHttpsToAnyHost) {
  const auto base = parse_base_url("https://api.example.com/client/v4", "base_url");
  ASSERT_TRUE(base.has_value()) << base.error().to_string();
  EXPECT_EQ(base->text, "https://api.example.com/client/v4");
  EXPECT_EQ(base->peer, "api.example.com:443");
  EXPECT_TRUE(base->is_https);
  EXPECT_FALSE(base->is_loopback);
}

TEST(BaseUrl, LosesTheSlashesAtItsEnd) {
  EXPECT_EQ(parse_base_url("https://example.com:8443/v4//", "")->text,
            "https://example.com:8443/v4");
  EXPECT_EQ(parse_base_url("https://example.com", "")->text, "https://example.com");
}

TEST(BaseUrl, IsHttpToALiteralLoopbackAddress) {
  for (const char* url : {"http://127.0.0.1:8787/client/v4", "http://127.1.2.3", "http://[::1]:80",
                          "HTTP://127.0.0.1", "http://[0:0:0:0:0:0:0:1]/"}) {
    const auto base = parse_base_url(url, "base_url");
    ASSERT_TRUE(base.has_value()) << url << base.error().to_string();
    EXPECT_TRUE(base->is_loopback) << url;
    EXPECT_FALSE(base->is_https) << url;
  }
  EXPECT_EQ(parse_base_url("http://[::1]:8787", "")->peer, "[::1]:8787");
}

// What libcurl takes for an address it calls by its usual form, and that is the one we keep.
TEST(BaseUrl, KnowsOtherWaysToWriteAnAddressAsLibcurlDoes) {
  EXPECT_EQ(parse_base_url("http://127.1:81/x", "")->text, "http://127.0.0.1:81/x");
  EXPECT_THAT(refusal_of("http://0x08080808"), HasSubstr("8.8.8.8:80"));
}

TEST(BaseUrl, IsNotHttpToAnythingElse) {
  for (const char* url :
       {"http://api.example.com", "http://localhost:8787", "http://10.0.0.1", "http://[::2]",
        "http://[::ffff:127.0.0.1]", "http://127.0.0.1.example.com", "http://[::1%25eth0]",
        "http://0.0.0.0", "http://128.0.0.1", "http://127.0.0.1."}) {
    EXPECT_THAT(refusal_of(url),
                AllOf(HasSubstr("base_url needs https: "), HasSubstr("in the clear")))
        << url;
  }
}

TEST(BaseUrl, HasAPortThatIsOne) {
  for (const char* url :
       {"https://example.com:99999", "https://example.com:x", "http://[::1]:-1"}) {
    EXPECT_THAT(refusal_of(url), HasSubstr("base_url has a bad port")) << url;
  }
}

TEST(BaseUrl, HasNoUserInfo) {
  EXPECT_THAT(refusal_of("http://127.0.0.1@example.com"), HasSubstr("user-info"));
  EXPECT_THAT(refusal_of("https://me:SECRET@example.com/v4"), HasSubstr("user-info"));
  EXPECT_THAT(refusal_of("http://127.0.0.1\\@example.com"), HasSubstr("user-info"));
}

TEST(BaseUrl, HasNoQueryAndNoFragment) {
  EXPECT_THAT(refusal_of("https://example.com/v4?key=SECRET"), HasSubstr("query"));
  EXPECT_THAT(refusal_of("https://example.com/v4#SECRET"), HasSubstr("fragment"));
}

TEST(BaseUrl, HasNoByteThatDoesNotBelongInAUrl) {
  for (const char* url : {"https://exa mple.com", "https://example.com/\r\nSECRET: 1",
                          "https://ex\xc3\xa4mple.com", "https://example.com\t"}) {
    EXPECT_THAT(refusal_of(url), HasSubstr("outside ASCII")) << url;
  }
}

TEST(BaseUrl, HasAHostOfAsciiEvenIfItIsWrittenEncoded) {
  EXPECT_THAT(refusal_of("https://%d1.example.com"), HasSubstr("host"));
}

TEST(BaseUrl, IsReadInOneWay) {
  for (const char* url : {"https:/%31://het", "https://%31:/x", "https://%30x7f000001"}) {
    EXPECT_THAT(refusal_of(url), HasSubstr("two ways")) << url;
  }
}

TEST(BaseUrl, IsAUrlOfHttp) {
  EXPECT_THAT(refusal_of("ftp://127.0.0.1/SECRET"), HasSubstr("neither an https nor an http"));
  EXPECT_THAT(refusal_of("file:///etc/passwd"), HasSubstr("https"));
  EXPECT_THAT(refusal_of("api.example.com/v4"), HasSubstr("not an https URL"));
  EXPECT_THAT(refusal_of("https://"), HasSubstr("not an https URL"));
  EXPECT_THAT(refusal_of(""), HasSubstr("not an https URL"));
}

TEST(PeerOfUrl, ShowsHostAndPortAlone) {
  EXPECT_EQ(peer_of_url("https://me:pw@elsewhere.example/path?token=1#x"), "elsewhere.example:443");
  EXPECT_EQ(peer_of_url("http://127.0.0.1:81/"), "127.0.0.1:81");
  EXPECT_EQ(peer_of_url("/path/of/the/same/host"), "");
}

}  // namespace
}  // namespace spillway
