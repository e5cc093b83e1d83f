// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <chrono>
#include <iostream>
#include <string_view>

int main() {
  using namespace std::chrono_literals;
  auto log = spillway::database_logger_mt(
      "app", "sqlite:logs.db",
      {.table = "app_logs",
       .overload = {.write_pause = 3s},  // For a local file; the default of 30 s suits D1.
       .close_timeout = 2s,
       .on_diagnostic = [](std::string_view line) { std::cerr << "app-log: " << line << '\n'; }});
  log->info("started");
}
