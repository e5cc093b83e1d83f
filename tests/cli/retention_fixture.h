// SPDX-License-Identifier: MIT
//
// What tests of the built spillway-retention share: a directory with an SQLite file as Spillway
// makes it, rows of a known age in it, and the program's command lines.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/log_file.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

/// For what has to come, however slow the machine is.
inline constexpr std::chrono::seconds kPatience{60};

class RetentionFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& name = "x.db") const {
    return directory_.path() / name;
  }

  [[nodiscard]] ProcessOptions program(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SPILLWAY_RETENTION_PROGRAM);
    return {.argv = std::move(arguments), .working_directory = directory_.path()};
  }
  /// On the file x.db.
  [[nodiscard]] ProcessOptions on_file(const std::string& command,
                                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {command, "--db", "sqlite:x.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program(arguments);
  }
  /// `run --keep 30d --json`, and what it says.
  [[nodiscard]] ProcessResult run_on_file(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"--keep", "30d", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(on_file("run", arguments));
  }

  void make_table(const std::string& name = "x.db") const {
    execute_sql(file(name),
                "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; CREATE TABLE logs("
                "created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT NULL, level "
                "TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT, PRIMARY "
                "KEY(created_at, writer, seq)) WITHOUT ROWID");
  }
  /// Rows of one and the same time, which SQLite's date functions understand: "now, -40 days".
  void add_rows(int count, const std::string& time, const std::string& age = "+0 days",
                const std::string& level = "INFO") const {
    execute_sql(file(),
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                    std::to_string(count) + ") INSERT INTO logs SELECT strftime(" +
                    "'%Y-%m-%dT%H:%M:%fZ', '" + time + "', '" + age +
                    "'), 1, (SELECT ifnull(max(seq), 0) FROM logs) + i, '" + level +
                    "', 'app', printf('%200d', i), NULL FROM n");
  }
  void add_expired(int count) const { add_rows(count, "now", "-40 days"); }
  void add_fresh(int count) const { add_rows(count, "now"); }

  [[nodiscard]] std::int64_t rows(const std::string& where = "true") const {
    return query_number(file(), "SELECT count(*) FROM logs WHERE " + where);
  }
  [[nodiscard]] std::int64_t expired_rows() const {
    return rows("created_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-30 days')");
  }
  void expect_integrity() const {
    EXPECT_EQ(query_number(file(), "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
  }
  /// As if the lease's time were over.
  void end_lease() const {
    execute_sql(file(),
                "UPDATE logs_meta SET value = json_set(value, '$.until', 1) WHERE key = "
                "'retention_lease'");
  }

  [[nodiscard]] std::string content(const std::string& name = "x.db") const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  TempDir directory_;
};

}  // namespace spillway::testing
