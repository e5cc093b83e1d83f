// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

namespace {

// All that a signal handler may do is to leave word: it must not log.
volatile std::sig_atomic_t stop_signal = 0;

void work_until_told_to_stop() {
  std::cout << "working" << std::endl;
  while (stop_signal == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

int main() {
  using namespace std::chrono_literals;
  if (std::signal(SIGTERM, [](int number) { stop_signal = number; }) == SIG_ERR) {
    return 1;
  }
  auto database = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:logs.db");
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("worker", database));

  spdlog::info("started");
  work_until_told_to_stop();
  spdlog::info("stopping after signal {}", static_cast<int>(stop_signal));

  const spillway::Stats stats = database->close(5s);
  std::cout << stats.stored << " of " << stats.issued << " records stored\n";
  if (!stats.is_complete) {
    std::cerr << stats.skipped() << " skipped, " << stats.in_doubt << " in doubt\n";
    return 1;
  }
}
