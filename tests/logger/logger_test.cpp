// SPDX-License-Identifier: MIT
#include <spillway/logger.h>

#include <spillway/testing/fake_clock.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/replaced_new.h"
#include "tests/support/sanitizers.h"
#include "tests/support/scoped_environment.h"

namespace spillway::testing {
namespace {

thread_local std::size_t allocations = 0;

}  // namespace

bool on_allocation(std::size_t /*bytes*/) {
  ++allocations;
  return true;
}

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Keeps each record as `LEVEL name|message|fields`.
class LinesTarget final : public LogTarget {
 public:
  void accept(const RecordView& record) noexcept override {
    time = record.time;
    code += record.encoded_fields;
    std::string line(to_string(record.level));
    line.append(" ").append(record.context).append("|").append(record.message).append("|");
    append_fields_json(record.encoded_fields, line);
    lines.push_back(std::move(line));
  }
  bool flush(std::chrono::milliseconds timeout) noexcept override {
    clock.advance(1s);
    flush_timeouts.push_back(timeout);
    return is_flushed;
  }

  [[nodiscard]] std::vector<std::string> taken() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  std::string code;
  WallTime time;
  FakeClock clock;
  std::vector<std::chrono::milliseconds> flush_timeouts;
  bool is_flushed = true;
};

class LoggerTest : public ::testing::Test {
 protected:
  [[nodiscard]] Logger make(LoggerOptions options = {}, const std::string& name = "app") const {
    options.clock = &target->clock;
    return Logger(name, {target}, options);
  }

