// SPDX-License-Identifier: MIT
#include "bench/write_lock.h"

#include <sqlite3.h>

#include <stdexcept>

namespace spillway::bench {

WriteLock::WriteLock(const std::filesystem::path& file) {
  constexpr int kWaitMs = 5'000;
  sqlite3* connection = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
  connection_.reset(connection);  // There is one to close even after a failure.
  if (opened != SQLITE_OK || sqlite3_busy_timeout(connection, kWaitMs) != SQLITE_OK ||
      sqlite3_exec(connection, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error("cannot lock " + file.string() + ": " + sqlite3_errmsg(connection));
  }
}

void WriteLock::Close::operator()(sqlite3* connection) const noexcept {
  sqlite3_close(connection);  // Rolls back.
}

}  // namespace spillway::bench
