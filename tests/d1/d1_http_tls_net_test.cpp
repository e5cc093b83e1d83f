// SPDX-License-Identifier: MIT
//
// Goal: the token goes to servers whose certificate is trusted, and a TLS connection that dies
// kills nobody. Method: HTTPS servers on loopback with certificates made for the test.
#include <spillway/d1_database.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "d1/d1_options.h"
#include "tests/d1/d1_http_fixture.h"
#include "tests/d1/self_signed.h"
#include "tests/d1/tls_session.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temp_dir.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <semaphore>
#include <string>

namespace spillway {
namespace {

using ::testing::AllOf;
using testing::always_over_tls;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::post;
using testing::RawConnection;
using testing::RawHttpServer;
using testing::ScopedEnvironment;
using testing::SelfSigned;

D1HttpOptions options_for(const RawHttpServer& server, const std::string& ca_file = "") {
  D1Options options;
  options.account_id = "acc";
  options.database_id = "db";
  options.token = testing::kToken;
  options.base_url = "https://127.0.0.1:" + std::to_string(server.port());
  options.ca_file = ca_file;
  auto http = d1_http_options(options);
  EXPECT_TRUE(http.has_value()) << http.status().to_string();
  return *std::move(http);
}

void expect_not_trusted(const HttpAnswer& answer) {
  const Status& status = answer.transport;
  EXPECT_EQ(status.code(), StatusCode::kConfig) << status.to_string();
  EXPECT_EQ(status.execution(), Execution::kNo);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("127.0.0.1:"), Not(HasSubstr("SECRET"))));
}

class D1HttpTls : public ::testing::Test {
 protected:
  const ScopedEnvironment environment{{"CURL_CA_BUNDLE", ""}, {"SSL_CERT_FILE", ""}};
  const SelfSigned identity{"IP:127.0.0.1"};
  RawHttpServer server{always_over_tls(identity)};
};

TEST_F(D1HttpTls, ACertificateThatNobodyTrustsIsRefusedWithTheWayOut) {
  D1Http http(options_for(server));
  const HttpAnswer answer = post(http);
  expect_not_trusted(answer);
  EXPECT_THAT(answer.transport.message(), AllOf(HasSubstr("certificate"), HasSubstr("self-signed"),
                                                HasSubstr("SSL_CERT_FILE")));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(D1HttpTls, AFileOfCertificatesMakesItTrusted) {
  D1Http http(options_for(server, identity.certificate_file()));
  const HttpAnswer answer = post(http);
  EXPECT_TRUE(answer.transport.is_ok()) << answer.transport.to_string();
  EXPECT_EQ(answer.body, "{}");
}

TEST_F(D1HttpTls, TheEnvironmentMayNameThatFile) {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const ScopedEnvironment named({{name, identity.certificate_file()}});
    D1Http http(options_for(server));
    EXPECT_TRUE(post(http).transport.is_ok()) << name;
  }
}

TEST_F(D1HttpTls, ACertificateForAnotherNameIsRefused) {
  const SelfSigned other("DNS:d1.test");
  RawHttpServer impostor(always_over_tls(other));
  D1Http http(options_for(impostor, other.certificate_file()));
  expect_not_trusted(post(http));
  EXPECT_TRUE(impostor.requests().empty());
}

TEST_F(D1HttpTls, AFileWithoutCertificatesIsRefusedAndNamed) {
  const testing::TempDir directory;
  std::ofstream(directory.path("ca.pem")) << "nothing of use\n";
  D1Http http(options_for(server, directory.path("ca.pem")));
  const HttpAnswer answer = post(http);
  expect_not_trusted(answer);
  EXPECT_THAT(answer.transport.message(), HasSubstr(directory.path("ca.pem")));
}

TEST_F(D1HttpTls, ConnectionsThatDieRaiseNoSignal) {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGPIPE, &by_default, &before), 0);
  std::counting_semaphore<> may_die(0);
  RawHttpServer dying([&](RawConnection& connection) {
    testing::TlsSession session(connection, identity);
    if (session.accept() && connection.read_request()) {
      connection.answer(200, "{}");
      EXPECT_TRUE(may_die.try_acquire_for(std::chrono::seconds(20)));
      connection.close_by_reset();
    }
  });
  for (int i = 0; i < 10; ++i) {
    D1Http http(options_for(dying, identity.certificate_file()));
    ASSERT_TRUE(post(http).transport.is_ok());
    may_die.release();
    testing::await_close_by(dying.port());
  }  // And here each says goodbye to nobody.
  struct sigaction after {};
  ASSERT_EQ(::sigaction(SIGPIPE, &before, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL);  // Signal handling is the application's.
}

}  // namespace
}  // namespace spillway
