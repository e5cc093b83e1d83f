// SPDX-License-Identifier: MIT
//
// lifecycle_program CASE: logs into logs.db of its directory and ends as CASE says. What each case
// has to leave there is said in lifecycle_process_test.cpp.
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using spillway::PipelineOptions;
using spillway::Stats;
using spillway::sinks::database_sink_mt;
using Logger = std::shared_ptr<spdlog::logger>;

constexpr const char* kUrl = "sqlite:logs.db";
constexpr int kRecords = 10'000;
constexpr int kThreads = 4;

// Outlives everything that main registers or makes.
Logger kept_logger;  // NOLINT(cert-err58-cpp)

/// With these a record lies in memory until an end, a flush or a close sends it: what is in the
/// table was brought there by what the case is about.
PipelineOptions unhurried() {
  PipelineOptions options;
  options.batch_rows_max = 100'000;
  options.batch_bytes_max = 2'000'000;
  options.batch_age_max = 1min;
  return options;
}

Logger new_logger() { return spillway::database_logger_mt("app", kUrl, unhurried()); }

/// For those who have not kept the sink.
database_sink_mt& sink_of(const spdlog::logger& log) {
  return dynamic_cast<database_sink_mt&>(*log.sinks().front());
}

void log_records(spdlog::logger& log, int count = kRecords) {
  for (int i = 0; i < count; ++i) {
    log.info("record {}", i);
  }
}

