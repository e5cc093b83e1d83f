// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

int main() {
  auto log = spillway::database_logger_mt("app", "sqlite:logs.db");
  log->info("order {} placed", 42);
}