  std::shared_ptr<LinesTarget> target = std::make_shared<LinesTarget>();
  const ScopedEnvironment no_levels{{{"SPILLWAY_LEVEL", ""}}};
};

TEST_F(LoggerTest, EachCallIsARecordOfItsLevelWithItsFields) {
  const Logger log = make({.level = Level::kTrace});
  const std::string name = "Ann";
  target->clock.advance(5s);
  log.trace("t");
  log.debug("d", {{"order", 42}, {"total", 9.99}, {"user", name}});
  log.info(name, {{"list", {1, 2}}, {"object", {{"a", nullptr}}}});
  log.warn(nullptr, {{nullptr, nullptr}});
  log.error(std::string_view("e"));
  log.critical("c");
  log.log(Level::kError, "as many as there are", std::vector<Field>{{"a", 1}, {"b", 2}});
  log.log(Level::kInfo, "l", {{"a", 1}});
  EXPECT_THAT(
      target->taken(),
      ElementsAre("TRACE app|t|", R"(DEBUG app|d|{"order":42,"total":9.99,"user":"Ann"})",
                  R"(INFO app|Ann|{"list":[1,2],"object":{"a":null}})", R"(WARN app||{"":null})",
                  "ERROR app|e|", "CRITICAL app|c|",
                  R"(ERROR app|as many as there are|{"a":1,"b":2})", R"(INFO app|l|{"a":1})"));
  EXPECT_EQ(target->time, target->clock.wall_now());
}

TEST_F(LoggerTest, AMessageIsTextAndNoFormat) {
  const Logger log = make();
  for (const char* message : {"{}{0}{:d}%s%n{{}}", "{", "%", "\x1b[2J\r\n"}) {
    log.info(message);
    EXPECT_THAT(target->taken(), ElementsAre("INFO app|"s + message + "|"));
  }
}

TEST_F(LoggerTest, ALevelMayChangeAtAnyTimeForALoggerAndItsCopies) {
  const Logger log = make();
  const Logger child = log.with({{"a", 1}});
  const Logger other = log.named("other");
  EXPECT_EQ(log.level(), Level::kInfo);
  log.debug("not");
  log.set_level(Level::kDebug);
  log.debug("d");
  child.debug("d");
  other.debug("not");
  EXPECT_TRUE(log.enabled(Level::kDebug));
  EXPECT_FALSE(log.enabled(Level::kTrace));
  EXPECT_THAT(target->taken(), ElementsAre("DEBUG app|d|", R"(DEBUG app|d|{"a":1})"));
  child.set_level(std::nullopt);
  EXPECT_EQ(log.level(), std::nullopt);
  log.critical("not");
  other.critical("c");
  EXPECT_THAT(target->taken(), ElementsAre("CRITICAL app.other|c|"));
}

TEST_F(LoggerTest, TheEnvironmentSetsLevelsByNameAndAGuessedOneIsTold) {
  const ScopedEnvironment levels({{"SPILLWAY_LEVEL", "error,shop.payments=trace,loud"}});
  const Logger shop = make({}, "shop");
  EXPECT_THAT(target->taken(),
              ElementsAre(HasSubstr(R"({"variable":"SPILLWAY_LEVEL","ignored":"loud"})")));
  EXPECT_EQ(shop.level(), Level::kError);
  shop.set_level(Level::kWarn);
  EXPECT_EQ(shop.named("orders").level(), Level::kWarn) << "no rule of its own: as its parent is";
  EXPECT_EQ(shop.named("payments").level(), Level::kTrace);
  EXPECT_EQ(shop.named("payments").named("refunds").level(), Level::kTrace);
  EXPECT_EQ(make({.level_variable = ""}).level(), Level::kInfo);
  EXPECT_EQ(make({.level_variable = "SPILLWAY_UNHEARD_OF"}).level(), Level::kInfo);
}

TEST_F(LoggerTest, ChildrenHaveTheirParentsFieldsAndNameInFrontOfTheirOwn) {
  const Logger log = make();
  Logger request = log.with({{"request", 7}, {"user", "a"}}).named("http").with({{"user", "b"}});
  log.info("parent");
  request.info("child", {{"status", 200}});
  request = request.with({});
  request.info("child", {{"request", 8}});
  make({}, "").named("x").info("named");
  EXPECT_EQ(request.name(), "app.http");
  EXPECT_THAT(target->taken(),
              ElementsAre("INFO app|parent|",
                          R"(INFO app.http|child|{"request":7,"user":"b","status":200})",
                          R"(INFO app.http|child|{"user":"b","request":8})", "INFO x|named|"));
}

TEST_F(LoggerTest, AContextIsOfItsThreadAndItsScope) {
  const Logger log = make();
  const ScopedContext request({{"request", 1}, {"user", "context"}});
  {
    const ScopedContext step({{"step", "inner"}, {"request", 2}});
    log.with({{"user", "bound"}}).info("both", {{"x", 1}});
  }
  log.info("outer");
  std::thread([&log] { log.info("elsewhere"); }).join();
  std::thread([&log, context = ScopedContext::current()] {
    const ScopedContext handed_over(context);
    const ScopedContext more({{"more", true}});
    log.info("handed over");
  }).join();
  EXPECT_THAT(target->taken(),
              ElementsAre(R"(INFO app|both|{"step":"inner","request":2,"user":"bound","x":1})",
                          R"(INFO app|outer|{"request":1,"user":"context"})", "INFO app|elsewhere|",
                          R"(INFO app|handed over|{"request":1,"user":"context","more":true})"));
}

TEST_F(LoggerTest, SecretsOfItsOwnOptionsAreRedactedWhereverTheyAre) {
  const Logger log = make({.redact = {"SSN"}});
  const ScopedContext context(log, {{"ssn", "hunter2"}});
  const Logger bound = log.with({{"a", {{"Ssn", "hunter2"}}}});
  bound.info("call", {{"ssn.", 1}, {"PASSWORD", "hunter2"}});
  EXPECT_THAT(target->taken(),
              ElementsAre(R"(INFO app|call|{"ssn":"[redacted]","a":{"Ssn":"[redacted]"},)"
                          R"("ssn.":1,"PASSWORD":"[redacted]"})"));
  EXPECT_THAT(target->code, Not(HasSubstr("hunter2")));
}

TEST_F(LoggerTest, TellsTheSourceOfACallIfAsked) {
  const Logger log = make({.has_source = true});
  const std::string here = __FILE__ ":" + std::to_string(__LINE__ + 1);
  log.info("m", {{"a", 1}});
  log.log(Level::kInfo, "m", {{"source", "mine"}});
  const std::string long_file(1'000, 'x');
  log.info("m", {}, {.file = long_file.c_str(), .line = 2'147'483'647});
  EXPECT_THAT(target->taken(), ElementsAre(R"(INFO app|m|{"source":")" + here + R"(","a":1})",
                                           R"(INFO app|m|{"source":"mine"})",
                                           R"(INFO app|m|{"source":")" + std::string(480, 'x') +
                                               R"(:2147483647"})"));
}

TEST_F(LoggerTest, FlushDividesItsTimeAmongTheTargets) {
  const Logger log("app", {target, target}, {.clock = &target->clock});
  EXPECT_TRUE(log.flush(1500ms));
  EXPECT_THAT(target->flush_timeouts, ElementsAre(1500ms, 500ms));
  EXPECT_TRUE(log.flush(std::chrono::milliseconds::max()));
  target->flush_timeouts.clear();
  target->is_flushed = false;
  EXPECT_FALSE(log.flush(-1ms));
  EXPECT_THAT(target->flush_timeouts, ElementsAre(0ms, 0ms));
}

/// Copies what a queue would.
class NullTarget final : public LogTarget {
 public:
  void accept(const RecordView& record) noexcept override { bytes += record.encoded_fields.size(); }
  bool flush(std::chrono::milliseconds /*timeout*/) noexcept override { return true; }

  std::size_t bytes = 0;
};

TEST_F(LoggerTest, ACallTakesNoMemory) {
  const auto null = std::make_shared<NullTarget>();
  const Logger log("app", {null}, {.has_source = true});
  const Logger bound = log.with({{"service", "shop"}, {"version", 3}});
  const ScopedContext context({{"request", 1}});
  const std::string text(256, 'x');
  const std::size_t before = allocations;
  log.info("none");
  log.debug("below the level", {{"a", text}});
  bound.info("eight texts", {{"field_a", text},
                             {"field_b", text},
                             {"field_c", text},
                             {"field_d", text},
                             {"field_e", text},
                             {"field_f", text},
                             {"field_g", text},
                             {"field_h", text}});
  bound.info("eight others", {{"a", 1},
                              {"b", 2.0},
                              {"c", nullptr},
                              {"d", true},
                              {"e", 3ms},
                              {"f", WallTime{}},
                              {"g", {1, 2}},
                              {"h", 'x'}});
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_GT(null->bytes, 8U * 256U);
}

}  // namespace
}  // namespace spillway::testing