/// Each of the threads logs `count` records and ends.
void log_on_threads(spdlog::logger& log, int count) {
  std::array<std::thread, kThreads> threads;
  for (std::thread& thread : threads) {
    thread = std::thread([&log, count] { log_records(log, count); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// The registry alone has the logger.
void log_by_registry() { log_records(*new_logger()); }

void require_complete(const Stats& stats) {
  if (!stats.is_complete) {
    static_cast<void>(std::fputs("not complete\n", stderr));
  }
}

/// std::exit is what this program is about; no two threads call it.
[[noreturn]] void exit_well() { std::exit(0); }  // NOLINT(concurrency-mt-unsafe)

void flush(const spdlog::logger& log) { require_complete(sink_of(log).flush(30s)); }

// Everything is kept.

void return_from_main() {
  const Logger log = new_logger();
  log_records(*log);
}

void only_call_with_defaults() { spillway::database_logger_mt("app", kUrl)->info("the only call"); }

void exit_from_main() {
  log_by_registry();
  exit_well();
}

[[noreturn]] void give_up() {
  log_records(*spdlog::get("app"));
  exit_well();
}

/// Below main something else ends the program; nothing that is on the stack is destroyed.
void exit_deep_inside() {
  const std::vector<std::string> of_this_frame = {new_logger()->name()};
  give_up();
}

void exit_on_another_thread() {
  log_by_registry();
  std::thread(exit_well).join();
}

void quick_exit_after_flush() {
  const Logger log = new_logger();
  log_records(*log);
  flush(*log);
  std::quick_exit(0);
}

void bare_exit_after_flush() {
  const Logger log = new_logger();
  log_records(*log);
  flush(*log);
  _exit(0);
}

void bare_exit_after_close() {
  const Logger log = new_logger();
  log_records(*log);
  require_complete(sink_of(*log).close(30s));
  _exit(0);
}

void spdlog_shutdown() {
  log_by_registry();
  spdlog::shutdown();
  _exit(0);
}

void drop_all() {
  log_by_registry();
  spdlog::drop_all();
  _exit(0);
}

void drop_all_while_held() {
  const Logger log = new_logger();
  log_records(*log, kRecords / 2);
  spdlog::drop_all();
  log_records(*log, kRecords / 2);
}

void shutdown_while_held() {
  const Logger log = new_logger();
  log_records(*log, kRecords / 2);
  spdlog::shutdown();
  log_records(*log, kRecords / 2);
}

void last_reference_goes() {
  auto sink = std::make_shared<database_sink_mt>(kUrl, unhurried());
  auto log = std::make_shared<spdlog::logger>("app", std::move(sink));
  log_records(*log);
  log.reset();
  _exit(0);
}

void threads_end() {
  const Logger log = new_logger();
  log_on_threads(*log, kRecords / kThreads);
  flush(*log);
  _exit(0);
}

struct LogsWhenDestroyed {
  LogsWhenDestroyed() = default;
  LogsWhenDestroyed(const LogsWhenDestroyed&) = delete;
  LogsWhenDestroyed& operator=(const LogsWhenDestroyed&) = delete;
  ~LogsWhenDestroyed() { log_records(*log); }

  Logger log = {};
};

void thread_local_object_goes() {
  std::thread([] {
    thread_local LogsWhenDestroyed object;
    object.log = new_logger();
  }).join();
}

/// Runs when spdlog's registry is gone: spdlog::get would touch what is destroyed.
void atexit_before_the_logger() {
  static_cast<void>(std::atexit([] { log_records(*kept_logger); }));
  kept_logger = new_logger();
}

void atexit_after_the_logger() {
  new_logger();
  static_cast<void>(std::atexit([] { log_records(*spdlog::get("app")); }));
}

// Half of the records are in memory.

/// Half of the records are in the table, the other half in memory.
Logger half_flushed() {
  Logger log = new_logger();
  log_records(*log, kRecords / 2);
  flush(*log);
  log_records(*log, kRecords / 2);
  return log;
}

void bare_exit() {
  const Logger log = half_flushed();
  _exit(0);
}

void quick_exit() {
  const Logger log = half_flushed();
  std::quick_exit(0);
}

void die_of(int signal_number) {
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  static_cast<void>(std::signal(signal_number, SIG_DFL));  // Not the sanitizers'.
  const Logger log = half_flushed();
  static_cast<void>(std::raise(signal_number));
}

/// std::exit destroys no object of any stack, and so not the last reference to the sink.
void exit_while_the_stack_holds_the_logger() {
  const Logger log = half_flushed();
  exit_well();
}

void exit_with_a_forgotten_logger() {
  static const auto* const forgotten = new Logger(half_flushed());
  static_cast<void>(forgotten);
}

void exit_while_a_thread_holds_the_logger() {
  std::thread([log = half_flushed()] {
    pause();  // It ends with the process.
    log->info("never");
  }).detach();
}

void abort_signal() { die_of(SIGABRT); }
void segmentation_fault() { die_of(SIGSEGV); }
void kill_signal() { die_of(SIGKILL); }

/// daemon(3): the parent ends by _exit, in the middle of the call.
void daemon_without_flush() {
  const Logger log = half_flushed();
  if (daemon(1, 1) != 0) {
    std::perror("daemon");
    return;
  }
  log->warn("from the daemon");
  require_complete(sink_of(*log).close(30s));
  std::puts("daemon ends");
}

/// For a test that kills it: says what it knows to be in the table.
void log_until_killed() {
  const Logger log = new_logger();
  for (;;) {
    log_records(*log, 500);
    const Stats stats = sink_of(*log).flush(30s);
    std::printf("%llu stored\n", static_cast<unsigned long long>(stats.stored));
    static_cast<void>(std::fflush(stdout));
    log_records(*log, 500);
  }
}

// A database that does not help.

class HangingDatabase final : public spillway::Database {
 public:
  spillway::Result<std::vector<spillway::StatementResult>> execute(
      std::span<const spillway::Statement>, const spillway::ExecuteOptions&) override {
    for (;;) {  // Neither its deadline nor cancelling moves it.
      pause();
    }
  }
  [[nodiscard]] spillway::DatabaseTraits traits() const override { return {.name = "Hanging"}; }
};

PipelineOptions impatient() {
  PipelineOptions options;
  options.close_timeout = 200ms;
  return options;
}

void hanging_database() {
  auto sink = std::make_shared<database_sink_mt>(
      [] {
        return spillway::Result<std::unique_ptr<spillway::Database>>(
            std::make_unique<HangingDatabase>());
      },
      impatient());
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("app", std::move(sink)));
  spdlog::error("into the void");
}

/// The test holds the lock.
void locked_database() { spillway::database_logger_mt("app", kUrl, impatient())->error("not now"); }

// Calls after close.

void log_after_close() {
  const Logger log = new_logger();
  log_records(*log);
  database_sink_mt& sink = sink_of(*log);
  require_complete(sink.close(30s));
  log_on_threads(*log, 1'000);
  const Stats stats = sink.close(30s);
  std::printf("%llu stored, %llu after close\n", static_cast<unsigned long long>(stats.stored),
              static_cast<unsigned long long>(stats.after_close));
}

// The end comes from within, or amid something else.

/// A diagnostic callback ends the process: it runs on a thread that the sink's end would wait for.
void exit_in_the_diagnostic_callback() {
  PipelineOptions options = impatient();
  options.on_diagnostic = [](std::string_view) { exit_well(); };
  const Logger log = spillway::database_logger_mt("app", "sqlite:no/such/directory.db", options);
  log->error("where to?");
  pause();
}

/// The last reference goes in a callback while main ends.
void exit_while_a_callback_drops_the_logger() {
  static auto* const last = new Logger;  // The end of statics is not to touch it.
  PipelineOptions options = impatient();
  options.on_diagnostic = [](std::string_view) { last->reset(); };
  *last = std::make_shared<spdlog::logger>(
      "app", std::make_shared<database_sink_mt>("sqlite:no/such/directory.db", options));
  static const auto* const forgotten = new Logger(new_logger());
  {
    const Logger held = *last;  // The callback comes as soon as it likes.
    held->error("where to?");
  }
  (*forgotten)->info("record");
}

/// The test holds the lock. Four sinks are left to the end, and one is being closed for longer.
void locked_database_of_many_sinks() {
  static auto* const left = new std::vector<Logger>;
  PipelineOptions options;
  options.close_timeout = 500ms;
  for (int i = 0; i < 5; ++i) {
    left->push_back(spillway::database_logger_mt("app" + std::to_string(i), kUrl, options));
    left->back()->error("not now");
  }
  std::thread([] { sink_of(*left->back()).close(1h); }).detach();
  spdlog::drop_all();
}

struct Case {
  std::string_view name;
  void (*run)();
};

constexpr std::array kCases = {
    Case{"return_from_main", return_from_main},
    Case{"only_call_with_defaults", only_call_with_defaults},
    Case{"exit_from_main", exit_from_main},
    Case{"exit_deep_inside", exit_deep_inside},
    Case{"exit_on_another_thread", exit_on_another_thread},
    Case{"quick_exit_after_flush", quick_exit_after_flush},
    Case{"bare_exit_after_flush", bare_exit_after_flush},
    Case{"bare_exit_after_close", bare_exit_after_close},
    Case{"spdlog_shutdown", spdlog_shutdown},
    Case{"shutdown_while_held", shutdown_while_held},
    Case{"drop_all", drop_all},
    Case{"drop_all_while_held", drop_all_while_held},
    Case{"last_reference_goes", last_reference_goes},
    Case{"threads_end", threads_end},
    Case{"thread_local_object_goes", thread_local_object_goes},
    Case{"atexit_before_the_logger", atexit_before_the_logger},
    Case{"atexit_after_the_logger", atexit_after_the_logger},
    Case{"bare_exit", bare_exit},
    Case{"quick_exit", quick_exit},
    Case{"exit_while_the_stack_holds_the_logger", exit_while_the_stack_holds_the_logger},
    Case{"exit_while_a_thread_holds_the_logger", exit_while_a_thread_holds_the_logger},
    Case{"exit_with_a_forgotten_logger", exit_with_a_forgotten_logger},
    Case{"abort", abort_signal},
    Case{"segmentation_fault", segmentation_fault},
    Case{"kill", kill_signal},
    Case{"daemon_without_flush", daemon_without_flush},
    Case{"log_until_killed", log_until_killed},
    Case{"hanging_database", hanging_database},
    Case{"locked_database", locked_database},
    Case{"log_after_close", log_after_close},
    Case{"exit_in_the_diagnostic_callback", exit_in_the_diagnostic_callback},
    Case{"exit_while_a_callback_drops_the_logger", exit_while_a_callback_drops_the_logger},
    Case{"locked_database_of_many_sinks", locked_database_of_many_sinks},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  for (const Case& known : kCases) {
    if (known.name == name) {
      known.run();
      return 0;
    }
  }
  static_cast<void>(
      std::fprintf(stderr, "lifecycle_program: no case \"%s\"\n", std::string(name).c_str()));
  return 2;
}
