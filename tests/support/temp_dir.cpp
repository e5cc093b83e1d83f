// SPDX-License-Identifier: MIT
#include "tests/support/temp_dir.h"

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX, not in <cstdlib>

#include <cstdio>
#include <system_error>

namespace spillway::testing {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "spillway-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // What stays behind in the temporary directory is no failure of a test.
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace spillway::testing
