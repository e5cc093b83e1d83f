// SPDX-License-Identifier: MIT
//
// TlsSession: makes a connection of RawHttpServer speak TLS.
#pragma once

#include <gtest/gtest.h>

#include "tests/d1/self_signed.h"
#include "tests/support/raw_http_server.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>

#include <memory>
#include <string>

namespace spillway::testing {

class TlsSession {
 public:
  /// From here on what `connection` reads and sends goes through the session.
  TlsSession(RawConnection& connection, const SelfSigned& identity) {
    block_sigpipe();
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_.get(), identity.certificate_file().c_str(),
                                           SSL_FILETYPE_PEM),
              1);
    EXPECT_EQ(
        SSL_CTX_use_PrivateKey_file(context_.get(), identity.key_file().c_str(), SSL_FILETYPE_PEM),
        1);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), connection.socket());
    connection.read_and_send_by(
        [this](char* buffer, std::size_t size) {
          return SSL_read(session_.get(), buffer, static_cast<int>(size));
        },
        [this](const char* bytes, std::size_t size) {
          return SSL_write(session_.get(), bytes, static_cast<int>(size));
        });
  }

  /// False: the client does not want it.
  [[nodiscard]] bool accept() { return SSL_accept(session_.get()) == 1; }

 private:
  // OpenSSL writes with write(2). The thread is the connection's own.
  static void block_sigpipe() {
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_server_method()),
                                                             &SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};
};

/// Answers every request with {} over TLS. `identity` must outlive the server.
inline RawHttpServer::Script always_over_tls(const SelfSigned& identity) {
  return [&identity](RawConnection& connection) {
    TlsSession session(connection, identity);
    const bool is_accepted = session.accept();
    while (is_accepted && connection.read_request()) {
      connection.answer(200, "{}");
    }
  };
}

}  // namespace spillway::testing
