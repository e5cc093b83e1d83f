// SPDX-License-Identifier: MIT
#include <spillway/logger_spdlog.h>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sinks/spdlog_fixture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::SizeIs;

class LoggerSpdlog : public SpdlogFixture {
 protected:
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> text_sink(const std::string& pattern) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream);
    sink->set_pattern(pattern);
    return sink;
  }
  Logger logger(std::vector<spdlog::sink_ptr> sinks, SpdlogTargetOptions options = {}) {
    target = spdlog_target(std::move(sinks), options);
    return Logger("app", {target}, {.level = Level::kTrace, .level_variable = ""});
  }
  [[nodiscard]] std::string taken() {
    std::string text = stream.str();
    stream.str("");
    return text;
  }

  std::ostringstream stream;
  std::shared_ptr<SpdlogTarget> target;
};

class ThrowingSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& /*message*/) override {
    throw std::runtime_error("on purpose");
  }
  void flush_() override { throw 1; }
};

TEST_F(LoggerSpdlog, FieldsFollowTheMessageAsNameAndValue) {
  const Logger log = logger({text_sink("%l %n: %v")});
  log.info("order placed", {{"order", 42},
                            {"total", 9.0},
                            {"user", "Ann Lee"},
                            {"city", "Zürich"},
                            {"list", {1, "a"}},
                            {"none", nullptr},
                            {"text", "null"},
                            {"digits", "42"},
                            {"empty", ""},
                            {"a name", "x=\"y\""}});
  EXPECT_EQ(taken(),
            "info app: order placed order=42 total=9.0 user=\"Ann Lee\" city=Zürich list=[1,\"a\"] "
            "none=null text=\"null\" digits=\"42\" empty=\"\" \"a name\"=\"x=\\\"y\\\"\"\n");
  log.warn("bare");
  EXPECT_EQ(taken(), "warning app: bare\n");
}

TEST_F(LoggerSpdlog, ARecordIsOneLineForEveryTextAndWholeInTheTable) {
  const std::string evil = "a\r\nERROR forged\x1b[2J\x7f\u009b\u2028\u202e\xff\0z"s;
  const auto database = make_sink();
  for (const auto format : {SpdlogFormat::kText, SpdlogFormat::kJson}) {
    const Logger log = logger({text_sink("%v"), database}, {.format = format});
    log.info(evil, {{evil, evil}, {"plain", "x\x1b"}, {"inner", {{evil, {evil}}}}});
    const std::string line = taken();
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    for (const char* part : {"\r", "\x1b", "\x7f", "\u009b", "\u2028", "\u202e"}) {
      EXPECT_EQ(line.find(part), std::string::npos) << line;
    }
  }
  EXPECT_TRUE(database->close(30s).is_complete);
  ASSERT_THAT(rows(), SizeIs(2));
  EXPECT_EQ(rows()[0].message, "a\r\nERROR forged\x1b[2J\x7f\u009b\u2028\u202e\uFFFD␀z");
  EXPECT_EQ(nlohmann::json::parse(rows()[0].fields)["plain"], "x\x1b");
  EXPECT_EQ(rows()[0].fields, rows()[1].fields);
}

TEST_F(LoggerSpdlog, AJsonLineHasTheFieldsBesideItsOwn) {
  const Logger log = logger({text_sink("%v")}, {.format = SpdlogFormat::kJson});
  log.error("failed\n", {{"order", 42}, {"level", 3}, {"message", {{"level", 4}}}});
  nlohmann::json line = nlohmann::json::parse(taken());
  EXPECT_THAT(line["time"].get<std::string>(), SizeIs(24));
  line.erase("time");
  EXPECT_EQ(line, (nlohmann::json{{"level", "ERROR"},
                                  {"logger", "app"},
                                  {"message", "failed\n"},
                                  {"order", 42},
                                  {"level_", 3},
                                  {"message_", {{"level", 4}}}}));
}

TEST_F(LoggerSpdlog, ASinkThatThrowsIsCountedAndHurtsNobody) {
  const auto throwing = std::make_shared<ThrowingSink>();
  const Logger log = logger({throwing, text_sink("%v")});
  log.info("one");
  log.error("two");
  EXPECT_EQ(taken(), "one\ntwo\n");
  EXPECT_EQ(target->failures(), 2U);
  EXPECT_FALSE(log.flush(1s));
  EXPECT_EQ(target->failures(), 3U);
}

TEST_F(LoggerSpdlog, TheSinksLevelsHold) {
  const auto console = text_sink("%l %v");
  const auto database = make_sink();
  console->set_level(spdlog::level::warn);
  database->set_level(spdlog::level::debug);
  const Logger log = logger({console, database});
  for (const Level level : {Level::kTrace, Level::kDebug, Level::kInfo, Level::kWarn, Level::kError,
                            Level::kCritical}) {
    log.log(level, "m");
  }
  EXPECT_EQ(taken(), "warning m\nerror m\ncritical m\n");
  EXPECT_TRUE(log.flush(30s));
  EXPECT_EQ(database->close(30s).stored, 5U);
}

}  // namespace
}  // namespace spillway::testing
