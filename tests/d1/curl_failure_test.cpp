// SPDX-License-Identifier: MIT
#include "d1/curl_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spillway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Status status_of(const TransferOutcome& outcome) {
  return transport_status(outcome, "api.cloudflare.com:443");
}

TEST(CurlFailure, ShowsNoProxysUrlThatLibcurlDoesNotUnderstandAndDoesNotWait) {
  for (const char* what : {"Unsupported proxy syntax in 'http://user:p#PW@proxy:1'",
                           "Unsupported proxy scheme for 'ftp://user:PW@proxy:1'",
                           "Unsupported proxy 'https://user:PW@proxy:1', libcurl is built without "
                           "the HTTPS-proxy support."}) {
    const Status status = status_of({.code = CURLE_COULDNT_RESOLVE_PROXY, .what = what});
    EXPECT_EQ(status.code(), StatusCode::kConfig);
    EXPECT_EQ(status.execution(), Execution::kNo);
    EXPECT_THAT(status.message(), HasSubstr("the proxy that the environment names"));
    EXPECT_THAT(status.message(), Not(HasSubstr("PW")));
  }
}

// 'http://user/PW@proxy' is a host "user", and 'http://PW#x@proxy' a host "PW".
TEST(CurlFailure, NamesNoHostThatMayBeAPartOfAProxysPassword) {
  const TransferOutcome outcome = {.code = CURLE_COULDNT_RESOLVE_PROXY,
                                   .what = "Could not resolve proxy: PW",
                                   .may_name_user = true};
  EXPECT_EQ(status_of(outcome).message(),
            "cannot reach api.cloudflare.com:443: Couldn't resolve proxy name");
}

TEST(CurlFailure, SaysWhatAProxyAnswered) {
  const TransferOutcome outcome = {.code = CURLE_COULDNT_CONNECT,
                                   .what = "CONNECT tunnel failed, response 407",
                                   .may_name_user = true};
  EXPECT_THAT(status_of(outcome).message(), HasSubstr("CONNECT tunnel failed, response 407"));
}

TEST(CurlFailure, SaysThatNoFileDescriptorIsFree) {
  const Status status = status_of({.code = CURLE_COULDNT_CONNECT,
                                   .what = "Couldn't connect to server",
                                   .has_no_descriptor = true});
  EXPECT_EQ(status.code(), StatusCode::kTransient);
  EXPECT_THAT(status.message(), HasSubstr("no file descriptor is free"));
}

TEST(CurlFailure, TellsTheLackOfMemoryFromALostAnswer) {
  TransferOutcome outcome = {.code = CURLE_WRITE_ERROR, .is_out_of_memory = true, .is_sent = true};
  EXPECT_EQ(status_of(outcome).to_string(), "internal: out of memory");
  EXPECT_EQ(status_of(outcome).execution(), Execution::kMaybe);
  outcome.is_sent = false;
  EXPECT_EQ(status_of(outcome).execution(), Execution::kNo);
}

}  // namespace
}  // namespace spillway
