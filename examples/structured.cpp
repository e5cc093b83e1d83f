// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>
#include <spillway/logger.h>
#include <spillway/logger_spdlog.h>

#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace shop {

struct Item {
  std::string name;
  int count = 0;
};

// How an Item looks in a log. It is found by its argument's namespace.
void to_field(const Item& item, spillway::FieldWriter& out) {
  out.object({{"name", item.name}, {"count", item.count}});
}

void charge(const std::string& card) {
  try {
    throw std::out_of_range("no such card");
  } catch (...) {
    std::throw_with_nested(std::runtime_error("cannot charge " + card.substr(0, 4)));
  }
}

void place_order(const spillway::Logger& log, const Item& item) {
  log.info("order placed", {{"order", 42}, {"total", 9.99}, {"item", item}, {"tags", {"new", 1}}});
  try {
    charge("4242 4242");
  } catch (const std::exception& error) {
    log.error("payment failed", {{"error", error}, {"token", "t0p s3cret"}});
  }
}

}  // namespace shop

int main() {
  using namespace std::chrono_literals;
  auto console = std::make_shared<spdlog::sinks::stdout_sink_mt>();
  console->set_pattern("%-5l %n: %v");
  auto database = std::make_shared<spillway::sinks::database_sink_mt>("sqlite:logs.db");
  const spillway::Logger log("shop", {spillway::spdlog_target({console, database})});

  // A child with fields of its own, encoded once.
  const spillway::Logger orders = log.named("orders").with({{"region", "eu"}});
  {
    // Fields of all that this thread logs in this scope, whoever logs it.
    const spillway::ScopedContext request({{"request", "r-17"}});
    shop::place_order(orders, {"blue lamp", 2});
  }
  log.debug("not logged");
  log.set_level(spillway::Level::kDebug);
  log.debug("logged from now on", {{"after", 1500ms}});
  return database->close(5s).is_complete ? 0 : 1;
}
