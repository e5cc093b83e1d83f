// SPDX-License-Identifier: MIT
//
// WriteLock: another connection that holds a SQLite file's write lock as long as the object lives.
#pragma once

#include <filesystem>
#include <memory>

struct sqlite3;

namespace spillway::bench {

class WriteLock {
 public:
  /// Throws std::runtime_error when the lock is not to be had.
  explicit WriteLock(const std::filesystem::path& file);

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };

  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace spillway::bench
