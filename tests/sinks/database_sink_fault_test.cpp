// SPDX-License-Identifier: MIT
//
// Goal: whatever the Database does, the sinks beside ours get every line, and the table gets what
// the overload policy says. Method: a database that throws, hangs or refuses serves a sink beside a
// console; then the console's lines, the table and the attempts are compared with what was logged.
#include <spillway/database_sink.h>
#include <spillway/sqlite_database.h>
#include <spillway/testing/fake_clock.h>

#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/sinks/spdlog_fixture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

using DatabaseSinkFault = SpdlogFixture;
using Answer = Result<std::vector<StatementResult>>;

Status busy() { return Status(StatusCode::kOverload, "database is locked"); }

/// What a program has beside our sink.
class Console {
 public:
  [[nodiscard]] spdlog::sink_ptr sink() const { return sink_; }
  [[nodiscard]] std::int64_t lines() const {
    const std::string text = stream_.str();
    return std::count(text.begin(), text.end(), '\n');
  }

 private:
  std::ostringstream stream_;
  spdlog::sink_ptr sink_ = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_);
};

/// Does the same at each call.
class StubbornDatabase final : public Database {
 public:
  explicit StubbornDatabase(std::function<Answer()> call) : call_(std::move(call)) {}

  [[nodiscard]] Answer execute(std::span<const Statement>, const ExecuteOptions&) override {
    return call_();
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {.name = "Stubborn"}; }

 private:
  std::function<Answer()> call_;
};

DatabaseFactory stubborn(const std::function<Answer()>& call) {
  return [call]() -> Result<std::unique_ptr<Database>> {
    return std::unique_ptr<Database>(new StubbornDatabase(call));
  };
}

/// 100 lines through a dist_sink, in which a sink that throws starves those behind it.
void expect_no_line_missed_beside(const std::shared_ptr<sinks::database_sink_mt>& sink) {
  Console console;
  auto both = std::make_shared<spdlog::sinks::dist_sink_mt>();
  both->set_sinks({sink, console.sink()});
  spdlog::logger log("app", both);
  log.flush_on(spdlog::level::err);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NO_THROW(log.log(i % 10 == 0 ? spdlog::level::err : spdlog::level::info, "line"));
  }
  EXPECT_EQ(console.lines(), 100);
}

struct Misdeed {
  const char* name;
  std::function<Answer()> call;
};

std::vector<Misdeed> misdeeds() {
  return {{"throws", []() -> Answer { throw std::runtime_error("no"); }},
          {"throws an int", []() -> Answer { throw 42; }},
          {"has no memory", []() -> Answer { throw std::bad_alloc(); }},
          {"gives an error", []() -> Answer { return Status(StatusCode::kPermanent, "no"); }},
          {"gives too few results", []() -> Answer { return std::vector<StatementResult>(); }}};
}

TEST_F(DatabaseSinkFault, NeighboursGetEveryLineWhateverTheDatabaseDoes) {
  for (const Misdeed& misdeed : misdeeds()) {
    SCOPED_TRACE(misdeed.name);
    auto sink = std::make_shared<Sink>(stubborn(misdeed.call), heard());
    expect_no_line_missed_beside(sink);
    const Stats stats = sink->close(100ms);
    EXPECT_EQ(stats.issued, 100U);
    EXPECT_EQ(stats.stored, 0U);
    expect_account_adds_up(stats);
  }
}

TEST_F(DatabaseSinkFault, NeighboursGetEveryLineWhateverTheFactoryDoes) {
  for (const Misdeed& misdeed : misdeeds()) {
    SCOPED_TRACE(misdeed.name);
    const DatabaseFactory factory = [&]() -> Result<std::unique_ptr<Database>> {
      const Answer answer = misdeed.call();
      return answer ? Result<std::unique_ptr<Database>>(nullptr) : answer.error();
    };
    auto sink = std::make_shared<Sink>(factory, heard());
    expect_no_line_missed_beside(sink);
    const Stats stats = sink->close(100ms);
    EXPECT_EQ(stats.stored, 0U);
    EXPECT_EQ(stats.skipped(), 100U) << "no row was sent: none is in doubt";
  }
}

