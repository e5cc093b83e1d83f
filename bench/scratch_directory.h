// SPDX-License-Identifier: MIT
//
// ScratchDirectory: a new directory inside of another, removed with all in it when the object goes.
#pragma once

#include <filesystem>

namespace spillway::bench {

class ScratchDirectory {
 public:
  /// Throws std::filesystem::filesystem_error.
  explicit ScratchDirectory(const std::filesystem::path& parent);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace spillway::bench
