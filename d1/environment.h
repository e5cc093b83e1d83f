// SPDX-License-Identifier: MIT
//
// The one place where Spillway reads environment variables.
#pragma once

#include <string>

namespace spillway {

/// The variable's value; one that is not set is as good as an empty one. Like getenv it must not
/// run while another thread changes the environment.
[[nodiscard]] std::string environment_variable(const char* name);

/// A file of certificates to trust: CURL_CA_BUNDLE, else SSL_CERT_FILE. Empty: the system's.
[[nodiscard]] std::string ca_file_of_environment();

}  // namespace spillway