TEST_F(DatabaseSinkFault, NeighboursGetEveryLineWhileTheDatabaseHangs) {
  script->set_default(Outcome::block());
  auto sink = make_sink();
  expect_no_line_missed_beside(sink);
  script->set_default(Outcome::pass());
  script->release();
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_EQ(user_rows(), 100);
}

// The timeline of an overload.

constexpr std::array<const char*, 6> kWords = {"TRACE", "DEBUG", "INFO",
                                               "WARN",  "ERROR", "CRITICAL"};

class Overload : public SpdlogFixture {
 protected:
  explicit Overload(const Clock& clock) : script_clock_(clock) {
    script = std::make_shared<DatabaseScript>(clock);
  }

  void start(PipelineOptions options) {
    options.clock = &script_clock_;
    sink = std::make_shared<Sink>(timed_factory(), heard(std::move(options)));
    log = logger_of({console.sink(), sink});
  }

  /// One line of each level.
  void log_all_levels() {
    for (int level = spdlog::level::trace; level <= spdlog::level::critical; ++level) {
      log->log(static_cast<spdlog::level::level_enum>(level), "line");
    }
    ++rounds;
  }

  [[nodiscard]] std::uint64_t lines_logged() const { return rounds * kWords.size(); }

  /// Rows of the level and what gap rows count of it.
  [[nodiscard]] std::int64_t accounted_for(const std::string& word) const {
    return number("SELECT count(*) FROM logs WHERE context = 'app' AND level = '" + word + "'") +
           number("SELECT coalesce(sum(fields ->> '$.skipped." + word +
                  "'), 0) FROM logs WHERE context = 'spillway'");
  }

  void expect_every_line_accounted_for() const {
    const auto logged = static_cast<std::int64_t>(lines_logged());
    EXPECT_EQ(console.lines(), logged);
    EXPECT_EQ(user_rows() + total_in_gap_rows(), logged);
    for (const char* word : kWords) {
      EXPECT_EQ(accounted_for(word), static_cast<std::int64_t>(rounds)) << word;
    }
  }

  std::uint64_t rounds = 0;
  Console console;
  std::shared_ptr<Sink> sink;
  std::shared_ptr<spdlog::logger> log;

 private:
  [[nodiscard]] DatabaseFactory timed_factory() const {
    return [script = script, path = directory.path("logs.db"),
            clock = &script_clock_]() -> Result<std::unique_ptr<Database>> {
      auto file = SqliteDatabase::open(path, OpenMode::kCreate, {.clock = clock});
      if (!file) {
        return file.error();
      }
      return std::unique_ptr<Database>(new ScriptedDatabase(script, *std::move(file)));
    };
  }

  const Clock& script_clock_;
};

/// In real time, a few hundred times as fast as the reference.
class FastOverload : public Overload {
 protected:
  FastOverload() : Overload(Clock::system()) {
    start({.overload = {.write_pause = 100ms, .error_interval = 20ms}});
  }
};

TEST_F(FastOverload, TheConsoleHasEveryLineAndTheTableNamesTheRest) {
  constexpr std::size_t kRefused = 8;
  log_all_levels();
  ASSERT_TRUE(sink->flush(30s).is_complete);
  const std::size_t before = script->attempts();

  script->set_default(Outcome::refuse(busy()));
  do {
    log_all_levels();
  } while (!script->await_attempts(before + kRefused, 1ms));
  script->set_default(Outcome::pass());
  EXPECT_TRUE(lines->await("log writes resumed", 30s));
  log_all_levels();
  const Stats stats = sink->close(30s);

  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.attempts, script->attempts());
  EXPECT_GT(total_in_gap_rows(), 0);
  EXPECT_GE(number("SELECT count(*) FROM logs WHERE level = 'TRACE'"), 2) << "before and after";
  expect_every_line_accounted_for();
}

/// The reference policy by the second, in a time that moves only when told to.
class ReferenceOverload : public Overload {
 protected:
  ReferenceOverload() : Overload(time_) { start({}); }
  ~ReferenceOverload() override {  // The sink goes before its clock.
    log.reset();
    sink.reset();
  }

