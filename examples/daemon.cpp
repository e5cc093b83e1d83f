// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>

namespace {

std::shared_ptr<spillway::sinks::database_sink_mt> database;

// Leaves the shell that started it. What the parent has logged so far is in its memory, and its
// _exit would take it along: it goes to the table first.
void become_daemon() {
  using namespace std::chrono_literals;
  if (!database->flush(2s).is_complete) {
    std::cerr << "not all that was logged so far is in the table\n";
  }
  if (const pid_t child = fork(); child != 0) {
    _exit(child > 0 ? 0 : 1);
  }
  setsid();
}

// A worker process. It needs nothing of this: its records go by a connection of its own.
pid_t start_worker() {
  const pid_t child = fork();
  if (child == 0) {
    spdlog::info("worker logs");
    _exit(database->close(std::chrono::seconds(2)).is_complete ? 0 : 1);
  }
  return child;
}

}  // namespace

int main() {
  database = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:logs.db");
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("daemon", database));

  spdlog::info("starting");
  become_daemon();
  spdlog::info("daemon runs");
  int status = 0;
  if (const pid_t worker = start_worker(); worker < 0 || waitpid(worker, &status, 0) < 0) {
    spdlog::error("no worker");
  }
  spdlog::info("daemon ends, its worker ended with {}", WEXITSTATUS(status));
  const bool is_complete = database->close(std::chrono::seconds(2)).is_complete;
  std::cout << (is_complete ? "all stored" : "not all stored") << std::endl;
}
