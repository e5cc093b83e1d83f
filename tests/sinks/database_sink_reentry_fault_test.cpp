// SPDX-License-Identifier: MIT
//
// Goal: whatever logs from within logging (an error handler, a formatter, a diagnostic callback, a
// Database) neither deadlocks nor feeds on itself, and may even let go of the sink. Method: each of
// them logs through the logger that it serves; then the table and the account are compared.
#include <spillway/database_sink.h>

#include <spdlog/async.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/sinks/spdlog_fixture.h"

namespace spillway::testing {
namespace {

/// A value that logs while it is formatted, `depth` times within one another.
struct Talkative {
  spdlog::logger* log;
  int depth;
};

}  // namespace
}  // namespace spillway::testing

template <>
struct fmt::formatter<spillway::testing::Talkative> {
  static constexpr auto parse(format_parse_context& context) { return context.begin(); }
  static auto format(const spillway::testing::Talkative& value, format_context& context) {
    if (value.depth > 0) {
      value.log->error("within {}", spillway::testing::Talkative{value.log, value.depth - 1});
    }
    return fmt::format_to(context.out(), "depth {}", value.depth);
  }
};

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

using DatabaseSinkReentry = SpdlogFixture;

Status busy() { return Status(StatusCode::kOverload, "database is locked"); }

/// Throws once.
class FaultySink final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg&) override {
    if (!std::exchange(has_thrown_, true)) {
      throw std::runtime_error("the disk is full");
    }
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  bool has_thrown_ = false;
};

TEST_F(DatabaseSinkReentry, AnErrorHandlerMayLogThroughItsLogger) {
  auto sink = make_sink();
  auto log = logger_of({sink, std::make_shared<FaultySink>()});
  log->set_error_handler([&log](const std::string& what) { log->error("handler: {}", what); });
  log->info("one");
  log->info(spdlog::fmt_lib::runtime("{} {}"), 1);
  log->info("two");
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_THAT(messages(), ElementsAre("one", "handler: the disk is full",
                                      "handler: argument not found", "two"));
}

TEST_F(DatabaseSinkReentry, AFormatterMayLogThroughItsLogger) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  log->flush_on(spdlog::level::err);
  log->info("outside {}", Talkative{log.get(), 3});
  const Stats stats = sink->close(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.reentrant, 0U) << "it runs before the sink is called";
  EXPECT_THAT(messages(),
              ElementsAre("within depth 0", "within depth 1", "within depth 2", "outside depth 3"));
}

/// Diagnostics go through the logger that `log` points at.
PipelineOptions logged_diagnostics(const std::shared_ptr<std::atomic<spdlog::logger*>>& log,
                                   const std::shared_ptr<Lines>& lines) {
  return {.overload = {.write_pause = 30ms, .error_interval = 5ms},
          .on_diagnostic = [log, lines](std::string_view line) {
            if (spdlog::logger* const logger = *log) {
              logger->error("diagnostic: {}", line);
              logger->flush();
            }
            lines->add(line);
          }};
}

TEST_F(DatabaseSinkReentry, ADiagnosticCallbackThatLogsIsCountedAndNotStored) {
  script->add({Outcome::refuse(busy()), Outcome::refuse(busy()), Outcome::refuse(busy())});
  auto target = std::make_shared<std::atomic<spdlog::logger*>>(nullptr);
  auto sink = std::make_shared<Sink>(factory(), logged_diagnostics(target, lines));
  auto log = logger_of({sink});
  log->flush_on(spdlog::level::err);
  *target = log.get();
  for (int i = 0; i < 100; ++i) {
    log->log(i % 10 == 0 ? spdlog::level::err : spdlog::level::info, "record");
  }
  EXPECT_TRUE(sink->flush(30s).is_complete);
  const Stats stats = sink->close(30s);
  *target = nullptr;
  EXPECT_EQ(stats.issued, 100U);
  EXPECT_GE(stats.reentrant, 1U);
  EXPECT_EQ(stats.reentrant, lines->all().size());
  EXPECT_EQ(user_rows() + total_in_gap_rows(), 100);
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE message LIKE 'diagnostic%'"), 0);
}

TEST_F(DatabaseSinkReentry, BehindAnAsynchronousLoggerADiagnosticIsARecordLikeAny) {
  script->add({Outcome::refuse(busy())});
  auto target = std::make_shared<std::atomic<spdlog::logger*>>(nullptr);
  auto sink = std::make_shared<Sink>(factory(), logged_diagnostics(target, lines));
  auto pool = std::make_shared<spdlog::details::thread_pool>(16, 1);
  auto log = std::make_shared<spdlog::async_logger>("app", sink, pool);
  *target = log.get();
  log->error("record");
  EXPECT_TRUE(lines->await("log writes paused", 30s));
  *target = nullptr;
  pool.reset();
  const Stats stats = sink->close(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.reentrant, 0U);
  EXPECT_GE(stats.issued, 2U);
  EXPECT_EQ(user_rows() + total_in_gap_rows(), static_cast<std::int64_t>(stats.issued));
}

