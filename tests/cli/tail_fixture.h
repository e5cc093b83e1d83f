// SPDX-License-Identifier: MIT
//
// What the tests of `spillway tail` and `spillway d1 query` have in common: a log in a file of its
// own, written by SQLite's library, and the built program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

class LogFileProgram : public ::testing::Test {
 protected:
  LogFileProgram() {
    execute_sql(file, "PRAGMA journal_mode = WAL");
    execute_sql(file,
                "CREATE TABLE logs(created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER "
                "NOT NULL, level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, "
                "fields TEXT, PRIMARY KEY(created_at, writer, seq)) WITHOUT ROWID");
  }

  /// A row of the context `app`, at 2026-08-28T06:35:00.000Z and `seq` milliseconds.
  void add(int seq, const std::string& level, const std::string& message) const {
    const std::string number = std::to_string(1'000 + seq).substr(1);
    add_at("2026-08-28T06:35:00." + number + "Z", seq, level, message);
  }
  void add_at(const std::string& time, int seq, const std::string& level,
              const std::string& message) const {
    execute_sql(file, "INSERT INTO logs VALUES('" + time + "', 7, " + std::to_string(seq) + ", '" +
                          level + "', 'app', '" + message + "', NULL)");
  }
  void add_gap() const {
    execute_sql(file,
                "INSERT INTO logs VALUES('2026-08-28T06:35:01.000Z', 7, 900, 'WARN', 'spillway', "
                "'Log persistence paused while SQLite was busy, 12 skipped', "
                "'{\"kind\":\"gap\",\"total\":12}')");
  }

  [[nodiscard]] ProcessOptions program(std::vector<std::string> arguments,
                                       const std::vector<std::string>& more) const {
    arguments.insert(arguments.begin(), SPILLWAY_PROGRAM);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {.argv = std::move(arguments), .working_directory = directory.path()};
  }

  TempDir directory;
  std::filesystem::path file = directory.path() / "x.db";
};

}  // namespace spillway::testing
