// SPDX-License-Identifier: MIT
//
// lock_holder FILE: another program that uses the database. It takes the write lock of an SQLite
// file, says "locked", and gives it back when its stdin ends.
#include <sqlite3.h>

#include <cstdio>

int main(int argc, char** argv) {
  sqlite3* database = nullptr;
  if (argc != 2 || sqlite3_open(argv[1], &database) != SQLITE_OK) {
    return 2;
  }
  constexpr int kBusyMilliseconds = 10'000;
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  if (sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    static_cast<void>(std::fprintf(stderr, "lock_holder: %s\n", sqlite3_errmsg(database)));
    return 1;
  }
  std::puts("locked");
  static_cast<void>(std::fflush(stdout));
  while (std::getchar() != EOF) {
  }
  const int result = sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  return result == SQLITE_OK ? 0 : 1;
}
