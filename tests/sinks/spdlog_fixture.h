// SPDX-License-Identifier: MIT
//
// A database sink behind loggers of spdlog, into an SQLite file behind a DatabaseScript; and the
// rows as they stand in that file.
#pragma once

#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sinks/pipeline_fixture.h"

namespace spillway::testing {

/// The sink's diagnostics.
class Lines {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
    changed_.notify_all();
  }

  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  /// How many lines hold `text`.
  [[nodiscard]] std::ptrdiff_t count(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return count_locked(text);
  }
  /// Returns when a line holds `text`; false if that takes longer than `timeout`.
  [[nodiscard]] bool await(std::string_view text, std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return count_locked(text) > 0; });
  }

 private:
  [[nodiscard]] std::ptrdiff_t count_locked(std::string_view text) const {
    return std::count_if(lines_.begin(), lines_.end(), [text](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> lines_;
};

struct LogRow {
  std::string created_at;
  std::string level;
  std::string context;
  std::string message;
  std::string fields;
};

class SpdlogFixture : public PipelineFixture {
 protected:
  using Sink = sinks::database_sink_mt;

  // The registry is the process's; what a test leaves in it would meet the next one.
  ~SpdlogFixture() override { spdlog::shutdown(); }

  [[nodiscard]] PipelineOptions heard(PipelineOptions options = {}) const {
    options.on_diagnostic = [lines = lines](std::string_view line) { lines->add(line); };
    return options;
  }
  std::shared_ptr<Sink> make_sink(PipelineOptions options = {}) {
    return std::make_shared<Sink>(factory(), heard(std::move(options)));
  }

  /// A synchronous logger that takes every level and is not registered.
  static std::shared_ptr<spdlog::logger> logger_of(std::vector<spdlog::sink_ptr> sinks,
                                                   const std::string& name = "app") {
    auto log = std::make_shared<spdlog::logger>(name, sinks.begin(), sinks.end());
    log->set_level(spdlog::level::trace);
    return log;
  }

  /// The user's rows, or the gap rows, in the order of their numbers.
  [[nodiscard]] std::vector<LogRow> rows() const { return rows_where("context <> 'spillway'"); }
  [[nodiscard]] std::vector<LogRow> gap_rows() const { return rows_where("context = 'spillway'"); }

  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> messages;
    for (LogRow& row : rows()) {
      messages.push_back(std::move(row.message));
    }
    return messages;
  }

  std::shared_ptr<Lines> lines = std::make_shared<Lines>();

 private:
  [[nodiscard]] std::vector<LogRow> rows_where(const std::string& condition) const {
    auto file = open(url(), OpenMode::kReadOnly);
    const std::vector<Statement> statements{
        {.sql =
             "SELECT created_at, level, context, message, coalesce(fields, '') FROM logs WHERE " +
             condition + " ORDER BY writer, seq"}};
    const auto results = file.value()->execute(statements, {});
    std::vector<LogRow> rows;
    for (const Row& row : results.value().at(0).rows) {
      const auto text = [&row](std::size_t column) {
        return std::get<std::string>(row.at(column));
      };
      rows.push_back({text(0), text(1), text(2), text(3), text(4)});
    }
    return rows;
  }
};

}  // namespace spillway::testing
