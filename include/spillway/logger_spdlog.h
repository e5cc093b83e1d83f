// SPDX-License-Identifier: MIT
//
// SpdlogTarget: the records of a Logger into sinks of spdlog.
//
//   auto console = std::make_shared<spdlog::sinks::stdout_color_sink_mt>();
//   auto database = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:logs.db");
//   spillway::Logger log("shop", {spillway::spdlog_target({console, database})});
//
// A sink gets one physical line of text, `order placed order=42 user="Ann Lee"`, or of JSON, and
// puts its pattern around it. A database sink (itself, not within a sink that hands on to others)
// gets the message as it is and real fields.
//
// This header is compiled with the spdlog of your program, 1.10 or newer, like
// <spillway/database_sink.h>. It needs run-time type information.
#pragma once

#include <spillway/database_sink.h>
#include <spillway/log_target.h>
#include <spillway/logger.h>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

enum class SpdlogFormat : std::uint8_t {
  kText,
  /// For sinks with the pattern `%v`: `{"time":"…","level":"INFO","logger":"shop","message":"…",…}`
  kJson
};

struct SpdlogTargetOptions {
  SpdlogFormat format = SpdlogFormat::kText;
  /// A record of this level or above makes the sinks flush.
  Level flush_level = Level::kError;
};

class SpdlogTarget final : public LogTarget {
 public:
  /// None of `sinks` may be null. Their own levels hold.
  explicit SpdlogTarget(std::vector<spdlog::sink_ptr> sinks, SpdlogTargetOptions options = {})
      : options_(options) {
    for (spdlog::sink_ptr& sink : sinks) {
      auto database = std::dynamic_pointer_cast<sinks::DatabaseSink>(sink);
      outlets_.push_back({std::move(sink), std::move(database)});
    }
  }

  /// Waits for the sinks, which may do I/O. What one of them throws is counted.
  void accept(const RecordView& record) noexcept override {
    const bool has_text = std::any_of(outlets_.begin(), outlets_.end(), [](const Outlet& outlet) {
      return outlet.database == nullptr;
    });
    guarded([&] {
      std::string text;
      if (has_text) {
        options_.format == SpdlogFormat::kJson ? append_json_line(record, text)
                                               : append_log_line(record, text);
      }
      for (const Outlet& outlet : outlets_) {
        guarded([&] { write(outlet, record, text); });
      }
    });
  }

  /// Sinks know no timeout; `timeout` is for the database sinks.
  bool flush(std::chrono::milliseconds timeout) noexcept override {
    bool is_complete = true;
    for (const Outlet& outlet : outlets_) {
      if (outlet.database != nullptr) {
        is_complete = outlet.database->flush(timeout).is_complete && is_complete;
      } else {
        is_complete = guarded([&] { outlet.sink->flush(); }) && is_complete;
      }
    }
    return is_complete;
  }

  /// Calls of sinks that threw.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.load(); }

 private:
  struct Outlet {
    spdlog::sink_ptr sink;
    std::shared_ptr<sinks::DatabaseSink> database;  ///< The same, if it is one.
  };

  /// False, and counted, when `call` throws: a sink that fails must not hurt the others.
  template <typename Call>
  bool guarded(const Call& call) noexcept {
#if defined(__cpp_exceptions)
    try {
      call();
      return true;
    } catch (...) {
      ++failures_;
      return false;
    }
#else
    call();
    return true;
#endif
  }

  void write(const Outlet& outlet, const RecordView& record, std::string_view text) const {
    const spdlog::level::level_enum level = level_of(record.level);
    if (!outlet.sink->should_log(level)) {
      return;
    }
    if (outlet.database != nullptr) {
      outlet.database->accept(record);
      return;
    }
    outlet.sink->log(spdlog::details::log_msg(
        std::chrono::time_point_cast<spdlog::log_clock::duration>(record.time),
        spdlog::source_loc(), {record.context.data(), record.context.size()}, level,
        {text.data(), text.size()}));
    if (record.level >= options_.flush_level) {
      outlet.sink->flush();
    }
  }

  static spdlog::level::level_enum level_of(Level level) noexcept {
    switch (level) {
      case Level::kTrace:
        return spdlog::level::trace;
      case Level::kDebug:
        return spdlog::level::debug;
      case Level::kInfo:
        return spdlog::level::info;
      case Level::kWarn:
        return spdlog::level::warn;
      case Level::kError:
        return spdlog::level::err;
      case Level::kCritical:
        break;
    }
    return spdlog::level::critical;
  }

  const SpdlogTargetOptions options_;
  std::vector<Outlet> outlets_;
  std::atomic<std::uint64_t> failures_{0};
};

[[nodiscard]] inline std::shared_ptr<SpdlogTarget> spdlog_target(
    std::vector<spdlog::sink_ptr> sinks, SpdlogTargetOptions options = {}) {
  return std::make_shared<SpdlogTarget>(std::move(sinks), options);
}

}  // namespace spillway
