// SPDX-License-Identifier: MIT
//
// Goal: a program that forks loses no record and no database, on either side. Method: real forks of
// this process while pipelines run, children that end with _exit, and the table read by another
// connection once all of them have ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/sinks/pipeline_fixture.h"
#include "tests/support/sanitizers.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

// A child that hangs is ended by this alarm, and its exit code then says so.
constexpr unsigned kChildSeconds = 60;

/// Forks; the child runs `body` and exits with what it gives.
pid_t fork_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kChildSeconds);
    _exit(body());
  }
  return pid;
}

/// Waits for the child. Its exit code, or minus the signal that ended it.
int outcome_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Fork : public PipelineFixture {
 protected:
  void SetUp() override {
    if (kHasSanitizer) {
      GTEST_SKIP()
          << "the sanitizers' allocators, unlike malloc, stay locked over a fork (clang 14)";
    }
  }

  int log_and_close(Pipeline& pipeline, int records, std::string_view message) {
    for (int i = 0; i < records; ++i) {
      log(pipeline, Level::kInfo, message);
    }
    return pipeline.close(30s).is_complete ? 0 : 1;
  }

  [[nodiscard]] std::int64_t rows_saying(const std::string& message) const {
    return number("SELECT count(*) FROM logs WHERE message = '" + message + "'");
  }

  /// The file holds what it should, as a stranger's connection sees it.
  void expect_sound_file() const {
    EXPECT_EQ(number("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
  }
};

TEST_F(Fork, EveryRecordBeforeAndAfterIsThereOnceWhenTheParentClosesFirst) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo, "before, flushed");
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  log(*pipeline, Level::kInfo, "before, queued");
  int parent_has_closed[2];
  ASSERT_EQ(pipe(parent_has_closed), 0);
  const pid_t child = fork_child([&] {
    for (int i = 0; i < 50; ++i) {
      log(*pipeline, Level::kInfo, "child early");
    }
    const bool is_stored = pipeline->flush(30s).is_complete;
    close(parent_has_closed[1]);
    char byte = 0;
    read(parent_has_closed[0], &byte, 1);  // The end of file.
    return is_stored ? log_and_close(*pipeline, 50, "child late") : 2;
  });
  EXPECT_EQ(log_and_close(*pipeline, 100, "parent"), 0);
  pipeline.reset();
  close(parent_has_closed[1]);
  EXPECT_EQ(outcome_of(child), 0);
  close(parent_has_closed[0]);
  EXPECT_EQ(rows_saying("before, flushed"), 1);
  EXPECT_EQ(rows_saying("before, queued"), 1);
  EXPECT_EQ(rows_saying("child early"), 50);
  EXPECT_EQ(rows_saying("child late"), 50);
  EXPECT_EQ(rows_saying("parent"), 100);
  EXPECT_EQ(number("SELECT count(DISTINCT writer) FROM logs"), 2);
  expect_sound_file();
}

TEST_F(Fork, TwoHundredForksWhileTheShipperWritesLoseNothing) {
  constexpr int kForks = 200;
  auto pipeline = start({.batch_rows_max = 50, .batch_age_max = 1ms});
  std::atomic<bool> is_over = false;
  std::atomic<int> logged = 0;
  std::thread writer([&] {
    while (!is_over) {
      const RecordView record = user_record(Level::kInfo, "parent");
      pipeline->wait_for_room(record);
      logged += pipeline->accept(record) ? 1 : 0;
    }
  });
  std::vector<pid_t> children;
  for (int i = 0; i < kForks; ++i) {
    children.push_back(fork_child([&] { return log_and_close(*pipeline, 5, "child"); }));
    if (children.size() == 4) {
      EXPECT_EQ(outcome_of(children.front()), 0);
      children.erase(children.begin());
    }
  }
  is_over = true;
  writer.join();
  const Stats stats = pipeline->close(30s);
  EXPECT_TRUE(stats.is_complete);
  for (const pid_t child : children) {
    EXPECT_EQ(outcome_of(child), 0);
  }
  EXPECT_EQ(rows_saying("child"), 5 * kForks);
  EXPECT_EQ(rows_saying("parent"), logged);
  EXPECT_EQ(number("SELECT count(DISTINCT writer) FROM logs"), kForks + 1);
  expect_sound_file();
}

TEST_F(Fork, AnAttemptThatWaitsForALockIsCutShortAndMadeAgainWithoutAPause) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo, "first");
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  script->add({Outcome::block(), Outcome::pass()});
  log(*pipeline, Level::kError, "blocked");
  ASSERT_TRUE(script->await_attempts(2, 30s));
  const SteadyTime before = Clock::system().steady_now();
  const pid_t child = fork_child([] { return 0; });
  EXPECT_LT(Clock::system().steady_now() - before, 8s) << "an attempt may take 10 s";
  EXPECT_EQ(outcome_of(child), 0);
  const Stats stats = pipeline->close(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_EQ(stats.pauses, 0U);
  EXPECT_EQ(stats.attempts, 3U);
  EXPECT_EQ(script->attempts(), 3U);
  EXPECT_EQ(user_rows(), 2);
}

