// SPDX-License-Identifier: MIT
//
// log_retries: an observer that tells retries to an spdlog logger, at DEBUG.
//
//     auto db = spillway::RetryingDatabase::wrap(
//         *std::move(opened), {.on_retry = spillway::log_retries(spdlog::get("console"))});
//
// DEBUG and the console are meant: at WARN in a log that is kept in a database, each retry would be
// one more write to the database that is refusing writes. So a logger with our database sink is
// refused.
//
// This header is compiled with the spdlog of your program, 1.10 or newer, like
// <spillway/database_sink.h>. It needs run-time type information.
#pragma once

#include <spillway/database_sink.h>
#include <spillway/retry.h>

#include <spdlog/common.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/dist_sink.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spillway {

namespace internal {

/// Also within sinks that hand on to others.
[[nodiscard]] inline bool holds_database_sink(const std::vector<spdlog::sink_ptr>& all) {
  return std::any_of(all.begin(), all.end(), [](const spdlog::sink_ptr& each) {
    if (auto* const many = dynamic_cast<spdlog::sinks::dist_sink_mt*>(each.get())) {
      return holds_database_sink(many->sinks());
    }
    if (auto* const many = dynamic_cast<spdlog::sinks::dist_sink_st*>(each.get())) {
      return holds_database_sink(many->sinks());
    }
    return dynamic_cast<sinks::DatabaseSink*>(each.get()) != nullptr;
  });
}

[[nodiscard]] inline std::string line_of(const RetryEvent& event) {
  const std::string operation = event.operation.empty() ? "an operation" : event.operation;
  return operation + " failed, attempt " + std::to_string(event.attempt) + " of " +
         std::to_string(event.attempts_max) + ", again in " + std::to_string(event.delay.count()) +
         " ms: " + event.failure.to_string();
}

}  // namespace internal

/// The observer for RetryOptions::on_retry. Lines like
///
///   SELECT failed, attempt 1 of 5, again in 212 ms: overload: D1 DB is overloaded. Too many …
///
/// It may be called from any number of threads if the logger may, and keeps the logger alive.
/// Throws spdlog::spdlog_ex when there is no logger or it holds a database sink. While it holds one
/// that was added later, nothing is logged.
[[nodiscard]] inline RetryObserver log_retries(std::shared_ptr<spdlog::logger> logger) {
  if (logger == nullptr) {
    spdlog::throw_spdlog_ex("spillway: log_retries needs a logger");
  }
  if (internal::holds_database_sink(logger->sinks())) {
    spdlog::throw_spdlog_ex("spillway: the logger '" + logger->name() +
                            "' writes to a database; tell retries to one that does not");
  }
  return [logger = std::move(logger)](const RetryEvent& event) {
    if (logger->should_log(spdlog::level::debug) &&
        !internal::holds_database_sink(logger->sinks())) {
      logger->log(spdlog::level::debug, internal::line_of(event));
    }
  };
}

}  // namespace spillway