/// Says something at each call before it is carried out.
class TalkativeDatabase final : public Database {
 public:
  TalkativeDatabase(std::unique_ptr<Database> inner, std::function<void()> talk)
      : inner_(std::move(inner)), talk_(std::move(talk)) {}

  [[nodiscard]] Result<std::vector<StatementResult>> execute(
      std::span<const Statement> statements, const ExecuteOptions& options) override {
    talk_();
    return inner_->execute(statements, options);
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_->traits(); }

 private:
  std::unique_ptr<Database> inner_;
  std::function<void()> talk_;
};

DatabaseFactory talkative(DatabaseFactory inner, std::function<void()> talk) {
  return [inner = std::move(inner), talk = std::move(talk)]() -> Result<std::unique_ptr<Database>> {
    talk();
    auto opened = inner();
    if (!opened) {
      return opened.error();
    }
    return std::unique_ptr<Database>(new TalkativeDatabase(*std::move(opened), talk));
  };
}

TEST_F(DatabaseSinkReentry, ADatabaseThatLogsFromItsFactoryAndItsCallsDoesNotFeedOnItself) {
  std::atomic<spdlog::logger*> target = nullptr;
  std::atomic<std::uint64_t> talks = 0;
  const auto talk = [&target, &talks] {
    (*target.load()).error("the driver speaks");
    ++talks;
  };
  auto sink = std::make_shared<Sink>(talkative(factory(), talk), heard());
  auto log = logger_of({sink});
  log->flush_on(spdlog::level::err);
  target = log.get();
  for (int i = 0; i < 100; ++i) {
    log->info("record");
  }
  EXPECT_TRUE(sink->flush(30s).is_complete);
  const Stats stats = sink->close(30s);
  EXPECT_EQ(stats.stored, 100U);
  EXPECT_EQ(user_rows(), 100);
  EXPECT_GE(stats.reentrant, 2U);
  EXPECT_EQ(stats.reentrant, talks);
}

/// Tells when the sink that holds it in its factory is gone, threads included.
class Farewell {
 public:
  explicit Farewell(std::shared_ptr<std::promise<void>> gone) : gone_(std::move(gone)) {}
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() { gone_->set_value(); }

 private:
  std::shared_ptr<std::promise<void>> gone_;
};

/// Hands the last reference to the sink over to the sink's own work.
struct LastReference {
  std::promise<void> handed_over;
  std::shared_ptr<spdlog::logger> log;

  void let_go() {
    if (!std::exchange(has_let_go_, true)) {
      handed_over.get_future().wait();
      log.reset();
    }
  }

 private:
  bool has_let_go_ = false;
};

TEST_F(DatabaseSinkReentry, TheLastReferenceMayGoInTheDiagnosticCallback) {
  script->set_default(Outcome::refuse(busy()));
  auto gone = std::make_shared<std::promise<void>>();
  auto last = std::make_shared<LastReference>();
  auto sink = std::make_shared<Sink>(
      [open = factory(), farewell = std::make_shared<Farewell>(gone)] { return open(); },
      PipelineOptions{.close_timeout = 100ms,
                      .on_diagnostic = [last](std::string_view) { last->let_go(); }});
  last->log = logger_of({std::move(sink)});
  last->log->error("record");
  last->handed_over.set_value();
  EXPECT_EQ(gone->get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(last->log, nullptr);
}

TEST_F(DatabaseSinkReentry, WhatIsLeftIsSentWhenTheLastReferenceGoesInTheDatabase) {
  auto gone = std::make_shared<std::promise<void>>();
  auto last = std::make_shared<LastReference>();
  DatabaseFactory tied = [open = factory(), farewell = std::make_shared<Farewell>(gone)] {
    return open();
  };
  auto sink = std::make_shared<Sink>(talkative(std::move(tied), [last] { last->let_go(); }),
                                     heard({.close_timeout = 5s, .batch_rows_max = 1}));
  last->log = logger_of({std::move(sink)});
  for (int i = 0; i < 100; ++i) {
    last->log->error("record");
  }
  last->handed_over.set_value();
  EXPECT_EQ(gone->get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(user_rows(), 100);
  EXPECT_EQ(lines->count("closed before"), 0);
}

TEST_F(DatabaseSinkReentry, TheLastReferenceMayGoInTheDatabase) {
  auto gone = std::make_shared<std::promise<void>>();
  auto last = std::make_shared<LastReference>();
  DatabaseFactory tied = [open = factory(), farewell = std::make_shared<Farewell>(gone)] {
    return open();
  };
  auto sink = std::make_shared<Sink>(talkative(std::move(tied), [last] { last->let_go(); }),
                                     heard({.close_timeout = 5s}));
  last->log = logger_of({std::move(sink)});
  last->log->error("record");
  last->handed_over.set_value();
  EXPECT_EQ(gone->get_future().wait_for(30s), std::future_status::ready);
  EXPECT_THAT(messages(), ElementsAre("record")) << "what was left was sent all the same";
}

}  // namespace
}  // namespace spillway::testing