TEST_F(Fork, AWaitForSqlitesLockEndsAtOnce) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo);
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  auto holder = open(url(), OpenMode::kExisting);
  std::thread lock_for_a_while([&] {  // The statement itself takes some tenths of a second.
    const std::vector<Statement> statements{
        {.sql = "CREATE TABLE long AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                "FROM n WHERE i < 1000000) SELECT count(*) AS c FROM n"}};
    EXPECT_TRUE(holder.value()->execute(statements, {}));
  });
  log(*pipeline, Level::kError);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork_child([] { return 0; });
    EXPECT_EQ(outcome_of(child), 0);
  }
  lock_for_a_while.join();
  EXPECT_TRUE(pipeline->close(30s).is_complete);
  EXPECT_EQ(user_rows(), 2);
}

TEST_F(Fork, GrandchildrenLogToo) {
  auto pipeline = start();
  log(*pipeline, Level::kInfo, "parent");
  const pid_t child = fork_child([&] {
    log(*pipeline, Level::kInfo, "child");
    const int inner =
        outcome_of(fork_child([&] { return log_and_close(*pipeline, 1, "grandchild"); }));
    return inner + log_and_close(*pipeline, 1, "child");
  });
  EXPECT_EQ(outcome_of(child), 0);
  EXPECT_EQ(log_and_close(*pipeline, 1, "parent"), 0);
  EXPECT_EQ(rows_saying("parent"), 2);
  EXPECT_EQ(rows_saying("child"), 2);
  EXPECT_EQ(rows_saying("grandchild"), 1);
}

TEST_F(Fork, ManyThreadsOfAChildMakeItsFirstCallsTogether) {
  auto pipeline = start();
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork_child([&] {
      std::vector<std::thread> threads;
      threads.reserve(4);
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { log(*pipeline, Level::kInfo, "child"); });
      }
      for (std::thread& thread : threads) {
        thread.join();
      }
      return log_and_close(*pipeline, 1, "child");
    });
    EXPECT_EQ(outcome_of(child), 0);
  }
  EXPECT_EQ(rows_saying("child"), 100);
  EXPECT_EQ(number("SELECT count(DISTINCT writer) FROM logs"), 20);
}

TEST_F(Fork, ThreadsThatForkAtTheSameTimeDoNotHinderEachOther) {
  auto pipeline = start();
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        log(*pipeline, Level::kInfo, "parent");
        failures +=
            outcome_of(fork_child([&] { return log_and_close(*pipeline, 1, "child"); })) == 0 ? 0
                                                                                              : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(pipeline->close(30s).is_complete);
  EXPECT_EQ(rows_saying("parent"), 40);
  EXPECT_EQ(rows_saying("child"), 40);
  expect_sound_file();
}

TEST_F(Fork, AChildThatDoesNotLogHasNothingToDoAtItsEnd) {
  auto pipeline = start();
  script->set_default(Outcome::block());
  log(*pipeline, Level::kInfo, "of the parent");
  const pid_t child = fork_child([&] {
    const bool is_empty = pipeline->stats().issued == 0 && pipeline->stats().is_complete;
    pipeline.reset();  // Neither waits for threads that are not there nor writes.
    return is_empty ? 0 : 1;
  });
  EXPECT_EQ(outcome_of(child), 0);
  script->release();
  script->set_default(Outcome::pass());
  EXPECT_TRUE(pipeline->close(30s).is_complete);
  EXPECT_EQ(user_rows(), 1);
}

TEST_F(Fork, AChildInAnotherDirectoryKeepsToTheFile) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  auto pipeline = *Pipeline::start(*database_factory("sqlite:logs.db", OpenMode::kCreate));
  log(*pipeline, Level::kInfo, "parent");
  EXPECT_TRUE(pipeline->flush(30s).is_complete);
  std::filesystem::current_path("/");  // As daemon(3) does.
  const pid_t child = fork_child([&] { return log_and_close(*pipeline, 1, "child"); });
  EXPECT_EQ(outcome_of(child), 0);
  std::filesystem::current_path(before);
  EXPECT_EQ(rows_saying("child"), 1);
}

TEST_F(Fork, APipelineThatWasClosedStaysClosedInTheChild) {
  auto pipeline = start();
  EXPECT_EQ(log_and_close(*pipeline, 1, "parent"), 0);
  const pid_t child = fork_child([&] {
    const bool is_accepted = log(*pipeline, Level::kInfo, "child");
    const Stats stats = pipeline->close(30s);
    return !is_accepted && stats.after_close == 1 && stats.is_complete ? 0 : 1;
  });
  EXPECT_EQ(outcome_of(child), 0);
  EXPECT_EQ(user_rows(), 1);
}