  /// Time passes, and then a line of each level is logged.
  void log_after(std::chrono::seconds by) {
    time_.advance(by);
    log_all_levels();
    settle();
  }
  void log_each_second_until(std::chrono::seconds end) {
    while (time_.steady_now() < SteadyTime(end)) {
      log_after(1s);
    }
  }

  /// Returns when all that was logged is decided on, and no attempt is under way.
  void settle() {
    sink->flush();
    const auto is_settled = [this] {
      const Stats stats = sink->stats();
      return stats.issued == lines_logged() && stats.in_flight == 0 &&
             stats.attempts == script->attempts();
    };
    while (!is_settled()) {
      std::this_thread::yield();
    }
  }

  /// The seconds at which the database was asked, from the first on.
  [[nodiscard]] std::vector<long> attempts_at() const {
    std::vector<long> seconds;
    for (const ScriptedCall& call : script->calls()) {
      seconds.push_back(
          std::chrono::duration_cast<std::chrono::seconds>(call.began.time_since_epoch()).count());
    }
    return seconds;
  }

 private:
  FakeClock time_;
};

TEST_F(ReferenceOverload, ForThirtySecondsOneErrorEveryFiveIsWritten) {
  script->set_default(Outcome::refuse(busy()));
  log_after(0s);  // Refused at 0: its ERROR is held, and tried again at 5, 10 and 15.
  log_each_second_until(19s);
  script->set_default(Outcome::pass());
  log_each_second_until(44s);  // The held ERROR at 20, then one of each fifth second.
  EXPECT_THAT(attempts_at(), ::testing::ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40));
  EXPECT_EQ(user_rows(), 5);
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE level <> 'ERROR'"), 0);
  for (std::size_t i = 1; i < script->attempts(); ++i) {
    EXPECT_EQ(script->calls().at(i).rows, 1U) << "an ERROR goes alone";
    EXPECT_EQ(script->calls().at(i).lock_wait, 0ms) << "and waits for no lock";
  }

  log_after(1s);  // At 45, 30 s after the last refusal, the pause is over.
  const Stats stats = sink->close(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.pauses, 1U) << "each refusal began the same pause anew";
  EXPECT_EQ(user_rows(), 5 + 6);
  expect_every_line_accounted_for();
}

TEST_F(ReferenceOverload, TheGapRowSaysWhatWasSkippedAndStandsBeforeWhatFollows) {
  script->add({Outcome::refuse(busy())});
  log_after(0s);
  log_after(1s);
  log_after(1s);
  EXPECT_TRUE(gap_rows().empty());
  log_after(28s);
  EXPECT_TRUE(sink->close(30s).is_complete);

  const std::vector<LogRow> gaps = gap_rows();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].level, "WARN");
  EXPECT_EQ(gaps[0].message, "Log persistence paused while SQLite was busy, 17 skipped");
  EXPECT_THAT(gaps[0].fields, ::testing::HasSubstr(R"("reason":"overload")"));
  EXPECT_THAT(gaps[0].fields,
              ::testing::HasSubstr(R"("total":17,"skipped":{"TRACE":3,"DEBUG":3,"INFO":3,)"
                                   R"("WARN":3,"ERROR":2,"CRITICAL":3})"));
  EXPECT_EQ(number("SELECT created_at = fields ->> 'to' FROM logs WHERE context = 'spillway'"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM logs AS gap JOIN logs AS row ON row.seq > gap.seq AND "
                   "row.created_at >= gap.created_at WHERE gap.context = 'spillway'"),
            6)
      << "the lines of the last round";
}

TEST_F(ReferenceOverload, TheFirstErrorOfAPauseThatHoldsNoneIsWrittenAtOnce) {
  script->add({Outcome::refuse(busy())});
  log->info("refused");
  sink->flush();
  EXPECT_TRUE(lines->await("log writes paused for 30 s", 30s));
  log->warn("skipped");
  log->error("written in the pause");
  EXPECT_TRUE(script->await_attempts(2, 30s));
  EXPECT_TRUE(sink->close(30s).is_complete);
  EXPECT_THAT(messages(), ::testing::ElementsAre("written in the pause"));
  EXPECT_EQ(total_in_gap_rows(), 2);
  EXPECT_EQ(console.lines(), 3);
}

}  // namespace
}  // namespace spillway::testing
