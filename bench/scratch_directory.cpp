// SPDX-License-Identifier: MIT
#include "bench/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace spillway::bench {

ScratchDirectory::ScratchDirectory(const std::filesystem::path& parent) {
  std::string name = (parent / "spillway-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::filesystem::filesystem_error("cannot make a directory", parent,
                                            std::error_code(errno, std::generic_category()));
  }
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;  // What cannot be removed stays; the figures are right all the same.
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace spillway::bench