/// Returns only when it is told to, whatever its deadline says.
class DeafDatabase final : public Database {
 public:
  DeafDatabase(std::atomic<int>& called, const std::atomic<bool>& is_released)
      : called_(called), is_released_(is_released) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement>,
                                               const ExecuteOptions&) override {
    ++called_;
    is_released_.wait(false);
    return Status(StatusCode::kLost, "late");
  }
  [[nodiscard]] DatabaseTraits traits() const override { return {.name = "Deaf"}; }

 private:
  std::atomic<int>& called_;
  const std::atomic<bool>& is_released_;
};

/// Pipelines whose databases are deaf, and all in the middle of an attempt. So many that waiting
/// for one after the other takes far longer, on a slow machine too.
constexpr int kDeaf = 6;
class DeafFork : public Fork {
 protected:
  void SetUp() override {
    Fork::SetUp();
    if (IsSkipped()) {
      return;
    }
    for (std::unique_ptr<Pipeline>& each : pipelines) {
      each = *Pipeline::start(
          [this]() -> Result<std::unique_ptr<Database>> {
            return std::unique_ptr<Database>(new DeafDatabase(called, is_released));
          },
          {.on_diagnostic = [this](std::string_view line) {
            const std::lock_guard lock(said_mutex);
            said += line;
          }});
      log(*each, Level::kError);
    }
    while (called < kDeaf) {
      std::this_thread::yield();
    }
  }
  void TearDown() override {
    is_released = true;
    is_released.notify_all();
  }

  /// 0 if a call in this process is counted and told, and nothing else.
  int outcome_of_a_call() {
    const bool is_accepted = log(*pipelines[0], Level::kError);
    const Stats stats = pipelines[0]->close(30s);
    const bool is_told = said.find("a database was in use") != std::string::npos;
    return !is_accepted && !stats.is_complete && stats.after_close == 1 && is_told ? 0 : 1;
  }

  std::atomic<int> called = 0;
  std::atomic<bool> is_released = false;
  std::mutex said_mutex;  // Of the parent's pipelines nobody speaks before TearDown.
  std::string said;
  std::unique_ptr<Pipeline> pipelines[kDeaf];
};

TEST_F(DeafFork, WaitsTwoSecondsForAllTogetherAndTheChildThenDoesNotLog) {
  const SteadyTime before = Clock::system().steady_now();
  const pid_t child = fork_child([this] { return outcome_of_a_call(); });
  EXPECT_LT(Clock::system().steady_now() - before, 2s * kDeaf - 2s);
  EXPECT_EQ(outcome_of(child), 0);
}

TEST_F(DeafFork, TheChildrenOfSuchAChildDoNotLogEither) {
  const pid_t child =
      fork_child([this] { return outcome_of(fork_child([this] { return outcome_of_a_call(); })); });
  EXPECT_EQ(outcome_of(child), 0);
}

/// Forks in the middle of an attempt.
class ForkingDatabase final : public Database {
 public:
  explicit ForkingDatabase(std::unique_ptr<Database> inner) : inner_(std::move(inner)) {}

  Result<std::vector<StatementResult>> execute(std::span<const Statement> statements,
                                               const ExecuteOptions& options) override {
    return outcome_of(fork_child([] { return 0; })) == 0
               ? inner_->execute(statements, options)
               : Status(StatusCode::kInternal, "the fork failed");
  }
  [[nodiscard]] DatabaseTraits traits() const override { return inner_->traits(); }

 private:
  std::unique_ptr<Database> inner_;
};

TEST_F(Fork, ADatabaseMayForkItself) {
  auto pipeline = *Pipeline::start([url = url()]() -> Result<std::unique_ptr<Database>> {
    auto file = open(url, OpenMode::kCreate);
    return std::unique_ptr<Database>(new ForkingDatabase(*std::move(file)));
  });
  EXPECT_EQ(log_and_close(*pipeline, 1, "parent"), 0);
  EXPECT_EQ(rows_saying("parent"), 1);
}

TEST_F(Fork, ADiagnosticCallbackMayFork) {
  std::atomic<int> forks = 0;
  script->add({Outcome::refuse(Status(StatusCode::kOverload, "database is locked"))});
  auto pipeline = start({.overload = {.write_pause = 1ms, .error_interval = 1ms},
                         .on_diagnostic = [&](std::string_view) {
                           forks += outcome_of(fork_child([] { return 0; })) == 0 ? 1 : 0;
                         }});
  EXPECT_EQ(log_and_close(*pipeline, 1, "parent"), 0);
  EXPECT_GE(forks, 1);
}

}  // namespace
}  // namespace spillway::testing
