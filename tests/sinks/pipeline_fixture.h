// SPDX-License-Identifier: MIT
//
// A real Pipeline, with its threads, into an SQLite file behind a DatabaseScript.
#pragma once

#include <spillway/pipeline.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scripted_database.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {

class PipelineFixture : public ::testing::Test {
 protected:
  DatabaseFactory factory() {
    return [script = script, url = url()]() -> Result<std::unique_ptr<Database>> {
      auto file = open(url, OpenMode::kCreate);
      if (!file) {
        return file.error();
      }
      return std::unique_ptr<Database>(new ScriptedDatabase(script, *std::move(file)));
    };
  }

  std::unique_ptr<Pipeline> start(PipelineOptions options = {}) {
    if (!options.on_diagnostic) {
      options.on_diagnostic = [this](std::string_view line) {
        const std::lock_guard lock(mutex_);
        diagnostics_.emplace_back(line);
      };
    }
    auto pipeline = Pipeline::start(factory(), std::move(options));
    return *std::move(pipeline);
  }

  static bool log(Pipeline& pipeline, Level level, std::string_view message = "message") {
    return pipeline.accept(user_record(level, message));
  }
  static RecordView user_record(Level level, std::string_view message = "message") {
    return {
        .time = Clock::system().wall_now(), .level = level, .context = "app", .message = message};
  }

  [[nodiscard]] std::string url() const { return "sqlite:" + directory.path("logs.db"); }

  /// The one number that `sql` gives.
  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    auto file = open(url(), OpenMode::kReadOnly);
    const std::vector<Statement> statements{{.sql = sql}};
    const auto results = file.value()->execute(statements, {});
    const Value& value = results.value().at(0).rows.at(0).at(0);
    const auto* found = std::get_if<std::int64_t>(&value);
    return found ? *found : 0;
  }
  [[nodiscard]] std::int64_t user_rows() const {
    return number("SELECT count(*) FROM logs WHERE context <> 'spillway'");
  }
  [[nodiscard]] std::int64_t total_in_gap_rows() const {
    return number(
        "SELECT coalesce(sum(fields ->> 'total'), 0) FROM logs WHERE context = 'spillway'");
  }

  static void expect_account_adds_up(const Stats& stats) {
    EXPECT_EQ(stats.issued, stats.stored + stats.queued + stats.in_flight + stats.in_doubt +
                                stats.skipped() + stats.spooled + stats.dead_lettered);
  }

  [[nodiscard]] std::vector<std::string> diagnostics() {
    const std::lock_guard lock(mutex_);
    return diagnostics_;
  }

  TempDir directory;
  std::shared_ptr<DatabaseScript> script = std::make_shared<DatabaseScript>();

 private:
  std::mutex mutex_;
  std::vector<std::string> diagnostics_;
};

}  // namespace spillway::testing
