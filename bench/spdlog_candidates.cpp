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
#include <memory>
#include <string>
#include <utility>

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

/// Logs by a logger of spdlog's.
class SpdlogCandidate : public Candidate {
 public:
  void burst(int calls) final {
    log_orders(*logger_, calls);
    logged_ += static_cast<std::uint64_t>(calls);
  }

 protected:
  explicit SpdlogCandidate(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
  [[nodiscard]] std::uint64_t logged() const { return logged_; }

 private:
  // An async_logger must be owned by a shared_ptr: each message holds one.
  const std::shared_ptr<spdlog::logger> logger_;
  std::uint64_t logged_ = 0;
};

spdlog::sink_ptr null_sink() { return std::make_shared<spdlog::sinks::null_sink_mt>(); }

class SyncNull final : public SpdlogCandidate {
 public:
  SyncNull() : SpdlogCandidate(std::make_shared<spdlog::logger>("bench", null_sink())) {}
  Account close() override { return {.logged = logged()}; }
};

/// spdlog's answer to slow sinks, with its usual settings. It blocks when the queue is full, and so
/// loses nothing.
class AsyncNull final : public SpdlogCandidate {
 public:
  AsyncNull() : AsyncNull(std::make_shared<spdlog::details::thread_pool>(kQueue, kThreads)) {}
  Account close() override {
    pool_.reset();  // Its threads empty the queue first.
    return {.logged = logged()};
  }

 private:
  using Pool = std::shared_ptr<spdlog::details::thread_pool>;
  static constexpr std::size_t kQueue = 8192;
  static constexpr std::size_t kThreads = 1;

  explicit AsyncNull(const Pool& pool)
      : SpdlogCandidate(std::make_shared<spdlog::async_logger>(
            "bench", null_sink(), pool, spdlog::async_overflow_policy::block)),
        pool_(pool) {}

  Pool pool_;
};

/// Our sink behind a synchronous logger, into a SQLite file.
class Sink : public SpdlogCandidate {
 public:
  explicit Sink(const fs::path& file)
      : Sink(std::make_shared<sinks::database_sink_mt>("sqlite:" + file.string(), quiet())) {}

  Account close() override {
    const Stats stats = sink_->close(kPatience);
    return {.logged = logged(), .stored = stats.stored, .skipped = stats.skipped()};
  }

 protected:
  void store_all() { static_cast<void>(sink_->flush(kPatience)); }

 private:
  explicit Sink(const std::shared_ptr<sinks::database_sink_mt>& sink)
      : SpdlogCandidate(std::make_shared<spdlog::logger>("bench", sink)), sink_(sink) {}

  /// That the database is locked is no news here.
  static PipelineOptions quiet() {
    PipelineOptions options;
    options.on_diagnostic = [](std::string_view) {};
    return options;
  }

  const std::shared_ptr<sinks::database_sink_mt> sink_;
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
