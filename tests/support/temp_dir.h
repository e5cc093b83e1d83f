// SPDX-License-Identifier: MIT
//
// TempDir: a new directory that is removed, with all in it, when the object goes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace spillway::testing {

class TempDir {
 public:
  /// Aborts when there is no directory to be had: no test can go on without.
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The path of `name` in it.
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace spillway::testing
