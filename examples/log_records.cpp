// SPDX-License-Identifier: MIT
#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/pipeline.h>

#include <chrono>
#include <iostream>

int main() {
  auto pipeline = spillway::Pipeline::start(
      [] { return spillway::open("sqlite:logs.db", spillway::OpenMode::kCreate); });
  if (!pipeline) {
    std::cerr << pipeline.error().to_string() << '\n';
    return 1;
  }
  (*pipeline)->accept({.time = spillway::Clock::system().wall_now(),
                       .level = spillway::Level::kInfo,
                       .context = "checkout",
                       .message = "order placed",
                       .fields = R"({"order":42})"});
  const spillway::Stats stats = (*pipeline)->close(std::chrono::seconds(5));
  return stats.is_complete ? 0 : 1;  // What is missing is counted in stats.
}
