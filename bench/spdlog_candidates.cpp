// SPDX-License-Identifier: MIT
#include <spillway/database_sink.h>

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include "bench/candidate.h"
#include "bench/write_lock.h"

#include <array>
#include <chrono>
#include <string>

namespace spillway::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSync = "spdlog sync, null sink";
constexpr std::string_view kAsync = "spdlog async, null sink";
constexpr std::string_view kSink = "spillway sink";
constexpr std::string_view kLocked = "spillway sink, locked";

constexpr std::chrono::seconds kPatience{10};

/// The call that is measured, the same for everybody.
void log_orders(spdlog::logger& logger, int calls) {
  for (int order = 0; order < calls; ++order) {
    logger.info("order {} accepted for customer {}", 100'000 + order, 42);
  }
}

class SyncNull final : public Candidate {
 public:
  void burst(int calls) override {
    log_orders(logger_, calls);
    logged_ += static_cast<std::uint64_t>(calls);
  }
  Account close() override { return {.logged = logged_}; }

 private:
  spdlog::logger logger_{"bench", std::make_shared<spdlog::sinks::null_sink_mt>()};
  std::uint64_t logged_ = 0;
};

/// spdlog's answer to slow sinks, with its usual settings. It blocks when the queue is full, and so
/// loses nothing.
class AsyncNull final : public Candidate {
 public:
  void burst(int calls) override {
    log_orders(*logger_, calls);
    logged_ += static_cast<std::uint64_t>(calls);
  }
  Account close() override {
    pool_.reset();  // Its threads empty the queue first.
    return {.logged = logged_};
  }

 private:
  static constexpr std::size_t kQueue = 8192;
  static constexpr std::size_t kThreads = 1;

  std::shared_ptr<spdlog::details::thread_pool> pool_ =
      std::make_shared<spdlog::details::thread_pool>(kQueue, kThreads);
  // An async_logger must be owned by a shared_ptr: each message holds one.
  std::shared_ptr<spdlog::async_logger> logger_ = std::make_shared<spdlog::async_logger>(
      "bench", std::make_shared<spdlog::sinks::null_sink_mt>(), pool_,
      spdlog::async_overflow_policy::block);
  std::uint64_t logged_ = 0;
};

/// Our sink behind a synchronous logger, into a SQLite file.
class Sink : public Candidate {
 public:
  explicit Sink(const fs::path& file)
      : sink_(std::make_shared<sinks::database_sink_mt>("sqlite:" + file.string(), quiet())),
        logger_("bench", sink_) {}

  void burst(int calls) override {
    log_orders(logger_, calls);
    logged_ += static_cast<std::uint64_t>(calls);
  }

  Account close() override {
    const Stats stats = sink_->close(kPatience);
    return {.logged = logged_, .stored = stats.stored, .skipped = stats.skipped()};
  }

 protected:
  void store_all() { static_cast<void>(sink_->flush(kPatience)); }

 private:
  /// That the database is locked is no news here.
  static PipelineOptions quiet() {
    PipelineOptions options;
    options.on_diagnostic = [](std::string_view) {};
    return options;
  }

  std::shared_ptr<sinks::database_sink_mt> sink_;
  spdlog::logger logger_;
  std::uint64_t logged_ = 0;
};

/// The same while another connection holds the write lock, from after the first rows on.
class LockedSink final : public Sink {
 public:
  explicit LockedSink(const fs::path& file) : Sink(file) {
    burst(1);
    store_all();
    lock_.emplace(file);
  }

  Account close() override {
    lock_.reset();
    return Sink::close();
  }

 private:
  std::optional<WriteLock> lock_;
};

constexpr std::array kKinds = {
    CandidateKind{
        kSync,
        [](const fs::path&) -> std::unique_ptr<Candidate> { return std::make_unique<SyncNull>(); }},
    CandidateKind{kSink,
                  [](const fs::path& directory) -> std::unique_ptr<Candidate> {
                    return std::make_unique<Sink>(directory / "logs.db");
                  }},
    CandidateKind{kLocked,
                  [](const fs::path& directory) -> std::unique_ptr<Candidate> {
                    return std::make_unique<LockedSink>(directory / "logs.db");
                  }},
    CandidateKind{kAsync,
                  [](const fs::path&) -> std::unique_ptr<Candidate> {
                    return std::make_unique<AsyncNull>();
                  }},
};

constexpr std::array kComparisons = {
    Comparison{.name = "sink / async", .of = kSink, .to = kAsync, .goal = 0.5},
    Comparison{.name = "locked / healthy", .of = kLocked, .to = kSink, .goal = 1.1},
};

}  // namespace

std::span<const CandidateKind> candidate_kinds() { return kKinds; }

std::span<const Comparison> comparisons() { return kComparisons; }

}  // namespace spillway::bench
