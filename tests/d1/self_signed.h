// SPDX-License-Identifier: MIT
//
// SelfSigned: a key and a certificate that nobody trusts yet, made anew for each test, as files.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

namespace spillway::testing {

class SelfSigned {
 public:
  /// `subject` as OpenSSL writes an alternative name: "IP:127.0.0.1", "DNS:d1.test".
  explicit SelfSigned(const std::string& subject) {
    const Pointer<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
    const Pointer<X509, X509_free> certificate(X509_new());
    constexpr long kSecondsOfADay = 24L * 60 * 60;
    EXPECT_EQ(X509_set_version(certificate.get(), X509_VERSION_3), 1);
    EXPECT_EQ(ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kSecondsOfADay);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kSecondsOfADay);
    X509_set_pubkey(certificate.get(), key.get());
    name(*certificate, subject);
    EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
    write(key_file(), [&](std::FILE* file) {
      return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    write(certificate_file(),
          [&](std::FILE* file) { return PEM_write_X509(file, certificate.get()); });
  }

  [[nodiscard]] std::string key_file() const { return directory_.path("key.pem"); }
  [[nodiscard]] std::string certificate_file() const { return directory_.path("certificate.pem"); }

 private:
  template <auto kFree>
  struct Free {
    template <typename T>
    void operator()(T* object) const {
      kFree(object);
    }
  };
  template <typename T, auto kFree>
  using Pointer = std::unique_ptr<T, Free<kFree>>;

  static void name(X509& certificate, const std::string& subject) {
    X509_NAME* const subject_name = X509_get_subject_name(&certificate);
    const auto* const common_name = reinterpret_cast<const unsigned char*>("spillway test");
    X509_NAME_add_entry_by_txt(subject_name, "CN", MBSTRING_ASC, common_name, -1, -1, 0);
    X509_set_issuer_name(&certificate, subject_name);
    const Pointer<X509_EXTENSION, X509_EXTENSION_free> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject.c_str()));
    EXPECT_EQ(X509_add_ext(&certificate, extension.get(), -1), 1);
  }

  template <typename Write>
  static void write(const std::string& path, const Write& write_to) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(write_to(file), 1);
    EXPECT_EQ(std::fclose(file), 0);
  }

  const TempDir directory_;
};

}  // namespace spillway::testing
