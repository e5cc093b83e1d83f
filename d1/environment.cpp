// SPDX-License-Identifier: MIT
#include "d1/environment.h"

#include <cstdlib>

namespace spillway {

std::string environment_variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): said in the header; every reader of it has this trouble.
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string ca_file_of_environment() {
  std::string file = environment_variable("CURL_CA_BUNDLE");
  return file.empty() ? environment_variable("SSL_CERT_FILE") : file;
}

}  // namespace spillway
