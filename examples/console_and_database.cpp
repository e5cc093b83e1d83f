// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

int main() {
  // The program as it was: it logs to its console.
  auto console = std::make_shared<spdlog::sinks::stdout_sink_mt>();
  auto log = std::make_shared<spdlog::logger>("shop", console);
  spdlog::set_default_logger(log);
  spdlog::set_pattern("%-5l %v");
  spdlog::flush_on(spdlog::level::err);

  // What is new: the database beside it.
  auto database = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:logs.db");
  log->sinks().push_back(database);

  spdlog::info("order {} placed", 42);
  spdlog::debug("nobody sees this");

  // Levels may change at any time, for all sinks or for one.
  spdlog::set_level(spdlog::level::debug);
  database->set_level(spdlog::level::warn);
  spdlog::debug("for the console alone");
  spdlog::info("for the console alone, too");
  spdlog::error("payment {} failed: {}", 42, "card declined");  // flush_on: does not wait either.
}
